package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeCollateral is L3: nobody touches a server whose session is live.
func judgeCollateral(f *casefile) LawResult {
	r := LawResult{Expected: "no server of a live session signalled, cut off or missing"}
	f.judgeBystanders()
	f.judgeEntries()
	switch {
	case f.Broke("L3") && (f.Header.Host.SessionsUnknown() || len(f.Sessions()) == 0):
		r.Found = "a bystander ended; the sessions are not known to the bench"
		if f.Header.Host.Servers == record.Either {
			r.Found = "a server ended that an open session used"
		}
		return r
	case f.Header.Host.SessionsUnknown():
		r.Reason = "leakbench does not know the sessions of a host that it does not drive"
		return r
	case len(f.Sessions()) == 0:
		r.Reason = "no session was opened"
		return r
	}
	hurt := map[string]bool{}
	for _, s := range f.servers {
		h, ok := facts.HarmTo(s)
		if ok && f.isCollateral(s, h) {
			hurt[s.ID] = true
			f.Broken(f.harmBreach(s, h))
		}
	}
	for _, cp := range f.Checkpoints {
		f.missingAt(cp, hurt)
	}
	r.Found = text.Count(len(hurt), "server") + " of live sessions harmed, of " + text.Count(len(f.servers), "server")
	if f.Broke("L3") && len(f.Bystanders()) > 0 {
		r.Found += "; a bystander ended"
	}
	return r
}

// isCollateral says that the server's session was live when it was harmed, and that nothing was wrong with it. Facts
// come first: a death without a word is the host's doing whoever is newest, and whatever it launched afterwards.
func (f *casefile) isCollateral(s *history.Server, h facts.Harm) bool {
	notTheHosts := f.endedByBench(s) || f.endedOutside(s) || !f.OnWatch(h.T) || f.HostOf(s) != f.HostAt(h.T)
	if notTheHosts || s.BrokenBy(h.T) || !facts.Established(s, h.T) {
		return false
	}
	state, since := f.StateAt(s, h.T)
	if state.Cut || f.Probe(s) {
		return false
	}
	switch state.State {
	case record.SessionOpen:
		if f.hasRival(s, h.T) || f.OnSchedule(s, h) || h.Kind == "cut-off" && f.wasBeside(s, h.T) {
			return false
		}
		return f.isNewest(s, h.T) || h.Kind == "killed" && f.worked(s, h.T)
	case record.SessionOpening:
		return s.Born >= since && (f.costAnAnswer(s, h) || f.killedAtWork(s, h) || f.OpenWithout(s, h.T))
	case record.SessionEnded: // a job's may be over a moment before the server that a sweep has cut off reads the end of its stdin
		swept := state.Why == record.WhyTick && h.T-since < near && f.sweepsBeside(s, h.T)
		return swept && facts.CallInFlight(s, since) && f.costAnAnswer(s, facts.Harm{Kind: h.Kind, T: since})
	}
	return false
}

// endedOutside says that the bench has seen somebody else end a server, or that it may have been the kernel.
func (f *casefile) endedOutside(s *history.Server) bool {
	return slices.ContainsFunc(f.Doubts(), func(e *record.Event) bool { return e.Doubt.Code == record.DoubtOutside && e.Server == s.ID })
}

// worked says that the server was asked for work by t, and that its session was not opened anew since it was launched.
func (f *casefile) worked(s *history.Server, t int64) bool {
	if !slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Received <= t }) {
		return false
	}
	return !slices.ContainsFunc(f.Changes(s), func(c history.SessionChange) bool {
		return c.State == record.SessionOpening && c.T > s.Born && c.T <= t
	})
}

// killedAtWork says that a server was killed without a word while a call was
// in it. That another one then answered the call does not undo it.
func (f *casefile) killedAtWork(s *history.Server, h facts.Harm) bool {
	return h.Kind == "killed" && facts.CallInFlight(s, h.T)
}

// endedByBench says that the bench swept the server up, because the run was cut short, or though nobody had told the server to end:
// in a test, the host is still there when the bench sweeps.
func (f *casefile) endedByBench(s *history.Server) bool {
	_, swept := f.Swept()[s.Birth.Identity]
	return swept && (f.CutShort() || s.Silent())
}

