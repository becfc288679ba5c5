package scenarios

import (
	"cmp"
	"maps"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// follow plays the steps in thought and notes what can't go on as written: a
// call on a session that nobody opened, a step after the host's end.
func follow(steps []Step, r *reader) {
	f := &follower{reader: r, sessions: map[string]sessionAt{}, checkpoints: map[string]*yamlfile.Node{}, ever: map[string]bool{}}
	each(steps, func(s Step) {
		if s.Op == record.OpOpen {
			f.ever[s.Session] = true
			f.shares = f.shares || s.Shared
		}
	})
	f.walk(steps)
}

// sessionAt is what is known of a session at a place in the play.
type sessionAt struct {
	label string
	line  int    // of what made it so
	not   string // why it can't be open, or "" where it can
}

type follower struct {
	*reader
	sessions    map[string]sessionAt
	checkpoints map[string]*yamlfile.Node
	ever        map[string]bool // sessions that some step opens
	shares      bool            // some session shares its entry with others
	end         *Step           // the step that ended the host
	beside      bool            // it did so beside other steps
	inside      string
	asked       map[inFlight]bool // what the lanes beside this one ask for, and those beside what is around it
}

func (f *follower) walk(steps []Step) {
	for i := range steps {
		f.step(&steps[i])
	}
}

func (f *follower) step(l *Step) {
	if !f.mayFollow(l) {
		return
	}
	f.share(l)
	switch l.Op {
	case record.OpOpen:
		f.open(l)
	case record.OpCall, record.OpList, record.OpClose, record.OpForget:
		f.use(l)
	case record.OpAwait:
		f.await(l)
	case record.OpRecycle:
		f.recycle(l)
	case record.OpReload:
		f.reload(l)
	case record.OpBreak:
		f.order(l)
	case record.OpCheckpoint:
		f.checkpoint(l)
	case record.OpRepeat:
		f.repeat(l)
	case record.OpTick, record.OpParallel:
		f.besides(l)
	case record.OpStop, record.OpTerm, record.OpKill:
		f.end = l
	case record.OpRestart:
		f.restart(l)
	}
}

// mayFollow says that a step has a host, or needs none.
func (f *follower) mayFollow(l *Step) bool {
	switch {
	case f.end == nil:
	case l.Op != record.OpCheckpoint:
		l.m.Problem("the host is gone: %s on line %d ended it", f.end.Op, f.end.Line)
		return false
	case f.beside:
		l.m.Problem(
			"no checkpoint can follow here: %s on line %d ends the host beside other steps; leakbench looks by itself once the host is gone",
			f.end.Op, f.end.Line)
		return false
	}
	return true
}

// share looks for sessions with a server of their own where others share the entry of theirs.
func (f *follower) share(l *Step) {
	if f.shares && (l.Op == record.OpOpen && !l.Shared || l.Op == record.OpTick || l.Op == record.OpReload) {
		l.m.Problem("%s: sessions of this scenario share the entry of their server, so all of them must: open each with shared: true", l.Op)
	}
}

func (f *follower) restart(l *Step) {
	for name, s := range f.sessions {
		f.sessions[name] = sessionAt{label: s.label, line: l.Line, not: "restarts the host"}
	}
}

// open notes a session, whose server must be given once. A wrong open is reported alone, without the steps that use the session.
func (f *follower) open(l *Step) {
	if l.Session == "" {
		return
	}
	old, known := f.sessions[l.Session]
	switch {
	case l.m.Find("server") == nil && !known:
		l.subject.Problem("session %s is new; say with server: which server it is for", l.Session)
	case l.Label == "": // it keeps its server; that there is no such server was noted
		l.Label = old.label
	case old.label != "" && old.label != l.Label:
		l.m.Find("server").Problem("session %s belongs to server %s (line %d) and keeps it", l.Session, old.label, old.line)
		l.Label = old.label
	case slices.Contains(f.labels, l.Session) && l.Session != l.Label:
		l.subject.Problem("%s is the label of another server; give the session a name of its own", l.Session)
	}
	now := sessionAt{label: l.Label, line: l.Line}
	if l.Expect == record.ExpectFail {
		now.not = "is expected to fail"
	}
	f.sessions[l.Session] = now
}

// use is a call, a close or a forget.
func (f *follower) use(l *Step) {
	if l.Session == "" {
		return
	}
	s, known := f.sessions[l.Session]
	switch {
	case !known:
		l.subject.Problem("no earlier step opens session %s; %s", l.Session, f.meantSession(l.Session))
	case s.not != "" && l.Expect == "":
		l.notOpen(l.Session, s)
	}
	if known && l.Op != record.OpCall && l.Op != record.OpList {
		f.sessions[l.Session] = sessionAt{
			label: s.label, line: l.Line,
			not: map[record.Op]string{record.OpClose: "closes it", record.OpForget: "has it forgotten"}[l.Op],
		}
	}
}

// await looks at what another lane does: its session may be opened there.
func (f *follower) await(l *Step) {
	switch {
	case l.Session == "" || l.For == "":
	case f.inside == "":
		l.m.Problem("await belongs inside a parallel: between steps nothing is in flight")
	case !f.ever[l.Session]:
		l.subject.Problem("no step opens session %s; %s", l.Session, yamlfile.MeantOr(l.Session, slices.Sorted(maps.Keys(f.ever))))
	case !f.asked[inFlight{l.Session, l.For}]:
		what := map[string]string{AwaitCall: "calls", AwaitConnect: "opens"}[l.For]
		l.subject.Problem("no step beside it %s session %s: what it waits for can't come", what, l.Session)
	}
}

// inFlight is what an await can wait for.
type inFlight struct{ session, what string }

// asksFor are the requests that some steps make, those inside others too. A reload connects the sessions of its label anew, and hosts
// may do so after a break, or at the next call.
func (f *follower) asksFor(steps []Step, asked map[inFlight]bool) {
	each(steps, func(s Step) {
		switch s.Op {
		case record.OpList:
			asked[inFlight{s.Session, AwaitConnect}] = true
		case record.OpCall:
			asked[inFlight{s.Session, AwaitCall}], asked[inFlight{s.Session, AwaitConnect}] = true, true
		case record.OpOpen:
			asked[inFlight{s.Session, AwaitConnect}] = true
		case record.OpReload, record.OpBreak:
			for name, at := range f.sessions {
				if name == s.Session || at.label == s.Label {
					asked[inFlight{name, AwaitConnect}] = true
				}
			}
		}
	})
}

// recycle needs a pid that is free, and a place where pids can be chosen.
func (f *follower) recycle(l *Step) {
	if l.Session == "" {
		return
	}
	s, known := f.sessions[l.Session]
	switch {
	case f.place != record.PlaceInit:
		l.m.Problem("a pid can be reused only where the host lives below an init (host: {place: %s})", record.PlaceInit)
	case !known:
		l.subject.Problem("no earlier step opens session %s; %s", l.Session, f.meantSession(l.Session))
	case s.not == "":
		l.subject.Problem("session %s is open here: its server has the pid; close it first", l.Session)
	}
}

func (l *Step) notOpen(session string, s sessionAt) {
	round := ""
	if s.line >= l.Line {
		round = ", in the round before,"
	}
	l.subject.Problem("session %s can't be open here: the step on line %d%s %s", session, s.line, round, s.not)
}

func (f *follower) meantSession(name string) string {
	opened := slices.Sorted(maps.Keys(f.sessions))
	if len(opened) == 0 {
		return "none is open here"
	}
	return yamlfile.MeantOr(name, opened)
}

func (f *follower) reload(l *Step) {
	if l.Label != "" && !f.hasOpen(l.Label) {
		l.subject.Problem("no session of server %s can be open here, so there is nothing to reload", l.Label)
	}
}

func (f *follower) hasOpen(label string) bool {
	for _, s := range f.sessions {
		if s.label == label && s.not == "" {
			return true
		}
	}
	return false
}

// order tells whether a break is for a session or for a label.
func (f *follower) order(l *Step) {
	name := cmp.Or(l.Session, l.Label) // a repeat comes here twice
	if name == "" {
		return // no name: noted
	}
	s, known := f.sessions[name]
	switch {
	case known:
		l.Session, l.Label = name, s.label
		if s.not != "" {
			l.notOpen(name, s)
		}
	case slices.Contains(f.labels, name):
		l.Session, l.Label = "", name
	default:
		all := slices.Sorted(maps.Keys(f.sessions))
		l.subject.Problem("%s is neither an open session nor a server; %s",
			name, yamlfile.MeantOr(name, slices.Compact(append(all, f.labels...))))
	}
}

func (f *follower) checkpoint(l *Step) {
	if f.inside != "" {
		l.m.Problem("a checkpoint belongs between steps, not inside a %s: nothing may change while it looks", f.inside)
		return
	}
	if first := f.checkpoints[l.Name]; first != nil && l.Name != "" && first != l.subject {
		l.subject.Problem("there is a checkpoint %s on line %d already", l.Name, first.Line)
		return
	}
	f.checkpoints[l.Name] = l.subject
}

// repeat goes through the steps twice: the second time they meet what the first has left.
func (f *follower) repeat(l *Step) {
	for range min(l.Count, 2) {
		f.walk(l.Steps)
	}
}

// besides goes through each lane as if it were alone, and then takes together what they changed.
func (f *follower) besides(l *Step) {
	before, inside, asked := maps.Clone(f.sessions), f.inside, f.asked
	after := maps.Clone(before)
	f.inside = string(l.Op)
	var end *Step
	lanes := l.lanes()
	for i, lane := range lanes {
		f.sessions, f.end = maps.Clone(before), nil
		if f.asked = maps.Clone(asked); f.asked == nil {
			f.asked = map[inFlight]bool{}
		}
		for k, beside := range lanes {
			if k != i {
				f.asksFor(beside, f.asked)
			}
		}
		f.walk(lane)
		if f.end != nil {
			end = f.end
		}
		for name, now := range f.sessions {
			if was := before[name]; now != was && (after[name] == was || now.not == "") {
				after[name] = now
			}
		}
	}
	f.sessions, f.inside, f.asked, f.end = after, inside, asked, end
	f.beside = end != nil
}
