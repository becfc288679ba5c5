package history

import (
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Host is one life of the host: it may be restarted.
type Host struct {
	record.Identity
	N       int // 1 is the first
	SID     int
	PGID    int
	Keeper  int   // the pid of its parent, to which what it orphans comes home
	Started int64 // Never: it did not start
	Exited  int64 // when it was reaped, or Never
	Exit    record.Exit
	Words   string    // the end of its stderr, where nobody had asked it to end
	AskedAt int64     // when the bench first asked it to end, or Never
	AskedOp record.Op // the step that did
	AskedBy string    // a signal, or the end of its stdin; "" over its driver
}

func newHost(n int) *Host {
	return &Host{N: n, Started: Never, Exited: Never, AskedAt: Never}
}

// Alive says that it had started and not been reaped.
func (h *Host) Alive() bool { return h.Started != Never && h.Exited == Never }

func (h *History) host(e *record.Event) {
	last := h.Host()
	if e.Kind == record.HostExited {
		last.Exited, last.Exit, last.Words = e.T, *e.Exit, e.Text
		return
	}
	if last.Started != Never {
		last = newHost(last.N + 1)
		h.hosts = append(h.hosts, last)
	}
	last.Identity, last.SID, last.PGID, last.Keeper, last.Started = e.Process.Identity, e.Process.SID, e.Process.PGID, e.Process.PPID, e.T
}

// Hosts are the lives of the host that have begun, the first one first.
func (h *History) Hosts() []*Host { return h.hosts[:h.lives()] }

// Host is the latest life of the host. Where there is none, it is one that has not started.
func (h *History) Host() *Host { return h.hosts[len(h.hosts)-1] }

func (h *History) lives() int {
	if h.hosts[0].Started == Never {
		return 0
	}
	return len(h.hosts)
}

// HostAt is the life of the host at t; before the first one, that one.
func (h *History) HostAt(t int64) *Host {
	for _, host := range slices.Backward(h.hosts) {
		if host.Started <= t {
			return host
		}
	}
	return h.hosts[0]
}

// HostOf is the life that launched a server.
func (h *History) HostOf(s *Server) *Host { return h.hosts[min(max(s.Life, 1), len(h.hosts))-1] }

// IsHost says that the pid is that of the host, in any life of it.
func (h *History) IsHost(pid int) bool {
	return slices.ContainsFunc(h.hosts, func(host *Host) bool { return host.PID == pid })
}

// IsKeeper says that the pid is that of the process to which comes home what the host orphans.
func (h *History) IsKeeper(pid int) bool {
	return slices.ContainsFunc(h.hosts, func(host *Host) bool { return host.Keeper == pid })
}

// handOver notes what a life of the host has left to the next one.
func (h *History) handOver(c *record.Census) {
	h.handed = h.lives()
	for i := range c.Processes {
		p := &c.Processes[i]
		if _, known := h.left[p.Identity]; !known && p.State != record.StateZombie {
			h.left[p.Identity], h.leftPIDs[p.PID] = h.handed, h.handed
			for _, group := range []int{p.PGID, p.SID} {
				if _, known := h.leftGroups[group]; !known && group > 0 {
					h.leftGroups[group] = h.handed
				}
			}
		}
	}
}

// lifeOf is the life of the host that a birth belongs to. What was launched before the host ended may report after
// that, and so may the server behind a launcher that was left. And a host may have launched its first server before
// it is written down that it was started.
func (h *History) lifeOf(b *record.Birth) int {
	if n, known := h.left[b.Identity]; known {
		return n
	}
	if n, known := h.leftPIDs[b.PPID]; known {
		return n
	}
	return h.Life()
}

// Life is which life of the host is under way: once one has handed over, that is the next one.
func (h *History) Life() int {
	if h.lives() == h.handed {
		return h.handed + 1
	}
	return h.lives()
}

// Leaver is the life of the host that left a process to a later life, or nil: then the process is one of that later
// one. What a left process has started since is left too: it is below it, or in the group or the session of one that
// was left, which whoever forks all the time leaves by nothing else.
func (h *History) Leaver(p record.Process, all Rows, life int) *Host {
	for range len(all) + 1 {
		n := h.left[p.Identity]
		if s := h.ServerOf(p.Identity); s != nil {
			n = s.Life
		}
		switch parent := all[record.Identity{PID: p.PPID}]; {
		case n > 0 && n < life && n <= len(h.hosts):
			return h.hosts[n-1]
		case n > 0:
			return nil
		case parent == nil || parent.Identity == p.Identity:
			return h.leaverOfGroup(p, life)
		default:
			p = *parent
		}
	}
	return nil
}

// leaverOfGroup goes by the group and the session, where those are none of the
// later life's own: the keeper's session is that of all lives.
func (h *History) leaverOfGroup(p record.Process, life int) *Host {
	later := h.hosts[min(life, len(h.hosts))-1]
	if later.SID == 0 {
		return nil // what is shared is not known
	}
	for _, group := range []int{p.PGID, p.SID} {
		shared := group == later.PID || group == later.PGID || group == later.SID || group == later.Keeper
		if n := h.leftGroups[group]; !shared && n > 0 && n < life && n <= len(h.hosts) {
			return h.hosts[n-1]
		}
	}
	return nil
}

// Unnoticed is the newest server of its label in the host's present life, where that is broken and alive.
func (h *History) Unnoticed() *Server {
	newest := map[string]bool{}
	for _, s := range slices.Backward(h.servers) {
		if s.Life != len(h.Hosts()) || newest[s.Label] {
			continue
		}
		newest[s.Label] = true
		if s.Broken != Never && s.Alive() {
			return s
		}
	}
	return nil
}