// hasRival says that another server, launched by an open of the same session side by side with this one's, lived at
// t: which of them stays is the host's choice.
func (f *casefile) hasRival(s *history.Server, t int64) bool {
	return slices.ContainsFunc(f.servers, func(o *history.Server) bool {
		return history.Rivals(s, o) && o.Born <= t && (o.Died < 0 || o.Died > t)
	})
}

// noticesWithin is how long a host may take at the least to notice that a server of its has broken.
const noticesWithin = 100 * time.Millisecond

// wasBeside says that a server was launched unasked beside the one that its session worked with, got no call, and that the other one
// was broken a moment ago: a look at the list of tools, say, which the bench has cut across.
func (f *casefile) wasBeside(s *history.Server, t int64) bool {
	return len(s.Calls) == 0 && slices.ContainsFunc(f.servers, func(o *history.Server) bool {
		same := o.Label == s.Label && o.Session == s.Session && o.Life == s.Life && o.Established >= 0 && o.Established <= s.Born
		broken := o.Broken > s.Born && o.Broken <= t && t-o.Broken < f.Scaled(noticesWithin, t)
		return same && broken && (o.EOF < 0 || o.EOF > o.Broken) && !f.Reopened(o, s)
	})
}

// anyRival says that one of the servers is a rival of s.
func (f *casefile) anyRival(s *history.Server, of map[string]bool) bool {
	return slices.ContainsFunc(f.servers, func(o *history.Server) bool { return of[o.ID] && history.Rivals(s, o) })
}

// isNewest says that the host had launched no other for the session since.
func (f *casefile) isNewest(s *history.Server, t int64) bool {
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
func (f *casefile) costAnAnswer(s *history.Server, h facts.Harm) bool {
	i := slices.IndexFunc(f.Steps(), func(st *history.Step) bool {
		return st.Session == s.Session && st.Failed() && st.Begun <= h.T && st.Ended >= h.T
	})
	if i < 0 {
		return false
	}
	inFlight := slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Answered < 0 })
	signalled := len(s.Calls) == 0 && h.Kind != "cut-off"
	return inFlight || signalled && (f.Steps()[i].Op != record.OpOpen || f.coincides(s, h.T))
}

func (f *casefile) harmBreach(s *history.Server, h facts.Harm) *breach.Breach {
	state, since := f.StateAt(s, h.T)
	cause, harmed := record.CauseSessionInUse, h.T
	switch state.State {
	case record.SessionOpening:
		cause = record.CauseSessionAtWork
	case record.SessionEnded:
		cause, harmed = record.CauseSessionAtWork, since
	}
	phase := law.CauseOf(cause).Text
	f.harm(s, harmed)
	story := fmt.Sprintf("%s of session %s %s at %s, %s. It was healthy, and nobody had asked the host to end it.",
		prose.Process(s, s.Birth.Identity, ""), prose.Plain(s.Session), h.What, prose.Clock(h.T), phase)
	b := &breach.Breach{
		Law: "L3", Kind: h.Kind, Label: s.Label, Cause: cause, Server: s, At: []int64{h.T},
		Value: fmt.Sprintf("%s of session %s: %s at %s, %s",
			prose.Plain(s.ID), prose.Plain(s.Session), h.Kind, prose.Clock(h.T), facts.LastWord(s, h.T)),
		Narrative: prose.Paragraph(story, f.company(s, h.T), f.renewal(s, h.T)), Like: h.Kind + phase,
	}
	if op, tied, fix := f.tiedTo(s, h.T); tied != "" {
		kind := law.KindOf(h.Kind)
		b.Narrative, b.Like = prose.Paragraph(story, tied, f.renewal(s, h.T)), b.Like+", with its "+string(op)
		b.Fix = fix + " If nothing is tied to it: " + kind.FixOn(f.Header.System.OS)
	}
	if sig := facts.DeathSignal(s, h); sig != "" {
		b.Narrative = prose.Paragraph(story, fmt.Sprintf("It has %s as its parent death signal: "+
			"the kernel sends that when the thread which launched the server ends, even if the host lives on.", sig), f.renewal(s, h.T))
		kind := law.KindOf(h.Kind)
		b.Fix = "Launch servers that have a parent death signal (PR_SET_PDEATHSIG) from a thread that lives as long as the host, " +
			"and not from a pool or a worker whose threads end. If no thread has ended: " + kind.FixOn(f.Header.System.OS)
	}
	return b
}

