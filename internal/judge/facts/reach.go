package facts

import (
	"fmt"
	"math"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// isBehind says that the host did not launch the server itself, but through another process: the census saw that one
// with the server's command line, or the server's script has one. What only forked the server and was gone before its session
// ended has ended by itself, as in a double fork, and hid it from nobody.
func (f *Facts) isBehind(s *history.Server) bool {
	scripted := slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool {
		return m.Do == record.DoLauncher || m.Do == record.DoContainer
	})
	return scripted || !f.IsHost(s.Birth.PPID) && f.CarriedServer(s.Birth.PPID) && !f.isProgram(s.Birth.PPID) && !f.wasForkedTwice(s)
}

// wasForkedTwice says that what launched a server was gone before the host had a reason to end it: while its session was opened or open
// for the first time, and never seen as its parent after the server had answered.
func (f *Facts) wasForkedTwice(s *history.Server) (twice bool) {
	end := f.firstEnd(s)
	for _, look := range f.Censuses() {
		i := slices.IndexFunc(look.Processes, func(p record.Process) bool { return p.Identity == s.Birth.Identity })
		switch {
		case i < 0 || look.T >= end || !f.isGoing(s, look.T) || !f.OnWatch(look.T):
		case look.Processes[i].PPID != s.Birth.PPID:
			twice = true
		case Established(s, look.T):
			return false
		}
	}
	return twice
}

// isGoing says that the session of a server was being opened, or open, at t.
func (f *Facts) isGoing(s *history.Server, t int64) bool {
	state, _ := f.StateAt(s, t)
	return state.State == record.SessionOpening || state.State == record.SessionOpen
}

// firstEnd is when the session of a server was not open any more for the first time. It may have been launched ahead of it.
func (f *Facts) firstEnd(s *history.Server) int64 {
	begun := f.isGoing(s, s.Born)
	for _, c := range f.Changes(s) {
		ahead := c.State == record.SessionOpening && !begun
		if begun = begun || ahead; c.T > s.Born && c.State != record.SessionOpen && !ahead {
			return c.T
		}
	}
	return math.MaxInt64
}

// isProgram says that a process which has a server's command line among its own arguments is what is under test, and no launcher
// of that server: the command of a oneshot host, or a host behind a launcher of its own (npx, a shell), which has launched several.
func (f *Facts) isProgram(pid int) bool {
	launched := 0
	for _, s := range f.servers {
		if s.Birth.PPID == pid {
			launched++
		}
	}
	return launched > 1 || f.Header.Host.Kind == record.KindOneshot && slices.ContainsFunc(f.Censuses(), func(look history.Look) bool {
		return slices.ContainsFunc(look.Processes, func(p record.Process) bool { return p.PID == pid && f.IsHost(p.PPID) })
	})
}

// OutOfReach says how a process got out of the reach of whoever ended its launcher ("escaped", "shielded", or ""), and
// why no signal reached it. s is the server that it is, or nil.
func (f *Facts) OutOfReach(s *history.Server, p record.Process) (kind, why string) {
	switch behind := s != nil && f.isBehind(s); {
	case s == nil && (!f.leftSession(p) || f.isHosts(p)):
		return "", ""
	case s == nil, p.SID != s.Birth.SID, behind && f.leftSession(p) && p.PPID != f.launcherOf(s):
		return "escaped", f.describeReach(s, p)
	case behind && p.PPID != f.launcherOf(s) && len(s.Signals) == 0:
		return "shielded", f.describeReach(s, p)
	}
	return "", ""
}

// WasEscaped says that earlier versions took a process for escaped which is in the session of a launcher that the host started.
func (f *Facts) WasEscaped(s *history.Server, p record.Process) bool {
	return f.leadByLaunchers()[p.SID] && (s == nil || f.isBehind(s) && p.PPID != f.launcherOf(s))
}

// launcherOf is the pid of what launched a server, or 0 where that is nobody who stays: one that is forked twice has
// as its first parent a process that is on its way out, or whoever adopted it.
func (f *Facts) launcherOf(s *history.Server) int {
	detached := slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool { return m.Do == record.DoContainer })
	if p := s.Birth.PPID; !detached && !f.IsHost(p) && !f.IsKeeper(p) {
		return p
	}
	return 0
}

// leftSession says that a process is in a session which the host knows nothing
// of: neither its own, nor one that it gave to a server or to a launcher that it launched.
func (f *Facts) leftSession(p record.Process) bool {
	if f.leadByLaunchers()[p.SID] {
		return false
	}
	if p.SID == p.PID {
		return true
	}
	known := slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return s.Birth.SID == p.SID && f.IsHost(s.Birth.PPID) && !f.isBehind(s)
	})
	return !known && !slices.ContainsFunc(f.lives(), func(h *history.Host) bool { return h.SID == 0 || h.SID == p.SID })
}

