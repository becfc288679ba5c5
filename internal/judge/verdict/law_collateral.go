package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// harm is the first thing that was done to a server to end it.
type harm struct {
	kind string // killed, terminated, cut-off
	t    int64
	what string
}

// judgeCollateral is L3: nobody touches a server whose session is live.
func judgeCollateral(f *facts) LawResult {
	r := LawResult{Expected: "no server of a live session signalled, cut off or missing"}
	f.judgeBystanders()
	switch {
	case f.broke("L3") && (f.isCommand() || len(f.Sessions()) == 0):
		r.Found = "a bystander ended; the sessions are not known to the bench"
		return r
	case f.isCommand():
		r.Reason = "the sessions of a host that is not driven are not known to the bench"
		return r
	case len(f.Sessions()) == 0:
		r.Reason = "no session was opened"
		return r
	}
	hurt := map[string]bool{}
	for _, s := range f.servers {
		h, ok := harmTo(s)
		if ok && f.isCollateral(s, h) {
			hurt[s.ID] = true
			f.broken(f.harmBreach(s, h))
		}
	}
	for _, cp := range f.checkpoints {
		f.missingAt(cp, hurt)
	}
	r.Found = text.Count(len(hurt), "server") + " of live sessions harmed, of " + text.Count(len(f.servers), "server")
	if f.broke("L3") && len(f.Bystanders()) > 0 {
		r.Found += "; a bystander ended"
	}
	return r
}

// harmTo is the first end of stdin, signal or death that a server saw. A death after the ledger lost it tells nothing.
func harmTo(s *history.Server) (harm, bool) {
	var all []harm
	if len(s.Signals) > 0 {
		all = append(all, harm{"terminated", s.Signals[0].T, "caught " + prose.Plain(s.Signals[0].Text)})
	}
	if s.EOF >= 0 {
		all = append(all, harm{"cut-off", s.EOF, "read the end of its stdin"})
	}
	if s.Died >= 0 {
		all = append(all, harm{"killed", s.Died, "died without a signal it could catch and without the end of stdin, as one does that is killed by SIGKILL"})
	}
	if len(all) == 0 {
		return harm{}, false
	}
	// A death is recorded after its cause, where both are.
	first := slices.MinFunc(all, func(a, b harm) int { return cmp.Compare(a.t, b.t) })
	return first, s.Lost < 0 || s.Lost > first.t
}

// isCollateral says that the server's session was live when it was harmed, and that nothing was wrong with it. Facts
// come first: a death without a word is the host's doing whoever is newest, and whatever it launched afterwards.
func (f *facts) isCollateral(s *history.Server, h harm) bool {
	if brokenBy(s, h.t) || !f.onWatch(h.t) || f.HostOf(s) != f.HostAt(h.t) || f.endedByBench(s) || !established(s, h.t) {
		return false
	}
	state, since := f.stateAt(s, h.t)
	if state.Cut || f.Probe(s) {
		return false
	}
	switch state.State {
	case record.SessionOpen:
		if f.hasRival(s, h.t) || f.onSchedule(s, h) {
			return false
		}
		return f.isNewest(s, h.t) || h.kind == "killed" && f.worked(s, h.t)
	case record.SessionOpening:
		return s.Born >= since && (f.costAnAnswer(s, h) || f.killedAtWork(s, h) || f.openWithout(s, h.t))
	}
	return false
}

// worked says that the server was asked for work by t, and that its session was not opened anew since it was launched.
func (f *facts) worked(s *history.Server, t int64) bool {
	if !slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Received <= t }) {
		return false
	}
	return !slices.ContainsFunc(f.changes(s), func(c history.SessionChange) bool {
		return c.State == record.SessionOpening && c.T > s.Born && c.T <= t
	})
}

// killedAtWork says that a server was killed without a word while a call was
// in it. That another one then answered the call does not undo it.
func (f *facts) killedAtWork(s *history.Server, h harm) bool {
	return h.kind == "killed" && callInFlight(s, h.t)
}

func callInFlight(s *history.Server, t int64) bool {
	return slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Received <= t && (c.Answered < 0 || c.Answered > t) })
}

// endedByBench says that the bench swept the server up because the run was cut short.
func (f *facts) endedByBench(s *history.Server) bool {
	_, swept := f.Swept()[s.Birth.Identity]
	return swept && f.cutShort()
}

// openWithout says that the host, some time after t, called the session open though this server, its newest, was
// gone, or on its way out, and no other was there.
func (f *facts) openWithout(s *history.Server, t int64) bool {
	for _, c := range f.changes(s) {
		if c.T <= t {
			continue
		}
		return c.State == record.SessionOpen && !slices.ContainsFunc(f.servers, func(o *history.Server) bool {
			return o != s && o.Label == s.Label && o.Session == s.Session && o.Born <= c.T && (o.Died < 0 || o.Died > c.T)
		})
	}
	return false
}

