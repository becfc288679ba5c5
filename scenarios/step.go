package scenarios

import (
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

const (
	// maxSteps is how many steps and jobs a play may have when every repeat is written out.
	maxSteps = 100_000
	// maxNesting is how deep steps may stand inside steps.
	maxNesting = 4
	maxJobs    = 1000
	// maxPad is how many KiB a call may be padded with: a driver takes lines of 4 MiB.
	maxPad = 3072
)

type documented struct {
	op   record.Op
	text string
}

// ops are the steps, in the order of the documentation, and what editors say of them.
var ops = []documented{
	{record.OpOpen, "Connect. On an open session: reconnect; the old connection is superseded and its server must exit."},
	{record.OpCall, "Call a tool of the session's server."},
	{record.OpList, "Ask the session's server for the list of its tools, resources or prompts."},
	{record.OpClose, "End the session in an orderly way."},
	{record.OpForget, "The session ends and nobody closes it: the host lets go of the client, and its server must still exit."},
	{record.OpAwait, "Inside parallel: wait until the request of another lane is in flight."},
	{record.OpReload, "The configuration of the label changed: all its open sessions move to new servers."},
	{record.OpTick, "Run jobs in parallel, each in a session of its own, and other steps beside them."},
	{record.OpBreak, "The newest working server of the session or the label commits a fault now."},
	{record.OpCheckpoint, "The state must be right: only the newest server of each open session is alive."},
	{record.OpRepeat, "Repeat the steps this many times."},
	{record.OpParallel, "Lanes of steps, run in parallel."},
	{record.OpStop, "Stop the host in order: the driver's stop, or SIGTERM for a command."},
	{record.OpTerm, "SIGTERM to the host."},
	{record.OpKill, "SIGKILL to the host."},
	{record.OpRestart, "The host ends, and a new host process starts on whatever the first one left behind. " +
		"Its sessions have ended with it; they can be reopened."},
	{record.OpRecycle, "The PID of the session's server, which is gone, is given to a process that does not belong to the host " +
		"and leads a process group of that number. Needs place: init."},
}

func opNames() []string {
	return lists.Map(ops, func(row documented) string { return string(row.op) })
}

// steps is a list of steps. What can't be read is left out.
func (r *reader) steps(into *[]Step, depth int) yamlfile.Value {
	return yamlfile.Ref("steps", yamlfile.NewValue("", func(n *yamlfile.Node) {
		if depth > maxNesting {
			n.Problem("steps can be nested at most %d levels deep", maxNesting)
			return
		}
		yamlfile.List(into, "steps", func(l *Step) yamlfile.Value {
			return yamlfile.NewValue("a step", func(n *yamlfile.Node) { r.step(l, n, depth) }, nil)
		}).Read(n)
		*into = slices.DeleteFunc(*into, func(l Step) bool { return l.Op == "" })
	}, nil))
}

// step reads a mapping whose first key is the op; l has none where that can't be told.
func (r *reader) step(l *Step, n *yamlfile.Node, depth int) {
	if !n.IsMapping("a step") {
		return
	}
	if len(n.Pairs) == 0 {
		n.Problem("a step says what to do: %s", strings.Join(opNames(), ", "))
		return
	}
	first := n.Pairs[0].Key
	op := first.Word()
	if !slices.Contains(opNames(), op) {
		for _, p := range n.Pairs[1:] {
			if slices.Contains(opNames(), p.Key.Word()) {
				first.Problem("a step begins with what it does; put %s first", p.Key.Word())
				return
			}
		}
		first.Problem("%q is not a step; %s", yamlfile.Clip(op), yamlfile.MeantOr(op, opNames()))
		return
	}
	*l = Step{Op: record.Op(op), Line: first.Line, Column: first.Column, m: n, subject: n.Find(op)}
	r.written(l, depth).Read(n)
}

// written is how the step of this op is written.
func (r *reader) written(l *Step, depth int) yamlfile.Value {
	switch l.Op {
	case record.OpOpen, record.OpCall, record.OpClose, record.OpForget, record.OpAwait, record.OpRecycle:
		return l.ofSession(r)
	case record.OpList:
		return l.list()
	case record.OpTick, record.OpRepeat, record.OpParallel:
		return l.ofSteps(r, depth)
	case record.OpReload:
		return l.object(r.label(&l.Label), timeout(&l.Timeout), expect(&l.Expect))
	case record.OpBreak:
		return l.object(yamlfile.Name(&l.Session, "a session or a label"), // follow tells which
			yamlfile.Need("with", "what it does", order(&l.With)))
	case record.OpCheckpoint:
		return l.object(yamlfile.Name(&l.Name, "a checkpoint"),
			yamlfile.May("live", "how many servers of these labels there must be instead", r.live(&l.Live)))
	case record.OpRestart:
		return l.restart()
	}
	return l.object(yamlfile.Choice(new(string), "what to end", "host"))
}

// object is the step: its own key, and others.
func (l *Step) object(own yamlfile.Value, others ...yamlfile.Key) yamlfile.Value {
	others = append(others,
		yamlfile.May("defining", "a run without this step says nothing about what the scenario tests", yamlfile.Yes(&l.Defining)))
	return yamlfile.Object("the step "+string(l.Op), append([]yamlfile.Key{yamlfile.May(string(l.Op), "", own)}, others...)...)
}

// ofSession is a step that is about one session.
func (l *Step) ofSession(r *reader) yamlfile.Value {
	session, timeout, expect := yamlfile.Name(&l.Session, "a session"), timeout(&l.Timeout), expect(&l.Expect)
	c := call{&l.Tool, &l.Args, &l.Timeout, &l.Cancel, &l.Expect}
	switch l.Op {
	case record.OpOpen:
		return l.object(session, yamlfile.May("server", "its label; required the first time, later the session keeps it", r.label(&l.Label)),
			yamlfile.May("shared", "sessions share the server's entry: one command line for all of them, which one process may serve",
				yamlfile.Yes(&l.Shared)),
			yamlfile.May("if", "lost: only if the host has not reconnected the session by itself",
				yamlfile.Choice(&l.If, "a condition", IfLost)),
			yamlfile.May("cancel", "cancel it while a fault of the server holds up the handshake", yamlfile.Yes(&l.Cancel)),
			l.cancelAfter(), timeout, l.patient(), expect,
		).Then(func(m *yamlfile.Node) {
			c.cutOff(m, "an", "open")
			l.checkCut(m)
		})
	case record.OpCall:
		return l.object(session, append(c.tools(),
			yamlfile.May("cancel", "cancel the call once the server has received it", yamlfile.Yes(&l.Cancel)),
			yamlfile.May("twice", "cancel it twice", yamlfile.Yes(&l.Twice)), l.cancelAfter(), timeout, l.patient(), expect)...,
		).Then(func(m *yamlfile.Node) {
			if l.Twice && !l.Cancel {
				m.Key("twice").Problem("twice is for a call that is cancelled (cancel: true)")
			}
			c.check(m)
			l.checkCut(m)
		})
	case record.OpAwait:
		return l.object(session,
			yamlfile.Need("for", "call: a call has reached the session's server; connect: a fault of the server holds up the handshake",
				yamlfile.Choice(&l.For, "what to wait for", AwaitCall, AwaitConnect)),
			yamlfile.May("expect", "any: go on, too, once the steps beside it are over; default: that fails the step",
				yamlfile.Choice(&l.Expect, "what to expect", record.ExpectAny)))
	case record.OpRecycle:
		return l.object(session)
	}
	return l.object(session, timeout, expect)
}

// ofSteps is a step that has others inside it.
func (l *Step) ofSteps(r *reader, depth int) yamlfile.Value {
	switch l.Op {
	case record.OpRepeat:
		return l.object(yamlfile.Whole(&l.Count, "a number of times", 1, maxSteps),
			yamlfile.Need("steps", "the steps, one after the other", r.steps(&l.Steps, depth+1))).Then(func(*yamlfile.Node) {
			if sizeOf([]Step{*l}) > maxSteps {
				l.subject.Problem("the steps, with repeats written out, are more than %d steps", maxSteps)
				l.Count = 0 // so that what stands around it is not blamed too
			}
		})
	case record.OpParallel:
		lane := func(lane *[]Step) yamlfile.Value { return r.steps(lane, depth+1) }
		return l.object(yamlfile.List(&l.Lanes, "lanes, each a list of steps", lane))
	}
	return l.object(yamlfile.Object("tick",
		yamlfile.Need("jobs", "groups of jobs, which run in parallel", yamlfile.List(&l.Jobs, "jobs", r.job)),
		yamlfile.May("during", "steps that run beside the jobs", r.steps(&l.Steps, depth+1)),
	).Then(func(m *yamlfile.Node) {
		total := 0
		for _, j := range l.Jobs {
			total += j.Count
		}
		if total > maxJobs {
			m.Key("jobs").Problem("a tick has at most %d jobs", maxJobs)
			l.Jobs = nil
		}
	}))
}

func (l *Step) restart() yamlfile.Value {
	return l.object(yamlfile.Choice(new(string), "what to restart", "host"),
		yamlfile.May("after", "how it ends: term (SIGTERM, the default), stop (the driver's stop, or SIGTERM for a command) or kill (SIGKILL)",
			yamlfile.Choice(&l.After, "a way to end", record.OpTerm, record.OpStop, record.OpKill)),
		yamlfile.May("grace", "after SIGTERM: how long until SIGKILL (default limits.stop)", yamlfile.Time(&l.Grace)),
	).Then(func(m *yamlfile.Node) {
		if l.After == record.OpTerm {
			l.After = ""
		}
		if l.Grace > 0 && l.After != "" {
			m.Key("grace").Problem("grace is for a restart after SIGTERM (after: term): how long until SIGKILL")
		}
	})
}

// job is a group of jobs of a tick.
func (r *reader) job(j *Job) yamlfile.Value {
	j.Count = 1
	c := call{&j.Tool, &j.Args, &j.Timeout, &j.Cancel, &j.Expect}
	keys := append([]yamlfile.Key{
		yamlfile.Need("server", "the label of a server", r.label(&j.Label)),
		yamlfile.May("count", "how many of this kind (default 1)", yamlfile.Whole(&j.Count, "a number of jobs", 1, maxJobs)),
	}, c.tools()...)
	return yamlfile.Object("a job", append(keys, timeout(&j.Timeout),
		yamlfile.May("cancel", "leakbench cancels the job once its call has reached the server, or a fault holds up its handshake or its list",
			yamlfile.Yes(&j.Cancel)),
		yamlfile.May("signal", "how to cancel a job that is a command: SIGTERM, SIGKILL, or ctrl-c, which is SIGINT to its process group",
			yamlfile.Choice(&j.Signal, "a signal", "SIGTERM", "SIGKILL", "ctrl-c").Then(func(n *yamlfile.Node) {
				if !j.Cancel {
					n.Problem("signal says how a job is cancelled: write cancel: true before it")
				}
			})),
		yamlfile.May("probe", "the host only checks the server, by its own health check "+
			"or connection test; a host without one runs an ordinary job", yamlfile.Yes(&j.Probe)),
		expect(&j.Expect))...).Then(func(m *yamlfile.Node) {
		if j.Probe && (j.Tool != "" || j.Args != nil || j.Timeout > 0 || j.Cancel) {
			m.Key("probe").Problem("a probe takes no tool and is not cut off: leave out tool, args, pad, timeout and cancel")
		}
		c.check(m)
	})
}

func timeout(into *record.Duration) yamlfile.Key {
	return yamlfile.May("timeout", "the host's own timeout", yamlfile.Time(into))
}

// expect leaves out the default, which is ok.
func expect(into *record.Expect) yamlfile.Key {
	v := yamlfile.Choice(into, "what to expect", record.ExpectOK, record.ExpectFail, record.ExpectAny)
	return yamlfile.May("expect", "default: ok; for a call that is cut off: fail", v.Then(func(*yamlfile.Node) {
		if *into == record.ExpectOK {
			*into = ""
		}
	}))
}

// call is what a call is made of, in a step or a job.
type call struct {
	tool    *string
	args    *map[string]any
	timeout *record.Duration
	cancel  *bool
	expect  *record.Expect
}

// tools are the keys that say which tool is called, and how.
func (c call) tools() []yamlfile.Key {
	pad := 0
	return []yamlfile.Key{
		yamlfile.May("tool", "default: echo", yamlfile.Choice(c.tool, "a tool of the fake server", fakeserver.Tools...)),
		yamlfile.May("args", "the arguments of the call; sleep needs {ms: N}", yamlfile.NewValue("args", func(n *yamlfile.Node) {
			n.IsMapping("args")
			*c.args, _ = n.Plain().(map[string]any)
		}, yamlfile.Free(c.args, "").Describe)),
		yamlfile.May("pad", "pads the call with this many KiB", yamlfile.Whole(&pad, "a number of KiB", 1, maxPad).Then(func(*yamlfile.Node) {
			if *c.args == nil {
				*c.args = map[string]any{}
			}
			(*c.args)["pad"] = strings.Repeat("x", pad<<10)
		})),
	}
}

// check holds the values of a call against each other.
func (c call) check(m *yamlfile.Node) {
	if *c.tool == "sleep" {
		at := m.Key("tool")
		if ms := m.Find("args").Find("ms"); ms != nil {
			at = ms
		}
		if ms, ok := c.sleep(); !ok || ms < 0 {
			at.Problem("sleep needs args: {ms: N}, a number of milliseconds up to %d", yamlfile.MaxTime.Milliseconds())
		}
	}
	c.cutOff(m, "a", "call")
}

// sleep is how long a call of sleep takes.
func (c call) sleep() (time.Duration, bool) {
	ms, ok := (*c.args)["ms"].(int64)
	if !ok || ms > yamlfile.MaxTime.Milliseconds() {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

// cutOff settles what to expect of a call or an open: one that is cut off fails.
func (c call) cutOff(m *yamlfile.Node, article, what string) {
	if *c.cancel && *c.timeout > 0 {
		m.Key("timeout").Problem("%s %s is cut off by its timeout or cancelled, not both", article, what)
	}
	why := "is cancelled"
	if !*c.cancel {
		sleep, _ := c.sleep()
		if *c.tool != "sleep" || *c.timeout <= 0 || sleep < c.timeout.D() {
			return
		}
		why = "sleeps longer than its timeout"
	}
	if *c.expect == "" {
		*c.expect = record.ExpectFail
		if m.Find("expect") != nil {
			m.Key("expect").Problem("this %s can't be ok: it %s", what, why)
		}
	}
}

// label is the label of a server that there is.
func (r *reader) label(into *string) yamlfile.Value {
	var label string
	return yamlfile.Name(&label, "a label").Then(func(n *yamlfile.Node) {
		switch {
		case label == "":
		case slices.Contains(r.labels, label):
			*into = label
		case len(r.labels) > 0: // else the servers are the problem
			n.Problem("there is no server %s; %s", label, yamlfile.MeantOr(label, r.labels))
		}
	})
}

// live is what a checkpoint says of labels itself.
func (r *reader) live(into *map[string]int) yamlfile.Value {
	return yamlfile.Map("live", func(key *yamlfile.Node) yamlfile.Value {
		var label string
		if r.label(&label).Read(key); key != nil && label == "" {
			return yamlfile.Value{}
		}
		count := 0
		return yamlfile.Whole(&count, "a number of servers", 0, maxJobs).Then(func(*yamlfile.Node) {
			if *into == nil {
				*into = map[string]int{}
			}
			(*into)[label] = count
		})
	}).NotEmpty("live is empty; leave it out, or say how many servers of a label there must be")
}

// sizeOf is how many steps and jobs there are with every repeat written out. It stops counting once it is too many.
func sizeOf(steps []Step) int {
	size := 0
	for _, l := range steps {
		inner := 0
		for _, lane := range l.lanes() {
			inner += sizeOf(lane)
		}
		if l.Op == record.OpRepeat {
			inner *= l.Count
		} else {
			inner++
		}
		for _, j := range l.Jobs {
			inner += j.Count
		}
		size = min(size+inner, maxSteps+1)
	}
	return size
}