// leadByLaunchers are the sessions whose leader is a launcher that the host started itself, by their number: that is the PID
// which the host got from the launch, so a signal to it, or to its group, arrives. Who was seen first as a child of a part of the
// host was started by it; so was, as far as anybody knows, who was seen first when the host had ended. A helper that comes home to a
// host which adopts orphans is no launcher. What a host does for one launch it does for those that were too short to be seen.
func (f *Facts) leadByLaunchers() map[int]bool {
	if f.launcherSessions != nil {
		return f.launcherSessions
	}
	f.launcherSessions = map[int]bool{}
	pids := map[int]bool{}
	f.firstSeen(func(p *record.Process, look history.Look) {
		pids[p.PID] = true
		orphan := f.IsKeeper(p.PPID) && f.HostGoing(f.HostAt(look.T), look.T)
		if p.SID == p.PID && f.isLauncher(p) && (orphan || f.partOfHost(p.PPID, look)) {
			f.launcherSessions[p.SID] = true
		}
	})
	gives := len(f.launcherSessions) > 0 || slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return s.Birth.SID == s.Birth.PID && f.IsHost(s.Birth.PPID)
	})
	for _, s := range f.servers {
		if gives && s.Birth.SID == s.Birth.PPID && !pids[s.Birth.PPID] {
			f.launcherSessions[s.Birth.SID] = true
		}
	}
	return f.launcherSessions
}

// firstSeen shows each process at the first look that saw it.
func (f *Facts) firstSeen(show func(*record.Process, history.Look)) {
	seen := map[record.Identity]bool{}
	for _, look := range f.Censuses() {
		for i := range look.Processes {
			if p := &look.Processes[i]; !seen[p.Identity] {
				seen[p.Identity] = true
				show(p, look)
			}
		}
	}
}

// isLauncher says that a process stands between the host and a server, or would have, had the server come up.
func (f *Facts) isLauncher(p *record.Process) bool {
	switch a := f.AttributionOf(p.Identity); a.Part {
	case history.PartLauncher:
		return true
	case history.PartUnknown:
		return history.CarriesServer(p, f.Header.ID)
	}
	return false
}

// partOfHost says that the process of that pid is the host, or was its worker when a look was taken.
func (f *Facts) partOfHost(pid int, look history.Look) bool {
	return f.IsHost(pid) || slices.ContainsFunc(look.Processes, func(p record.Process) bool {
		return p.PID == pid && f.AttributionOf(p.Identity).Part == history.PartHost
	})
}

// describeReach says why a signal did not reach a process. s may be nil.
func (f *Facts) describeReach(s *history.Server, p record.Process) string {
	var gone, apart string
	if s != nil && f.isBehind(s) {
		gone = "It was launched through another process, which is gone: what was ended was the launcher, and not the server behind it."
		if pid := f.launcherOf(s); pid != 0 {
			gone = fmt.Sprintf(
				"It was launched through another process (pid %d), which is gone: the host ended the launcher, not the server behind it.", pid)
		}
	}
	switch {
	case p.SID == p.PID:
		apart = fmt.Sprintf("It is in a session of its own (sid %d), where no signal to the launched process group reaches it.", p.SID)
	case f.leftSession(p):
		apart = fmt.Sprintf(
			"It was forked again in a session (sid %d) that is not the host's. "+
				"No signal to the launched process group reaches it, and its parent is gone.", p.SID)
	case p.PGID == p.PID:
		apart = fmt.Sprintf("It leads a process group of its own (pgid %d): a signal to the launcher's group does not reach it either.", p.PGID)
	}
	return prose.Paragraph(gone, apart)
}

// OutlivedLauncher says of a server that outlived its session whether that is because the host ended the launcher
// alone, as OutOfReach does.
func (f *Facts) OutlivedLauncher(cp *Checkpoint, s *history.Server) (kind, why string) {
	p := cp.SettledRows[s.Birth.Identity]
	if p == nil || !f.isBehind(s) || f.launcherLives(cp, s) {
		return "", ""
	}
	return f.OutOfReach(s, *p)
}

// launcherLives says that the launcher is there still. The proxy of a server
// that is nobody's child is known by its end of the server's stdin.
func (f *Facts) launcherLives(cp *Checkpoint, s *history.Server) bool {
	if pid := f.launcherOf(s); pid != 0 {
		return cp.SettledRows.Alive(record.Identity{PID: pid})
	}
	e := cp.EvidenceOn(s.Birth.Identity)
	return e != nil && slices.ContainsFunc(e.Descriptors, func(d record.Descriptor) bool {
		return d.FD == 0 && slices.ContainsFunc(prose.Writers(d, e.Identity), func(h record.Holder) bool { return h.Identity != e.Identity })
	})
}

// isHosts says that the host itself has started a process which is no server,
// and put it where it is: what servers and launchers start is known.
func (f *Facts) isHosts(p record.Process) bool {
	return f.hostsOwn(p.Identity) && !history.CarriesServer(&p, f.Header.ID)
}

// hostsOwn says that a process is a part of the host, or one that no server and
// no launcher has started. Of old files that is not known.
func (f *Facts) hostsOwn(id record.Identity) bool {
	part := f.AttributionOf(id).Part
	return f.Attributed(f.Host().N) && (part == history.PartHost || part == history.PartUnknown)
}