// stateAt is the last change of a server's session by t, and when it was.
func (f *facts) stateAt(s *history.Server, t int64) (record.Session, int64) {
	for _, c := range slices.Backward(f.changes(s)) {
		if c.T <= t {
			return c.Session, c.T
		}
	}
	return record.Session{}, never
}

// hasRival says that another server, launched by an open of the same session side by side with this one's, lived at
// t: which of them stays is the host's choice.
func (f *facts) hasRival(s *history.Server, t int64) bool {
	return slices.ContainsFunc(f.servers, func(o *history.Server) bool {
		return history.Rivals(s, o) && o.Born <= t && (o.Died < 0 || o.Died > t)
	})
}

// anyRival says that one of the servers is a rival of s.
func (f *facts) anyRival(s *history.Server, of map[string]bool) bool {
	return slices.ContainsFunc(f.servers, func(o *history.Server) bool { return of[o.ID] && history.Rivals(s, o) })
}

// isNewest says that the host had launched no other for the session since.
func (f *facts) isNewest(s *history.Server, t int64) bool {
	for _, other := range slices.Backward(f.servers) {
		if other == s {
			return true
		}
		if other.Label == s.Label && other.Session == s.Session && other.Born <= t && !history.Rivals(s, other) {
			return false
		}
	}
	return true
}

// costAnAnswer says that a server whose session was still being set up (a job is, to its end) was ended to the harm
// of that session, and what was asked of the host failed: while a call was in it, or by a signal before it could get
// one. A host that gives up an open by itself may do that by a signal: it is held against it only where it ended
// servers of other sessions at that moment.
func (f *facts) costAnAnswer(s *history.Server, h harm) bool {
	i := slices.IndexFunc(f.Steps(), func(st *history.Step) bool {
		return st.Session == s.Session && st.Failed() && st.Begun <= h.t && st.Ended >= h.t
	})
	if i < 0 {
		return false
	}
	inFlight := slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Answered < 0 })
	signalled := len(s.Calls) == 0 && h.kind != "cut-off"
	return inFlight || signalled && (f.Steps()[i].Op != record.OpOpen || f.coincides(s, h.t))
}

func (f *facts) harmBreach(s *history.Server, h harm) *breach {
	state, _ := f.stateAt(s, h.t)
	cause := record.CauseSessionInUse
	if state.State == record.SessionOpening {
		cause = record.CauseSessionAtWork
	}
	phase := law.CauseOf(cause).Text
	f.harm(s, h.t)
	story := fmt.Sprintf("%s of session %s %s at %s, %s: nothing was wrong with it, and nobody had asked the host to end it.",
		prose.Process(s, s.Birth.Identity, ""), prose.Plain(s.Session), h.what, prose.Clock(h.t), phase)
	return &breach{
		law: "L3", kind: h.kind, label: s.Label, cause: cause, server: s, at: []int64{h.t},
		value:     fmt.Sprintf("%s of session %s: %s at %s, %s", prose.Plain(s.ID), prose.Plain(s.Session), h.kind, prose.Clock(h.t), lastWord(s, h.t)),
		narrative: prose.Paragraph(story, f.company(s, h.t), f.renewal(s, h.t)), like: h.kind + phase,
	}
}

// renewal says that the host gave the session another server, without having been asked to open it anew.
func (f *facts) renewal(s *history.Server, t int64) string {
	for _, o := range f.servers {
		if o.Label != s.Label || o.Session != s.Session || o.Born <= t {
			continue
		}
		if slices.ContainsFunc(f.changes(s), func(c history.SessionChange) bool { return c.T > t && c.T <= o.Born }) {
			return ""
		}
		return fmt.Sprintf("The host launched %s for the session %s later, unasked. If it renews servers by itself: start the new one first, and end the old one when nothing uses it any more.",
			prose.Plain(o.ID), prose.Span(o.Born-t))
	}
	return ""
}

func (f *facts) harm(s *history.Server, t int64) {
	key := sessionKey{s.Label, s.Session}
	if before, known := f.harmed[key]; !known || t < before {
		f.harmed[key] = t
	}
}

// lastWord is how long ago the server had last answered, for a judgement of how alive its session was.
func lastWord(s *history.Server, t int64) string {
	inFlight := 0
	last := never
	for _, c := range s.Calls {
		switch {
		case c.Received <= t && (c.Answered < 0 || c.Answered > t):
			inFlight++
		case c.Answered >= 0 && c.Answered <= t:
			last = max(last, c.Answered)
		}
	}
	switch {
	case inFlight > 0:
		return text.Count(inFlight, "call") + " in flight"
	case last >= 0:
		return prose.Span(t-last) + " after its last answer"
	}
	return "before its first call"
}