// tiedTo says that a server was harmed just when the open of its session was answered, before its first call, or when a call that was in
// it was cancelled or out of time, and while the host was busy with no other session: what is tied to that request ends with it.
func (f *casefile) tiedTo(s *history.Server, t int64) (op record.Op, says, fix string) {
	for _, st := range f.Steps() {
		answered := st.Op == record.OpOpen && !st.Failed() && st.Begun <= s.Born && max(t-st.Ended, st.Ended-t) <= near/2 && len(s.Calls) == 0
		givenUp := st.Op == record.OpCall && st.Failed() && st.Begun <= t && t-st.Ended <= near/2 && facts.CallInFlight(s, t)
		switch {
		case st.Session != s.Session || st.Ended < 0 || len(f.busyWith(s, t)) > 0:
		case answered:
			return st.Op, fmt.Sprintf("That was when the open of session %s was answered.", prose.Plain(s.Session)),
				"Give each server a lifetime of its own, and not that of the request which opens its session: its context, its scope or its " +
					"abort signal ends with the answer."
		case givenUp && (st.Cancelled || st.Limit > 0 && t-st.Begun >= int64(st.Limit)):
			return st.Op, "That was when the " + prose.StepName(st) + " was cancelled or out of time.",
				"Let a call that is cancelled, or out of time, end alone: send notifications/cancelled, drop the answer when it comes, and " +
					"keep the connection."
		}
	}
	return "", "", ""
}

// renewal says that the host gave the session another server, without having been asked to open it anew.
func (f *casefile) renewal(s *history.Server, t int64) string {
	for _, o := range f.servers {
		if o.Label != s.Label || o.Session != s.Session || o.Born <= t {
			continue
		}
		if slices.ContainsFunc(f.Changes(s), func(c history.SessionChange) bool { return c.T > t && c.T <= o.Born }) {
			return ""
		}
		return fmt.Sprintf(
			"The host launched %s for the session %s later, and nobody had asked it to open the session anew. "+
				"If it renews servers by itself: start the new one first, and end the old one when nothing uses it any more. "+
				"If it has a server for each request: a driver can declare that in its profile (servers: per-request).",
			prose.Plain(o.ID), prose.Span(o.Born-t))
	}
	return ""
}

func (f *casefile) harm(s *history.Server, t int64) {
	key := facts.SessionKey{Label: s.Label, Name: s.Session}
	if before, known := f.Harmed[key]; !known || t < before {
		f.Harmed[key] = t
	}
}

// company says what else happened at that moment: a sweep that takes one
// server too many takes it together with the one that was meant.
func (f *casefile) company(s *history.Server, t int64) string {
	var others, steps []string
	for _, other := range f.endedNear(s, t) {
		others = append(others, prose.Plain(other.ID))
	}
	for _, st := range f.busyWith(s, t) {
		steps = append(steps, prose.StepName(st))
	}
	var also string
	if len(others) > 0 {
		also = fmt.Sprintf("Within %s of it, %s %s ended as well: the cleanup hit more than it should.",
			prose.Span(near), prose.List(others), text.Choose(len(others), "was", "were"))
	}
	if len(steps) > 0 {
		also = prose.Paragraph(also, fmt.Sprintf("At that moment the host was busy with %s.", prose.List(steps)))
	}
	return also
}

// near is how far apart the ends of servers may be that one sweep has ended.
const near = int64(100 * time.Millisecond)

// endedNear are the other servers that were ended at about that moment.
func (f *casefile) endedNear(s *history.Server, t int64) (others []*history.Server) {
	for _, other := range f.servers {
		h, ok := facts.HarmTo(other)
		if ok && other != s && h.T >= t-near && h.T <= t+near {
			others = append(others, other)
		}
	}
	return others
}

// busyWith are the steps of other sessions that were under way at t, in whose course a host ends servers.
func (f *casefile) busyWith(s *history.Server, t int64) (steps []*history.Step) {
	for _, st := range f.Steps() {
		if st.Begun <= t && (st.Ended < 0 || st.Ended >= t) && st.Session != s.Session && endsSessions[st.Op] {
			steps = append(steps, st)
		}
	}
	return steps
}

