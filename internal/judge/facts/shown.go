package facts

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
)

// HadToGo says that a server had to be gone by a checkpoint while the host
// lived: without one, that nothing was left shows nothing.
func (f *Facts) HadToGo() bool {
	return slices.ContainsFunc(f.Checkpoints, func(cp *Checkpoint) bool {
		if cp.HostGone || cp.Settled == nil || !f.HostAlive(cp.SettledAt) {
			return false
		}
		host := f.HostAt(cp.SettledAt)
		return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
			return s.Born <= cp.SettledAt && f.HostOf(s) == host && (!slices.Contains(cp.Alive, s) || slices.Contains(cp.Extra, s))
		})
	})
}

// HadToBeReaped says that a server had died by a checkpoint while the host that launched it lived.
func (f *Facts) HadToBeReaped() bool {
	return slices.ContainsFunc(f.Checkpoints, func(cp *Checkpoint) bool {
		if cp.Settled == nil || !f.HostAlive(cp.SettledAt) {
			return false
		}
		host := f.HostAt(cp.SettledAt)
		return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
			return s.Died >= 0 && s.Died <= cp.SettledAt && f.HostOf(s) == host
		})
	})
}

// WasLive says that a server that worked was there for a session: without one, that nobody touched any shows nothing.
func (f *Facts) WasLive() bool {
	return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return f.Session(s.Label, s.Session) != nil && Established(s, f.Last())
	})
}