// company says what else happened at that moment: a sweep that takes one
// server too many takes it together with the one that was meant.
func (f *facts) company(s *history.Server, t int64) string {
	var others, steps []string
	for _, other := range f.endedNear(s, t) {
		others = append(others, prose.Plain(other.ID))
	}
	for _, st := range f.busyWith(s, t) {
		steps = append(steps, prose.StepName(st))
	}
	var also string
	if len(others) > 0 {
		also = fmt.Sprintf("Within %s of it, %s %s ended as well: whoever ended them took more than was meant.", prose.Span(near), prose.List(others), text.Choose(len(others), "was", "were"))
	}
	if len(steps) > 0 {
		also = prose.Paragraph(also, fmt.Sprintf("At that moment the host was busy with %s.", prose.List(steps)))
	}
	return also
}

// near is how far apart the ends of servers may be that one sweep has ended.
const near = int64(100 * time.Millisecond)

// endedNear are the other servers that were ended at about that moment.
func (f *facts) endedNear(s *history.Server, t int64) (others []*history.Server) {
	for _, other := range f.servers {
		h, ok := harmTo(other)
		if ok && other != s && h.t >= t-near && h.t <= t+near {
			others = append(others, other)
		}
	}
	return others
}

// busyWith are the steps of other sessions that were under way at t, in whose course a host ends servers.
func (f *facts) busyWith(s *history.Server, t int64) (steps []*history.Step) {
	for _, st := range f.Steps() {
		if st.Begun <= t && (st.Ended < 0 || st.Ended >= t) && st.Session != s.Session && endsSessions[st.Op] {
			steps = append(steps, st)
		}
	}
	return steps
}

// coincides says that the host was busy with other sessions at that moment, or ended a server of one by a signal.
func (f *facts) coincides(s *history.Server, t int64) bool {
	return len(f.busyWith(s, t)) > 0 || slices.ContainsFunc(f.endedNear(s, t), func(o *history.Server) bool {
		h, _ := harmTo(o)
		return sessionOf(o) != sessionOf(s) && h.kind != "cut-off" && !brokenBy(o, h.t) && f.onWatch(h.t)
	})
}

// endsSessions are the steps in the course of which a host ends servers of other sessions.
var endsSessions = map[record.Op]bool{
	record.OpOpen: true, record.OpClose: true, record.OpForget: true, record.OpReload: true, record.OpTick: true, record.OpJob: true,
}

// missingAt reports the servers that a checkpoint wants and that are gone
// though nothing was wrong with them, unless they were reported already.
func (f *facts) missingAt(cp *checkpoint, hurt map[string]bool) {
	if cp.Settled == nil || cp.HostGone || !f.onWatch(cp.SettledAt) {
		return
	}
	for _, want := range cp.missing {
		for _, s := range f.wanted(cp, want) {
			switch {
			case hurt[s.ID], f.anyRival(s, hurt):
				cp.explained = true
			case s.Died >= 0 && s.Died <= cp.SettledAt && !brokenBy(s, s.Died) && s.Lost < 0:
				cp.explained, hurt[s.ID] = true, true
				f.broken(f.missingBreach(cp, s))
			}
		}
	}
}

// wanted are the newest servers of a want's group, established ones first.
func (f *facts) wanted(cp *checkpoint, want record.Want) []*history.Server {
	var group []*history.Server
	for _, s := range slices.Backward(f.servers) {
		if s.Label == want.Label && (want.Session == "" || s.Session == want.Session) && s.Born <= cp.SettledAt {
			group = append(group, s)
		}
	}
	works := func(s *history.Server) bool { return established(s, cp.SettledAt) && !f.Probe(s) }
	first := slices.DeleteFunc(slices.Clone(group), func(s *history.Server) bool { return !works(s) })
	group = append(first, slices.DeleteFunc(group, works)...)
	n := 0
	for _, w := range cp.Wants {
		if w.Label == want.Label && w.Session == want.Session {
			n = w.Live
		}
	}
	return group[:min(max(n, 0), len(group))]
}

func (f *facts) missingBreach(cp *checkpoint, s *history.Server) *breach {
	f.harm(s, s.Died)
	h, _ := harmTo(s)
	return &breach{
		law: "L3", kind: "missing", label: s.Label, cause: record.CauseAtCheckpoint, server: s, cp: cp, at: []int64{s.Died, cp.SettledAt},
		value: fmt.Sprintf("%s of session %s: gone since %s", prose.Plain(s.ID), prose.Plain(s.Session), prose.Clock(s.Died)),
		narrative: prose.Paragraph(
			fmt.Sprintf("Session %s is open at checkpoint %q, yet %s, its newest server, %s at %s.", prose.Plain(s.Session), prose.Plain(cp.Name), prose.Process(s, s.Birth.Identity, ""), h.what, prose.Clock(h.t)),
			f.company(s, h.t)),
		like: h.kind,
	}
}
