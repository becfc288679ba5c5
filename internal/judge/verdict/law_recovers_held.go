package verdict

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeHeld reports the launches that found taken what an older launch should have given back: one for the same session, or for a
// session that had ended. Two sessions that are open at once and need the same thing are not the host's doing.
func (f *casefile) judgeHeld() (n int) {
	for _, s := range f.servers {
		at, what := lockedOut(s)
		if holder := f.staleHolder(s, at); holder != nil {
			n++
			f.Broken(f.heldBreach(s, holder, at, what))
			f.blameLockout(facts.SessionOf(s), at)
		}
	}
	return n
}

// blameLockout accounts for the connect that a locked-out launch was for, and
// for what was asked of the session until it was connected again.
func (f *casefile) blameLockout(key facts.SessionKey, at int64) {
	failing := false
	for _, s := range f.Steps() {
		if facts.KeyOf(s) != key || s.Ended < at {
			continue
		}
		if failing = failing || s.Begun <= at; !failing || s.OK {
			return
		}
		f.Blamed[s.N] = f.Blamed[s.N] || s.Failed()
	}
}

// lockedOut is when a launch said that it could not get its lock, and its
// words: the fault is announced a second time, and ends the launch.
func lockedOut(s *history.Server) (int64, string) {
	for _, fault := range s.Faults {
		if fault.Do == record.DoLock && fault.Breaks {
			return fault.T, fault.Detail
		}
	}
	return never, ""
}

func (f *casefile) staleHolder(s *history.Server, at int64) *history.Server {
	for _, other := range f.servers {
		older := other != s && other.Label == s.Label && other.Born < at
		holds := older && other.LivedAt(at) && holdsLock(other)
		if !holds {
			continue
		}
		state, _ := f.StateAt(other, at)
		ended := state.State == record.SessionEnded || state.State == record.SessionEnding
		if other.Session == s.Session || ended {
			return other
		}
	}
	return nil
}

func holdsLock(s *history.Server) bool {
	at, _ := lockedOut(s)
	return at < 0 && slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool { return m.Do == record.DoLock })
}

func (f *casefile) heldBreach(s, holder *history.Server, at int64, what string) *breach.Breach {
	name, by := prose.Process(s, s.Birth.Identity, ""), prose.Process(holder, holder.Birth.Identity, "")
	cause := record.CauseHeldByEnded
	if holder.Session == s.Session {
		cause = record.CauseHeldByPrevious
	}
	word := law.CauseOf(cause).Text
	until := "and was still running at the end of the file"
	if holder.Died >= 0 {
		until = fmt.Sprintf("and was gone %s later", prose.Span(holder.Died-at))
	}
	b := &breach.Breach{
		Law: "L10", Kind: "resource-held", Label: s.Label, Cause: cause, Server: s, At: []int64{holder.Born, at}, Like: word,
		Narrative: prose.Sentence(fmt.Sprintf("%s could not start (%s): %s, %s, held it %s", name, prose.Quote(what), by, word, until)),
	}
	b.SawServer(s, "", "could not start at "+prose.Clock(at), "held by "+by)
	return b
}

// lockedOut are the servers that could not start because s had what they needed: each said so, as a fault that broke it.
func (f *casefile) lockedOut(s *history.Server) []*history.Server {
	const lock = "lock"
	holds := func(m history.FaultMark) bool { return m.Do == lock && !m.Breaks }
	if !slices.ContainsFunc(s.Faults, holds) {
		return nil
	}
	var all []*history.Server
	for _, other := range f.servers {
		out := func(m history.FaultMark) bool {
			return m.Do == lock && m.Breaks && m.T >= s.Born && (s.Died < 0 || m.T < s.Died)
		}
		if other != s && other.Label == s.Label && slices.ContainsFunc(other.Faults, out) {
			all = append(all, other)
		}
	}
	return all
}

// describeLockout says so, and that their sessions were harmed by it: what failed in them from then on, this accounts for.
func (f *casefile) describeLockout(s *history.Server) string {
	var names []string
	for _, other := range f.lockedOut(s) {
		names = append(names, prose.Plain(other.ID))
		f.harm(other, other.Born)
	}
	if len(names) == 0 {
		return ""
	}
	return fmt.Sprintf("It holds what %s needed to start, and could not have.", prose.List(names))
}
