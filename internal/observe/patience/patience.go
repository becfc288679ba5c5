// Package patience says how long to wait for what a host has left: when more waiting can't change anything, and how much longer a wait
// is on a machine whose processors are busy.
package patience

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// still is how long nothing may have moved before a wait for it ends early: what the end of the host sets off in a
	// server, such as the end of its stdin, gets there within milliseconds.
	still = time.Second
	// Watch is how long it is watched after that: long enough to tell a server that is busy from one that sleeps.
	Watch = 500 * time.Millisecond
	// mostDelay is the share of the time for which the bench may have waited for a processor, if it waited longer than it
	// ran: on a machine that is busier, something that is on its way may not have had its turn.
	mostDelay = 0.2
)

// Freeze is since when nothing at a checkpoint can change any more.
type Freeze struct {
	since   time.Time
	delayed record.Duration // of the bench until then
	ran     record.Duration // likewise
	ids     []record.Identity
}

// See takes in a census, and says whether what it shows has been final for long enough.
func (f *Freeze) See(now time.Time, final bool, c *record.Census) bool {
	var ids []record.Identity
	for i := range c.Processes {
		ids = append(ids, c.Processes[i].Identity)
	}
	if !final || f.since.IsZero() || !slices.Equal(ids, f.ids) {
		f.since, f.delayed, f.ran, f.ids = now, c.Load.Delayed, c.Load.Ran, ids
		if !final {
			f.since = time.Time{}
		}
		return false
	}
	took := now.Sub(f.since)
	if took < still {
		return false
	}
	if float64(c.Load.Delayed-f.delayed) < mostDelay*float64(took) || c.Load.Delayed-f.delayed < c.Load.Ran-f.ran {
		return true
	}
	f.since = time.Time{}
	return false
}

// IsFinal says of what is left after the host's end that nobody is there who could end it: nothing but fake servers of
// the run and what those have started. These are the bench's own, so that it is known what they do by themselves:
// nothing, or they are on their way out.
func IsFinal(l *history.History, c *record.Census, run string) bool {
	for i := range c.Processes {
		p := &c.Processes[i]
		switch s := l.ServerOf(p.Identity); {
		case s != nil && !stays(s):
			return false
		case s == nil && p.State != record.StateZombie && !idles(p, run):
			return false
		}
	}
	return true
}

// stays says that a server whose host is gone does not end by itself. One that was asked to end, and has not announced
// that it refuses, is on its way; one that looks after its parent may find that it is gone.
func stays(s *history.Server) bool {
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

// idles says that a process is one of the bench's that ends with the bench, or with the server that it has launched.
func idles(p *record.Process, run string) bool {
	if len(p.Args) < 3 || !history.CarriesServer(p, run) {
		return false
	}
	return p.Args[1] == "fakehelper" && p.Args[2] != "exit" || p.Args[1] == "fakelauncher" || p.Args[2] == fakeserver.ShellLauncher
}
