package verdict

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// isBehind says that the host did not launch the server itself, but through another process: the census saw that one
// with the server's command line, or the server's script has one.
func (f *facts) isBehind(s *history.Server) bool {
	scripted := slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool {
		return m.On == record.OnStart && (m.Do == record.DoLauncher || m.Do == record.DoContainer)
	})
	return scripted || !f.IsHost(s.Birth.PPID) && f.CarriedServer(s.Birth.PPID)
}

// outOfReach says how a server behind a launcher that is gone got out of the
// reach of whoever ended the launcher: "escaped", "shielded", or "".
func (f *facts) outOfReach(s *history.Server, p record.Process) string {
	behind := f.isBehind(s)
	switch {
	case p.SID != s.Birth.SID || behind && f.leftSession(p) && p.PPID != f.launcherOf(s):
		return "escaped"
	case behind && p.PPID != f.launcherOf(s) && len(s.Signals) == 0:
		return "shielded"
	}
	return ""
}

// launcherOf is the pid of what launched a server, or 0 where that is nobody who stays: one that is forked twice has
// as its first parent a process that is on its way out, or whoever adopted it.
func (f *facts) launcherOf(s *history.Server) int {
	detached := slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool { return m.On == record.OnStart && m.Do == record.DoContainer })
	if p := s.Birth.PPID; !detached && !f.IsHost(p) && !f.IsKeeper(p) {
		return p
	}
	return 0
}

// leftSession says that a process is in a session which the host knows nothing
// of: neither its own, nor one that it gave to a server that it launched.
func (f *facts) leftSession(p record.Process) bool {
	if p.SID == p.PID {
		return true
	}
	known := slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return s.Birth.SID == p.SID && f.IsHost(s.Birth.PPID) && !f.isBehind(s)
	})
	return !known && !slices.ContainsFunc(f.lives(), func(h *history.Host) bool { return h.SID == 0 || h.SID == p.SID })
}

// launchedBy is a server that the process launched, or nil.
func (f *facts) launchedBy(pid int) *history.Server {
	for _, s := range f.servers {
		if s.Birth.PPID == pid {
			return s
		}
	}
	return nil
}

// describeReach says why a signal did not reach a process. s may be nil.
func (f *facts) describeReach(s *history.Server, p record.Process) string {
	var gone, apart string
	if s != nil && f.isBehind(s) {
		gone = "It was launched through another process, which is gone: what was ended was the launcher, and not the server behind it."
		if pid := f.launcherOf(s); pid != 0 {
			gone = fmt.Sprintf("It was launched through another process (pid %d), which is gone: what was ended was the launcher, and not the server behind it.", pid)
		}
	}
	switch {
	case f.leftSession(p) && p.SID == p.PID:
		apart = fmt.Sprintf("It is in a session of its own (sid %d): no signal to the group of what the host launched reaches it.", p.SID)
	case f.leftSession(p):
		apart = fmt.Sprintf("It was forked again in a session (sid %d) that is not the host's: no signal to the group of what the host launched reaches it, and its parent is gone.", p.SID)
	case p.PGID == p.PID:
		apart = fmt.Sprintf("It leads a process group of its own (pgid %d): a signal to the launcher's group does not reach it either.", p.PGID)
	}
	return prose.Paragraph(gone, apart)
}

// shieldFlat says of a server that outlived its session whether that is because the host ended the launcher alone.
func (f *facts) shieldFlat(cp *checkpoint, s *history.Server) (kind, why string) {
	p := cp.SettledRows[s.Birth.Identity]
	if p == nil || !f.isBehind(s) || f.launcherLives(cp, s) {
		return "", ""
	}
	if kind = f.outOfReach(s, *p); kind == "" {
		return "", ""
	}
	return kind, f.describeReach(s, *p)
}

// launcherLives says that the launcher is there still. The proxy of a server
// that is nobody's child is known by its end of the server's stdin.
func (f *facts) launcherLives(cp *checkpoint, s *history.Server) bool {
	if pid := f.launcherOf(s); pid != 0 {
		return cp.SettledRows.Alive(record.Identity{PID: pid})
	}
	e := cp.EvidenceOn(s.Birth.Identity)
	return e != nil && slices.ContainsFunc(e.Descriptors, func(d record.Descriptor) bool {
		return d.FD == 0 && slices.ContainsFunc(prose.Writers(d, e.Identity), func(h record.Holder) bool { return h.Identity != e.Identity })
	})
}

// lockedOut are the servers that could not start because s had what they needed: each said so, as a fault that broke it.
func (f *facts) lockedOut(s *history.Server) []*history.Server {
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
func (f *facts) describeLockout(s *history.Server) string {
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

// isHosts says that the host itself has started a process which is no server,
// and put it where it is: what servers and launchers start is known.
func (f *facts) isHosts(p record.Process) bool {
	return f.hostsOwn(p.Identity) && !history.CarriesServer(&p, f.header.ID)
}

// hostsOwn says that a process is a part of the host, or one that no server and
// no launcher has started. Of old files that is not known.
func (f *facts) hostsOwn(id record.Identity) bool {
	part := f.AttributionOf(id).Part
	return f.Attributed(f.Host().N) && (part == history.PartHost || part == history.PartUnknown)
}
