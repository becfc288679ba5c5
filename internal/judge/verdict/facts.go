package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const never = history.Never

// facts is what a run tells, and what the judges have made of it so far.
type facts struct {
	*history.History
	header    record.Header // with the limits that the host was played under
	truncated string

	servers     []*history.Server // in the order of their births
	checkpoints []*checkpoint
	cycles      []*cycle
	keeperAt    int64 // when the keeper was lost

	breaches    []*breach
	excused     []excuse             // breaches that may be the machine's
	harmed      map[sessionKey]int64 // when L3 found the session harmed
	connections int                  // servers that may be connections of their own
	daemons     []record.Identity
	blamed      map[int]bool // numbers of the steps whose failure a law explains
	doubts      []Doubt
}

type sessionKey struct{ label, name string }

func sessionOf(s *history.Server) sessionKey { return sessionKey{s.Label, s.Session} }

// gather digests a run.
func gather(run *record.Run) *facts {
	f := &facts{
		History: history.Of(run), header: run.Played(), truncated: run.Truncated,
		harmed: map[sessionKey]int64{}, blamed: map[int]bool{}, keeperAt: never,
	}
	f.servers = f.Servers()
	for _, e := range slices.Backward(f.Doubts()) {
		if e.Doubt.Code == record.DoubtKeeperLost {
			f.keeperAt = e.T
		}
	}
	for _, look := range f.Censuses() {
		if c := look.Cycle; look.Role == record.CensusCycle && c != nil {
			f.cycles = append(f.cycles, f.cycleOf(*c, fmt.Sprintf("cycle %d", c.N), look))
		}
	}
	f.replay()
	return f
}

// isCommand says that the host's sessions are not known to the bench.
func (f *facts) isCommand() bool { return f.header.Host.SessionsUnknown() }

// cutShort says that the run did not get to its end.
func (f *facts) cutShort() bool { return f.End() != nil && !f.Done() }

// left counts what outlived the host: what the last look saw, and what the keeper swept. A sweep that took the host
// as well shows nothing: the bench ended it all before its time.
func (f *facts) left() int {
	left := map[record.Identity]bool{}
	for _, cp := range slices.Backward(f.checkpoints) {
		if census := cmp.Or(cp.Confirm, cp.Settled); cp.HostGone && census != nil {
			for _, p := range census.Processes {
				left[p.Identity] = p.State != record.StateZombie
			}
			break
		}
	}
	if _, all := f.Swept()[f.Host().Identity]; !all {
		for id, p := range f.Swept() {
			left[id] = left[id] || p.State != record.StateZombie
		}
	}
	n := 0
	for _, is := range left {
		if is {
			n++
		}
	}
	return n
}

// established says that the server had answered a handshake or a call by t. A modern client need not shake hands.
func established(s *history.Server, t int64) bool {
	if s.Established >= 0 && s.Established <= t {
		return true
	}
	return slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Answered >= 0 && c.Answered <= t })
}

// brokenBy says that a fault had made the server useless by t.
func brokenBy(s *history.Server, t int64) bool { return s.Broken >= 0 && s.Broken <= t }

// breakingFault is the fault that made it useless, or nil.
func breakingFault(s *history.Server) *record.Fault {
	if mark := s.Break(); mark != nil {
		return &mark.Fault
	}
	return nil
}
