package keeper

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	sweepDeadline = 10 * time.Second
	// sweepLook is how often a sweep looks again where no reaped child wakes
	// it: a process two levels down dies without a word to the keeper.
	sweepLook = 20 * time.Millisecond
	// freezeFor bounds how long a sweep stops processes before it kills them.
	freezeFor = 2 * time.Second
	// emptyLooks in a row, without a reaped child in between, end a sweep. What
	// forks and exits all the time is in no look, and comes home to be reaped.
	emptyLooks = 2
	// unrestLooks in a row that see nothing while children are reaped are what
	// the deaths of a sweep explain. More of them are somebody who forks.
	unrestLooks = 5
	// huntFor is how long newborn processes are hunted between two looks.
	huntFor = 100 * time.Millisecond
)

// errRestless says that a sweep ended before what it swept did.
var errRestless = errors.New("something below the keeper forks faster than it could be killed")

// sweeper ends processes, and what they fork meanwhile, until nothing is left.
type sweeper struct {
	look   func() ([]record.Process, error) // what is to be ended, and is there still
	reaped <-chan struct{}                  // a token after each child that was reaped; it holds one
	// isOther says that a process is none of the run's, so that the sweep does not report it. It lets another's newborn live, too.
	isOther func(record.Identity) bool
	atOnce  func() // ends all that look could see, and what that starts meanwhile; nil: there is no such call

	found    []record.Process
	seen     map[record.Identity]bool
	frozen   bool // all that was there has been stopped: now it is killed
	thawAt   time.Time
	deadline time.Time
}

// sweep returns what it found (zombies of its own children aside: they were dead), and an error when something was left
// when the time was over.
//
// Where there is a cgroup, its cgroup.kill reaches everything at once, as the end of a job does on Windows. Elsewhere all
// processes are stopped until a look shows no new one, and then killed, so that none can start another in answer to a death.
func (s *sweeper) sweep() ([]record.Process, error) {
	now := time.Now()
	s.seen, s.thawAt, s.deadline = map[record.Identity]bool{}, now.Add(freezeFor), now.Add(sweepDeadline)
	err := s.run()
	return s.found, err
}

// sweep kills everything below the keeper.
func (k *process) sweep() ([]record.Process, error) {
	k.live.Lock()
	k.swept = true
	k.live.Unlock()
	s := sweeper{reaped: k.reaped, isOther: k.isOther, look: func() ([]record.Process, error) {
		rows, err := k.rows()
		return k.endable(rows), err
	}}
	s.atOnce = k.endsAtOnce()
	return s.sweep()
}

func (s *sweeper) run() error {
	empty, unrest := 0, 0
	for {
		restless := s.wasReaped()
		rows, err := s.look()
		restless = s.wasReaped() || restless
		switch {
		case err == nil && len(rows) == 0 && !restless:
			if empty++; empty == emptyLooks {
				return nil
			}
			continue
		case time.Now().After(s.deadline):
			if len(rows) == 0 {
				return errRestless
			}
			return fmt.Errorf("%d processes could not be killed", len(rows))
		}
		empty = 0
		if s.atOnce != nil {
			s.note(rows)
			s.atOnce()
			s.frozen = true
		}
		if len(rows) > 0 {
			unrest = 0
			s.end(rows)
		} else if unrest++; unrest > unrestLooks {
			s.hunt()
		}
	}
}

// end stops what a look saw, or kills it once nothing new turns up.
func (s *sweeper) end(rows []record.Process) {
	fresh := s.note(rows)
	if !s.frozen && fresh > 0 && time.Now().Before(s.thawAt) {
		s.signal(rows, stopSignal)
		return
	}
	s.frozen = true
	s.signal(rows, syscall.SIGKILL)
	s.await()
}

// note enters what a look saw, and counts what no earlier one had seen.
func (s *sweeper) note(rows []record.Process) (fresh int) {
	for _, row := range rows {
		if s.seen[row.Identity] {
			continue
		}
		s.seen[row.Identity] = true
		zombie := row.State == record.StateZombie
		if !zombie {
			fresh++
		}
		if ownZombie := zombie && row.PPID == os.Getpid(); !ownZombie && !s.isOther(row.Identity) {
			s.found = append(s.found, row)
		}
	}
	return fresh
}

func (s *sweeper) signal(rows []record.Process, sig syscall.Signal) {
	for _, row := range rows {
		if row.State != record.StateZombie {
			_ = proc.Signal(row.Identity, sig)
		}
	}
}

// await waits for a death, but not long. The token stays for wasReaped.
func (s *sweeper) await() {
	timer := time.NewTimer(sweepLook)
	defer timer.Stop()
	select {
	case <-s.reaped:
	case <-timer.C:
	}
}

// wasReaped says that a child was reaped since it was asked last.
func (s *sweeper) wasReaped() bool {
	select {
	case <-s.reaped:
		return true
	default:
		return false
	}
}

// hunt kills newborn processes one by one: what forks and exits faster than
// the whole table can be read is met by the number that was given out last.
func (s *sweeper) hunt() {
	until := time.Now().Add(huntFor)
	for time.Now().Before(until) {
		id, below := proc.Newborn(os.Getpid())
		if !below || s.isOther(id) {
			continue
		}
		if proc.Signal(id, syscall.SIGKILL) == nil && !s.seen[id] {
			s.seen[id] = true
			s.found = append(s.found, record.Process{Identity: id, State: record.StateRunning, FDs: -1})
		}
	}
}
