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
	opened, failed := map[facts.SessionKey]bool{}, 0
	judged := 0
	for _, s := range f.Steps() {
		if s.Reconnect == record.ByItself && s.Failed() {
			failed++
			f.Blamed[s.N] = true
			f.Broken(f.unkeptClaim(s))
			continue
		}
		if s.Reconnect == record.ByItself && s.Skipped && s.Begun > last {
			judged++
			opened[facts.SessionKey{Label: s.Label, Name: s.Session}] = true
		}
		if s.Begun <= last || !s.MustWork() || s.Skipped || s.Ended < 0 || !f.OnWatch(s.Ended) {
			continue
		}
		key := facts.SessionKey{Label: s.Label, Name: s.Session}
		if s.Op == record.OpOpen || s.Op == record.OpJob {
			judged++
			opened[key] = s.OK
		}
		if f.HarmedBy(key, f.NotedBy(s.Ended)) {
			continue // L3 says why
		}
		if _, tried := opened[key]; s.Op == record.OpCall && s.Failed() && tried {
			f.Blamed[s.N] = true // there may be no session to call
		}
		if s.Failed() && (s.Op == record.OpOpen || s.Op == record.OpJob || s.Op == record.OpCall && opened[key]) {
			failed++
			f.Blamed[s.N] = true
			if b := f.recoveryBreach(s, last); f.hadNoTime(s) {
				f.Excuse(b, s.Begun, s.Ended)
			} else {
				f.Broken(b)
			}
		}
	}
	r.Found = fmt.Sprintf("%s opened after it, %d failed", text.Count(judged, "session"), failed)
	if held > 0 {
		r.Found += fmt.Sprintf("; %s found a lock or port held by an older server", text.Count(held, "launch"))
	} else if crashed > 0 {
		r.Found += "; the host crashed"
	} else if judged == 0 {
		r.Reason = "no session was opened after the last fault"
	}
	return r
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
			if f.Header.Host.Servers == record.Shared && (s.Died < 0 || s.Died > then) {
				since = "with that server still in its place"
			}
			return name, since
		}
	}
	return "unknown", "with nothing wrong any more"
}
