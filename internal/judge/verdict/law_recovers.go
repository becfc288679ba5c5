package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeRecovers is L10: once no fault happens any more, a session can be opened and answers.
func judgeRecovers(f *casefile) LawResult {
	r := LawResult{Expected: "each session opened after the last fault opens and answers"}
	last, held, crashed := f.lastFault(), f.judgeHeld(), f.judgeCrashes()
	if last < 0 && crashed > 0 {
		r.Found = "the host crashed"
		return r
	}
	if last < 0 {
		r.Reason = "no server broke a session"
		return r
	}
	rec := recovery{casefile: f, last: last, opened: map[facts.SessionKey]bool{}}
	for _, s := range f.Steps() {
		rec.judge(s)
	}
	r.Found = fmt.Sprintf("%s opened after it, %d failed", text.Count(rec.judged, "session"), rec.failed)
	switch {
	case held > 0:
		r.Found += fmt.Sprintf("; %s found a lock or port held by an older server", text.Count(held, "launch"))
	case crashed > 0:
		r.Found += "; the host crashed"
	case rec.judged == 0:
		r.Reason = "no session was opened after the last fault"
	}
	return r
}

// recovery is how the host fared after the last fault.
type recovery struct {
	*casefile
	last           int64
	opened         map[facts.SessionKey]bool // what was tried, and whether it is open
	judged, failed int
}

func (r *recovery) judge(s *history.Step) {
	key := facts.KeyOf(s)
	if s.Reconnect == record.ByItself && s.Failed() {
		r.fails(s)
		r.Broken(r.unkeptClaim(s))
		return
	}
	if s.Reconnect == record.ByItself && s.Skipped && s.Begun > r.last {
		r.judged++
		r.opened[key] = true
	}
	if s.Begun > r.last && s.MustWork() && !s.Skipped && s.Ended >= 0 && r.OnWatch(s.Ended) {
		r.judgeAfter(s, key)
	}
}

// judgeAfter judges a step that had to work after the last fault. A call that failed says nothing where there may be no session to call.
func (r *recovery) judgeAfter(s *history.Step, key facts.SessionKey) {
	opens := s.Op == record.OpOpen || s.Op == record.OpJob
	if opens {
		r.judged++
		r.opened[key] = s.OK
	}
	if !s.Failed() || r.HarmedBy(key, r.NotedBy(s.Ended)) { // L3 says why
		return
	}
	open, tried := r.opened[key]
	switch {
	case opens, s.Op == record.OpCall && open:
		r.fails(s)
		if b := r.recoveryBreach(s, r.last); r.hadNoTime(s) {
			r.Excuse(b, s.Begun, s.Ended)
		} else {
			r.Broken(b)
		}
	case s.Op == record.OpCall && tried:
		r.Blamed[s.N] = true
	}
}

func (r *recovery) fails(s *history.Step) {
	r.failed++
	r.Blamed[s.N] = true
}

// lastFault is when a server last broke its session, or never.
func (f *casefile) lastFault() int64 {
	last := never
	for _, s := range f.servers {
		for _, fault := range s.Faults {
			if fault.Breaks {
				last = max(last, fault.T)
			}
		}
	}
	return last
}

// hadNoTime says that the host did try, and that its servers may have answered none of its attempts in time because the machine was
// starved, and not by the run itself.
func (f *casefile) hadNoTime(s *history.Step) bool {
	launched, answered := f.launchedIn(s)
	return launched > 0 && answered == 0 && f.Slowdown(s.Begun, s.Ended) > 1
}

// launchedIn counts the servers that were launched for a step, and those of them that finished the handshake.
func (f *casefile) launchedIn(s *history.Step) (launched, answered int) {
	for _, srv := range f.servers {
		if srv.Label == s.Label && (srv.Session == s.Session || f.Header.Host.SessionsUnknown()) && srv.Born >= s.Begun && srv.Born <= s.Ended {
			launched++
			if facts.Established(srv, s.Ended) {
				answered++
			}
		}
	}
	return launched, answered
}

func (f *casefile) recoveryBreach(s *history.Step, last int64) *breach.Breach {
	launched, answered := f.launchedIn(s)
	saw := fmt.Sprintf("The host launched %s for it, and %d finished the handshake.", text.Count(launched, "server"), answered)
	switch {
	case s.Op == record.OpCall:
		saw = "The session had been opened anew before."
	case launched == 0:
		saw = "The host did not even launch a server for it."
	}
	fault, since := f.faultAt(last, s.Begun)
	return &breach.Breach{
		Law: "L10", Kind: "no-recovery", Step: s, Label: s.Label, Cause: record.CauseOfStep(&s.Step),
		At: []int64{s.Begun, s.Ended}, Like: string(s.Op),
		Value: fmt.Sprintf("%s: %s", prose.StepName(s), prose.Quote(s.Error)),
		Narrative: prose.Paragraph(
			fmt.Sprintf("The %s began %s after the last fault of the run (%s), %s, and failed after %s: %s.",
				prose.StepName(s), prose.Span(s.Begun-last), fault, since, prose.Span(s.Ended-s.Begun), prose.Quote(s.Error)),
			saw),
	}
}

// unkeptClaim is a session that was lost although the host's profile says that it reconnects by itself.
func (f *casefile) unkeptClaim(s *history.Step) *breach.Breach {
	launched, answered := f.launchedIn(s)
	return &breach.Breach{
		Law: "L10", Kind: "no-recovery", Step: s, Label: s.Label, Cause: record.CauseOfStep(&s.Step),
		At: []int64{s.Begun, s.Ended}, Like: "itself",
		Value: fmt.Sprintf("session %s: %s", prose.Plain(s.Session), prose.Quote(s.Error)),
		Narrative: fmt.Sprintf("The profile of the host says that it reconnects by itself. The server of session %s broke, the session was "+
			"called twice, and %s later it had no working server: the host launched %s in that time, and %d finished the handshake.",
			prose.Plain(s.Session), prose.Span(s.Ended-s.Begun), text.Count(launched, "server"), answered),
	}
}

// faultAt names the fault at a time, and says what has become of it by then: a
// host that serves all of its clients from one server may have kept that one.
func (f *casefile) faultAt(t, then int64) (name, since string) {
	for _, s := range f.servers {
		for i := range s.Faults {
			fault := &s.Faults[i]
			if fault.T != t || !fault.Breaks {
				continue
			}
			name, since = prose.FaultName(&fault.Fault)+" of "+prose.Plain(s.ID), "with nothing wrong any more"
			if f.Header.Host.Servers == record.Shared && !history.By(s.Died, then) {
				since = "with that server still in its place"
			}
			return name, since
		}
	}
	return "unknown", "with nothing wrong any more"
}
