package scenarios

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

const (
	// maxSteps is how many steps and jobs a play may have when every repeat is
	// written out.
	maxSteps = 100_000
	// maxNesting is how deep steps may stand inside steps.
	maxNesting = 4
	maxJobs    = 1000
)

// ops are the steps, in the order of the documentation.
var ops = []string{
	string(OpOpen), string(OpCall), string(OpClose), string(OpForget), string(OpAwait), string(OpReload), string(OpTick), string(OpBreak), string(OpCheckpoint),
	string(OpRepeat), string(OpParallel), string(OpStop), string(OpTerm), string(OpKill), string(OpRestart), string(OpRecycle),
}

// tools are the tools of the fake server.
var tools = []string{"echo", "sleep", "whoami"}

// line is a step and the places in the file that it came from.
type line struct {
	Step
	m       *yamlfile.Mapping
	subject *yamlfile.Node // the op's value
	server  *yamlfile.Node // open
	lanes   [][]line
}

// steps reads a list of steps. What can't be read is left out.
func (r *reader) steps(n *yamlfile.Node, depth int) []line {
	if n != nil && depth > maxNesting {
		n.Problem("steps stand inside steps at most %d levels deep", maxNesting)
		return nil
	}
	if n != nil && n.Shape.RefersTo("steps") {
		return nil
	}
	var all []line
	for _, item := range n.List("steps") {
		if l, ok := r.step(item, depth); ok {
			all = append(all, l)
		}
	}
	return all
}

func (r *reader) step(n *yamlfile.Node, depth int) (line, bool) {
	m := n.Mapping("a step")
	if n.Kind != yamlfile.KindMapping || len(n.Pairs) == 0 {
		if n.Kind == yamlfile.KindNothing || n.Kind == yamlfile.KindMapping {
			n.Problem("a step says what to do: %s", joined(ops))
		}
		return line{}, false
	}
	first := n.Pairs[0]
	op := first.Key.Word()
	if !slices.Contains(ops, op) {
		for _, p := range n.Pairs[1:] {
			if slices.Contains(ops, p.Key.Word()) {
				first.Key.Problem("a step begins with what it does; put %s first", p.Key.Word())
				return line{}, false
			}
		}
		first.Key.Problem("%q is not a step; %s", yamlfile.Clip(op), yamlfile.MeantOr(op, ops))
		return line{}, false
	}
	m.What = "the step " + op
	l := line{Step: Step{Op: Op(op), Line: first.Key.Line, Column: first.Key.Column}, m: m, subject: m.Get(op)}
	r.fill(&l, depth)
	m.Done()
	return l, true
}

// fill reads what belongs to the op.
func (r *reader) fill(l *line, depth int) {
	m := l.m
	switch l.Op {
	case OpOpen:
		l.Session = l.subject.Name("a session")
		l.server = m.Get("server")
		l.Label = r.label(l.server)
		l.Cancel = m.Get("cancel").Yes()
		r.outcome(l)
		l.Expect = cancelled(m, l.Cancel, l.Timeout.D(), l.Expect)
	case OpCall:
		l.Session = l.subject.Name("a session")
		l.Tool, l.Args = readTool(m)
		l.Cancel = m.Get("cancel").Yes()
		if l.Twice = m.Get("twice").Yes(); l.Twice && !l.Cancel {
			m.At("twice").Problem("twice is for a call that is cancelled (cancel: true)")
		}
		r.outcome(l)
		l.Expect = expected(m, l.Tool, l.Args, l.Timeout.D(), l.Cancel, l.Expect)
	case OpClose, OpForget:
		l.Session = l.subject.Name("a session")
		r.outcome(l)
	case OpAwait:
		l.Session = l.subject.Name("a session")
		l.For = m.Need("for").Choice("what to wait for", AwaitCall, AwaitConnect)
	case OpRecycle:
		l.Session = l.subject.Name("a session")
	case OpReload:
		l.Label = r.label(l.subject)
		r.outcome(l)
	case OpTick:
		r.tick(l, depth)
	case OpBreak:
		l.Session = l.subject.Name("a session or a label") // follow tells which
		l.With = readOrder(m.Need("with"))
	case OpCheckpoint:
		l.Name = l.subject.Name("a checkpoint")
		l.Live = r.live(m.Get("live"))
	case OpRepeat:
		l.Count = l.subject.Whole("a number of times", 1, maxSteps)
		l.lanes = [][]line{r.steps(m.Need("steps"), depth+1)}
		l.checkSize()
	case OpParallel:
		for _, lane := range l.subject.List("lanes, each a list of steps") {
			l.lanes = append(l.lanes, r.steps(lane, depth+1))
		}
	case OpStop, OpTerm, OpKill:
		l.subject.Choice("what to end", "host")
	case OpRestart:
		l.subject.Choice("what to start anew", "host")
		l.After = choice(m.Get("after"), "a way to end", OpTerm, OpStop, OpKill)
		if l.After == OpTerm {
			l.After = ""
		}
		if l.Grace = m.Get("grace").Duration(); l.Grace > 0 && l.After != "" {
			m.At("grace").Problem("grace is for a restart after SIGTERM (after: term): how long until SIGKILL")
		}
	}
}

