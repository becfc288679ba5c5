package fit

import (
	"cmp"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

// Wish is what the user insists on; 0 is nothing.
type Wish struct {
	Settle, Confirm record.Duration
	Patience        record.Duration // of patient steps
	Fast            bool            // give up early what is still running
	// Plays is how often the scenario is played, as fast as the host lets it; 0 is once.
	Plays int
}

// Limits are the scenario's, with the times that the host declares for itself and those that the user insists on.
func Limits(s *scenarios.Scenario, h subject.Spec, profile record.Profile, wish Wish) record.Limits {
	l := s.Limits
	own := h.Scenarios[s.Name]
	l.Settle = cmp.Or(wish.Settle, own.Settle, profile.Settle, l.Settle)
	l.Confirm = cmp.Or(wish.Confirm, own.Confirm, profile.Confirm, l.Confirm)
	if wish.Fast { // what the host declares is known of it; the scenario's limit is for a host of which nothing is known
		l.Fast = max(record.FastWait, min(l.Settle, cmp.Or(own.Settle, profile.Settle)))
	}
	if l.Patience > 0 {
		l.Patience = cmp.Or(wish.Patience, l.Patience)
	}
	l.Close = cmp.Or(own.Close, max(l.Close, profile.Settle))
	l.Stop = cmp.Or(own.Stop, max(l.Stop, profile.Stop))
	if h.File != "" { // which says how long it may take, if only by saying nothing
		l.Stop = cmp.Or(own.Stop, profile.Stop, l.Stop)
	}
	if n := h.Launches; n > 1 {
		l.SpawnsPerSession, l.SpawnsPerMinute = l.SpawnsPerSession*n, l.SpawnsPerMinute*n
	}
	switch {
	case h.Recorded().Servers == record.PerRequest || profile.Servers == record.PerRequest:
		l.SpawnsPerSession, l.SpawnsPerMinute = 0, 0 // it is its way
	case h.SessionsUnknown() && l.SpawnsPerMinute == 0:
		l.SpawnsPerMinute = commandSpawns(s)
	}
	if own.SpawnsPerSession > 0 {
		l.SpawnsPerSession = own.SpawnsPerSession
	}
	if own.SpawnsPerMinute > 0 {
		l.SpawnsPerMinute = own.SpawnsPerMinute
	}
	l.SpawnsPerMinute *= max(1, wish.Plays)
	l.Controls = true
	return l
}

// Declared is the profile that the bench knew, with what the host itself says in its place.
func Declared(known record.Profile, said driver.Profile) record.Profile {
	p := subject.ProfileOf(said)
	p.Settle, p.Confirm, p.Stop = cmp.Or(p.Settle, known.Settle), cmp.Or(p.Confirm, known.Confirm), cmp.Or(p.Stop, known.Stop)
	p.Resident, p.Spare = max(p.Resident, known.Resident), max(p.Spare, known.Spare)
	p.Idle, p.Renewal = cmp.Or(p.Idle, known.Idle), cmp.Or(p.Renewal, known.Renewal)
	p.Servers, p.Reconnects = cmp.Or(p.Servers, known.Servers), cmp.Or(p.Reconnects, known.Reconnects)
	return p
}

// commandSpawns is how often a command may launch its server within a minute, where the scenario does not say so: its
// sessions are its own, but a host that launches a server a second for no reason is in a hot loop.
func commandSpawns(s *scenarios.Scenario) int {
	reasons := 0
	for _, step := range s.Expand() {
		if step.Op == record.OpBreak {
			reasons++
		}
	}
	return 60 + 3*reasons
}
