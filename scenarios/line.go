package scenarios

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
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
	m       *mapping
	subject *node // the op's value
	server  *node // open
	lanes   [][]line
}

// steps reads a list of steps. What can't be read is left out.
func (r *reader) steps(n *node, depth int) []line {
	if n != nil && depth > maxNesting {
		n.problem("steps stand inside steps at most %d levels deep", maxNesting)
		return nil
	}
	if n != nil && n.shape.refersTo("steps") {
		return nil
	}
	var all []line
	for _, item := range n.list("steps") {
		if l, ok := r.step(item, depth); ok {
			all = append(all, l)
		}
	}
	return all
}

func (r *reader) step(n *node, depth int) (line, bool) {
	m := n.mapping("a step")
	if n.kind != kindMapping || len(n.pairs) == 0 {
		if n.kind == kindNothing || n.kind == kindMapping {
			n.problem("a step says what to do: %s", joined(ops))
		}
		return line{}, false
	}
	first := n.pairs[0]
	op := first.key.word()
	if !slices.Contains(ops, op) {
		for _, p := range n.pairs[1:] {
			if slices.Contains(ops, p.key.word()) {
				first.key.problem("a step begins with what it does; put %s first", p.key.word())
				return line{}, false
			}
		}
		first.key.problem("%q is not a step; %s", clip(op), meantOr(op, ops))
		return line{}, false
	}
	m.what = "the step " + op
	l := line{Step: Step{Op: Op(op), Line: first.key.line, Column: first.key.column}, m: m, subject: m.get(op)}
	r.fill(&l, depth)
	m.done()
	return l, true
}

// fill reads what belongs to the op.
func (r *reader) fill(l *line, depth int) {
	m := l.m
	switch l.Op {
	case OpOpen:
		l.Session = l.subject.name("a session")
		l.server = m.get("server")
		l.Label = r.label(l.server)
		l.Cancel = m.get("cancel").yes()
		r.outcome(l)
		l.Expect = cancelled(m, l.Cancel, l.Timeout.D(), l.Expect)
	case OpCall:
		l.Session = l.subject.name("a session")
		l.Tool, l.Args = readTool(m)
		l.Cancel = m.get("cancel").yes()
		if l.Twice = m.get("twice").yes(); l.Twice && !l.Cancel {
			m.at("twice").problem("twice is for a call that is cancelled (cancel: true)")
		}
		r.outcome(l)
		l.Expect = expected(m, l.Tool, l.Args, l.Timeout.D(), l.Cancel, l.Expect)
	case OpClose, OpForget:
		l.Session = l.subject.name("a session")
		r.outcome(l)
	case OpAwait:
		l.Session = l.subject.name("a session")
		l.For = m.need("for").choice("what to wait for", AwaitCall, AwaitConnect)
	case OpRecycle:
		l.Session = l.subject.name("a session")
	case OpReload:
		l.Label = r.label(l.subject)
		r.outcome(l)
	case OpTick:
		r.tick(l, depth)
	case OpBreak:
		l.Session = l.subject.name("a session or a label") // follow tells which
		l.With = readOrder(m.need("with"))
	case OpCheckpoint:
		l.Name = l.subject.name("a checkpoint")
		l.Live = r.live(m.get("live"))
	case OpRepeat:
		l.Count = l.subject.whole("a number of times", 1, maxSteps)
		l.lanes = [][]line{r.steps(m.need("steps"), depth+1)}
		l.checkSize()
	case OpParallel:
		for _, lane := range l.subject.list("lanes, each a list of steps") {
			l.lanes = append(l.lanes, r.steps(lane, depth+1))
		}
	case OpStop, OpTerm, OpKill:
		l.subject.choice("what to end", "host")
	case OpRestart:
		l.subject.choice("what to start anew", "host")
		l.After = m.get("after").choice("a way to end", afterTerm, AfterStop, AfterKill)
		if l.After == afterTerm {
			l.After = ""
		}
		if l.Grace = m.get("grace").duration(); l.Grace > 0 && l.After != "" {
			m.at("grace").problem("grace is for a restart after SIGTERM (after: term): how long until SIGKILL")
		}
	}
}

// outcome reads what steps that the host answers have in common.
func (r *reader) outcome(l *line) {
	l.Timeout = l.m.get("timeout").duration()
	l.Expect = readExpect(l.m)
}

// readExpect leaves out the default, which is ok.
func readExpect(m *mapping) string {
	expect := m.get("expect").choice("what to expect", "ok", "fail", "any")
	if expect == "ok" {
		return ""
	}
	return expect
}

// label reads the label of a server that there is.
func (r *reader) label(n *node) string {
	label := n.name("a label")
	if label == "" {
		return ""
	}
	if !slices.Contains(r.labels, label) {
		if len(r.labels) > 0 { // else the servers are the problem
			n.problem("there is no server %s; %s", label, meantOr(label, r.labels))
		}
		return ""
	}
	return label
}

// readOrder reads with: a deed, or a mapping of one.
func readOrder(n *node) fakeserver.Fault {
	f := fakeserver.Fault{On: "order"}
	if n == nil {
		return f
	}
	if n.shape.refersTo("order") {
		return f
	}
	deeds := deedsOnOrder()
	if n.kind == kindMapping || n.kind == kindNothing {
		before := len(n.problems)
		m := n.mapping("with")
		f.Do = m.need("do").choice("a deed that can be ordered", deeds...)
		readDeed(&f, m)
		if len(n.problems) == before {
			checkFault(f, m)
		}
		return f
	}
	if f.Do = n.choice("a deed that can be ordered", deeds...); f.Do != "" {
		if err := f.Check(); err != nil {
			n.problem("%v; write it as with: {do: %s, ...}", err, f.Do)
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
func (r *reader) live(n *node) map[string]int {
	m := n.mapping("live")
	if m.node == nil {
		return nil
	}
	all := map[string]int{}
	m.shape.notEmpty()
	for _, p := range m.entries() {
		if label := r.label(p.key); label != "" {
			all[label] = p.value.whole("a number of servers", 0, maxJobs)
		}
	}
	if n.kind == kindNothing || (n.kind == kindMapping && len(n.pairs) == 0) {
		n.problem("live is empty; leave it out, or say how many servers of a label there must be")
	}
	return all
}

// checkSize notes a repeat that asks for too much, and makes it small so that
// what stands around it is not blamed too.
func (l *line) checkSize() {
	if sizeOf([]line{*l}) > maxSteps {
		l.subject.problem("written out, this is more than %d steps", maxSteps)
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