// outcome reads what steps that the host answers have in common.
func (r *reader) outcome(l *line) {
	l.Timeout = l.m.Get("timeout").Duration()
	l.Expect = readExpect(l.m)
}

// readExpect leaves out the default, which is ok.
func readExpect(m *yamlfile.Mapping) record.Expect {
	expect := choice(m.Get("expect"), "what to expect", record.ExpectOK, record.ExpectFail, record.ExpectAny)
	if expect == record.ExpectOK {
		return ""
	}
	return expect
}

// label reads the label of a server that there is.
func (r *reader) label(n *yamlfile.Node) string {
	label := n.Name("a label")
	if label == "" {
		return ""
	}
	if !slices.Contains(r.labels, label) {
		if len(r.labels) > 0 { // else the servers are the problem
			n.Problem("there is no server %s; %s", label, yamlfile.MeantOr(label, r.labels))
		}
		return ""
	}
	return label
}

// readOrder reads with: a deed, or a mapping of one.
func readOrder(n *yamlfile.Node) fakeserver.Fault {
	f := fakeserver.Fault{On: "order"}
	if n == nil {
		return f
	}
	if n.Shape.RefersTo("order") {
		return f
	}
	deeds := deedsOnOrder()
	if n.Kind == yamlfile.KindMapping || n.Kind == yamlfile.KindNothing {
		before := len(n.Problems)
		m := n.Mapping("with")
		f.Do = m.Need("do").Choice("a deed that can be ordered", deeds...)
		readDeed(&f, m)
		if len(n.Problems) == before {
			checkFault(f, m)
		}
		return f
	}
	if f.Do = n.Choice("a deed that can be ordered", deeds...); f.Do != "" {
		if err := f.Check(); err != nil {
			n.Problem("%v; write it as with: {do: %s, ...}", err, f.Do)
		}
	}
	return f
}

func deedsOnOrder() []string {
	for _, m := range fakeserver.Moments {
		if m.Name == "order" {
			return m.With
		}
	}
	return nil
}

// live reads what a checkpoint says of labels itself.
func (r *reader) live(n *yamlfile.Node) map[string]int {
	m := n.Mapping("live")
	if m.Node == nil {
		return nil
	}
	all := map[string]int{}
	m.Shape.NotEmpty()
	for _, p := range m.Entries() {
		if label := r.label(p.Key); label != "" {
			all[label] = p.Value.Whole("a number of servers", 0, maxJobs)
		}
	}
	if n.Kind == yamlfile.KindNothing || (n.Kind == yamlfile.KindMapping && len(n.Pairs) == 0) {
		n.Problem("live is empty; leave it out, or say how many servers of a label there must be")
	}
	return all
}

// checkSize notes a repeat that asks for too much, and makes it small so that
// what stands around it is not blamed too.
func (l *line) checkSize() {
	if sizeOf([]line{*l}) > maxSteps {
		l.subject.Problem("written out, this is more than %d steps", maxSteps)
		l.Count = 0
	}
}

// sizeOf is how many steps and jobs there are with every repeat written out.
// It stops counting once it is too many.
func sizeOf(lines []line) int {
	size := 0
	for _, l := range lines {
		inner := 0
		for _, lane := range l.lanes {
			inner += sizeOf(lane)
		}
		if l.Op == OpRepeat {
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

// stepsOf is the steps without the places.
func stepsOf(lines []line) []Step {
	var all []Step
	for _, l := range lines {
		s := l.Step
		switch l.Op {
		case OpRepeat, OpTick:
			if len(l.lanes) > 0 {
				s.Steps = stepsOf(l.lanes[0])
			}
		case OpParallel:
			for _, lane := range l.lanes {
				s.Lanes = append(s.Lanes, stepsOf(lane))
			}
		}
		all = append(all, s)
	}
	return all
}