// coincides says that the host was busy with other sessions at that moment, or ended a server of one by a signal.
func (f *casefile) coincides(s *history.Server, t int64) bool {
	return len(f.busyWith(s, t)) > 0 || f.sweepsBeside(s, t)
}

// sweepsBeside says that the host ended a server of another session by a signal at about that moment.
func (f *casefile) sweepsBeside(s *history.Server, t int64) bool {
	return slices.ContainsFunc(f.endedNear(s, t), func(o *history.Server) bool {
		h, _ := facts.HarmTo(o)
		return facts.SessionOf(o) != facts.SessionOf(s) && h.Kind != "cut-off" && !o.BrokenBy(h.T) && f.OnWatch(h.T)
	})
}

// endsSessions are the steps in the course of which a host ends servers of other sessions.
var endsSessions = map[record.Op]bool{
	record.OpOpen: true, record.OpClose: true, record.OpForget: true, record.OpReload: true, record.OpTick: true, record.OpJob: true,
}

// missingAt reports the servers that a checkpoint wants and that are gone
// though nothing was wrong with them, unless they were reported already.
func (f *casefile) missingAt(cp *facts.Checkpoint, hurt map[string]bool) {
	if cp.Settled == nil || cp.HostGone || !f.OnWatch(cp.SettledAt) {
		return
	}
	for _, want := range cp.Missing {
		for _, s := range f.wanted(cp, want) {
			switch {
			case hurt[s.ID], f.anyRival(s, hurt), f.endedOutside(s):
				f.Explained[cp] = true
			case f.NeverReplaced(cp, s):
			case s.Died >= 0 && s.Died <= cp.SettledAt && !s.BrokenBy(s.Died) && s.Lost < 0:
				f.Explained[cp], hurt[s.ID] = true, true
				f.Broken(f.missingBreach(cp, s))
			}
		}
	}
}

// wanted are the newest servers of a want's group, established ones first.
func (f *casefile) wanted(cp *facts.Checkpoint, want record.Want) []*history.Server {
	var group []*history.Server
	for _, s := range slices.Backward(f.servers) {
		if s.Label == want.Label && (want.Session == "" || s.Session == want.Session) && s.Born <= cp.SettledAt {
			group = append(group, s)
		}
	}
	works := func(s *history.Server) bool { return facts.Established(s, cp.SettledAt) && !f.Probe(s) }
	first := slices.DeleteFunc(slices.Clone(group), func(s *history.Server) bool { return !works(s) })
	group = append(first, slices.DeleteFunc(group, works)...)
	n := f.liveOf(cp)[[2]string{want.Label, want.Session}]
	return group[:min(max(n, 0), len(group))]
}

// liveOf is how many servers a checkpoint wants of each label and session.
func (f *casefile) liveOf(cp *facts.Checkpoint) map[[2]string]int {
	if f.live[cp] == nil {
		live := map[[2]string]int{}
		for _, w := range cp.Wants {
			live[[2]string{w.Label, w.Session}] = w.Live
		}
		f.live = map[*facts.Checkpoint]map[[2]string]int{cp: live} // they are judged one after the other
	}
	return f.live[cp]
}

func (f *casefile) missingBreach(cp *facts.Checkpoint, s *history.Server) *breach.Breach {
	f.harm(s, s.Died)
	h, _ := facts.HarmTo(s)
	return &breach.Breach{
		Law: "L3", Kind: "missing", Label: s.Label, Cause: record.CauseAtCheckpoint, Server: s, Checkpoint: cp, At: []int64{s.Died, cp.SettledAt},
		Value: fmt.Sprintf("%s of session %s: gone since %s", prose.Plain(s.ID), prose.Plain(s.Session), prose.Clock(s.Died)),
		Narrative: prose.Paragraph(
			fmt.Sprintf("Session %s is open at checkpoint %q, yet %s, its newest server, %s at %s.",
				prose.Plain(s.Session), prose.Plain(cp.Name), prose.Process(s, s.Birth.Identity, ""), h.What, prose.Clock(h.T)),
			f.company(s, h.T)),
		Like: h.Kind,
	}
}
