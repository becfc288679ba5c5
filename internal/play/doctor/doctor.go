// Package doctor tells what this machine and this user can see of a run and
// do to it. It tries each thing rather than to conclude it from a version: a
// container, a mount option or a policy takes away what the kernel has.
//
// Look gathers facts, Diagnose turns them into lines; only Look touches the
// machine.
package doctor

import (
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// State is what a check comes to.
type State string

// The states. Weaker means that runs work and see or do less; Missing that
// something is not there at all.
const (
	OK      State = "ok"
	Weaker  State = "weaker"
	Missing State = "missing"
)

// Check is one line.
type Check struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Found string `json:"found"`
	Means string `json:"means,omitempty"` // the consequence, where it is not ok
	Do    string `json:"do,omitempty"`    // what to do about it
}

// Facts are what was found. An empty error is "it works"; what was not tried
// on this system is in Untried.
type Facts struct {
	System  record.System
	Witness record.Witness // as a real run had it; as far as known where that failed
	Untried map[string]bool

	Pidfd, SockDiag, Cgroup      string // errors
	UserSpace, PIDSpace, LastPID string // errors
	Hidden, HiddenAdvice         string // error: what /proc does not show
	Own, Other                   Sight
	Yama                         string // ptrace_scope; "" where there is no Yama
	Files, Processes             Limit
	PIDMax                       int
	TicksPerSecond               int
	Init                         Init
	Sockets                      Sockets
	Disk                         Disk
	Peers                        []Peer
	Trial                        Trial
}

// Sight is what could be read of a process.
type Sight struct {
	Who    string   // "pid 1 (systemd) of user 0"
	Unseen []string // empty: everything
}

// Limit is a resource limit; 0 is unlimited.
type Limit struct{ Soft, Hard uint64 }

// Init is the process that gets what nobody adopts.
type Init struct {
	Name      string
	Zombies   int  // below it, for longer than it can take to reap one
	Container bool // the machine says so itself
}

// Sockets is where a run's sockets would be.
type Sockets struct {
	Wanted, Dir string // $TMPDIR's folder, and the one that was taken
	Length, Max int    // of the longest path
	Error       string
}

// Disk is where runs are saved.
type Disk struct {
	Dir   string
	Free  uint64
	Error string
}

// Peer is a program that hosts are written for.
type Peer struct{ Name, Path, Version, Error string }

// Trial is a real run.
type Trial struct {
	Took    time.Duration
	Outcome string
	Why     string // where the outcome is not clean
	Error   string
}

// Works says that runs work here.
func Works(checks []Check) bool {
	for _, c := range checks {
		if c.Name == trialName {
			return c.State != Missing
		}
	}
	return false
}
