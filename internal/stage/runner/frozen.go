package runner

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// frozenFor is how long nothing may have moved before a wait for it ends early: what the end of the host sets off in
	// a server, such as the end of its stdin, gets there within milliseconds.
	frozenFor = time.Second
	// frozenConfirm is the watch after that, long enough to tell a server that is busy from one that sleeps.
	frozenConfirm = 500 * time.Millisecond
	// frozenDelay is the share of the time for which the bench may have waited for a processor: on a machine that is
	// busier, something that is on its way may not have had its turn.
	frozenDelay = 0.2
)

// freeze is since when nothing at a checkpoint can change any more.
type freeze struct {
	since   time.Time
	delayed record.Duration // of the bench until then
	ids     []record.Identity
}

// see takes in a look, and says whether what it saw has been final for long enough.
func (f *freeze) see(now time.Time, final bool, s *state) bool {
	var ids []record.Identity
	for i := range s.census.Processes {
		ids = append(ids, s.census.Processes[i].Identity)
	}
	if !final || f.since.IsZero() || !slices.Equal(ids, f.ids) {
		f.since, f.delayed, f.ids = now, s.census.Load.Delayed, ids
		if !final {
			f.since = time.Time{}
		}
		return false
	}
	still := now.Sub(f.since)
	if still < frozenFor {
		return false
	}
	if float64(s.census.Load.Delayed-f.delayed) < frozenDelay*float64(still) {
		return true
	}
	f.since = time.Time{}
	return false
}

// isFinal says that nobody is left who could end what is there. The host is gone with all that it has started, but for
// fake servers and what those have started. These are the bench's own, so that it is known what they do by themselves:
// nothing, or they are on their way out.
func (r *run) isFinal(cp *record.Checkpoint, s *state) bool {
	if !cp.HostGone || len(s.extra) == 0 || len(s.zombies)+len(s.unclear) > 0 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range s.census.Processes {
		p := &s.census.Processes[i]
		srv := r.lives.ServerOf(p.Identity)
		switch {
		case srv != nil && !staysForGood(srv):
			return false
		case srv == nil && p.State != record.StateZombie && !r.isIdleHelper(p):
			return false
		}
	}
	return true
}

// staysForGood says that a server whose host is gone does not end by itself. One that was asked to end, and has not
// announced that it refuses, is on its way; one that looks after its parent may find that it is gone.
func staysForGood(s *history.Server) bool {
	refuses := func(on record.Moment) bool {
		return slices.ContainsFunc(s.Faults, func(f history.FaultMark) bool { return f.On == on && f.Passive })
	}
	leaves := slices.ContainsFunc(s.Faults, func(f history.FaultMark) bool { return f.Do == record.DoWatchdog || f.On == record.OnExit })
	switch {
	case leaves || s.Bye != history.Never:
		return false
	case s.EOF != history.Never && !refuses(record.OnEOF):
		return false
	}
	return len(s.Signals) == 0 || refuses(record.OnTerm)
}

// isIdleHelper says that a process is one of the bench's that ends with the bench, or with the server that it has launched.
func (r *run) isIdleHelper(p *record.Process) bool {
	if len(p.Args) < 3 || !history.CarriesServer(p, r.id) {
		return false
	}
	return p.Args[1] == "fakehelper" && p.Args[2] != "exit" || p.Args[1] == "fakelauncher" || p.Args[2] == fakeserver.ShellLauncher
}

// knows says that all that should not be there was waited for, and watched in full, at an earlier checkpoint.
func (r *run) knows(s *state) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := !slices.ContainsFunc(s.survivors(), func(id record.Identity) bool { return !r.waited[id] })
	return known && len(s.missing)+len(s.unclear) == 0
}
