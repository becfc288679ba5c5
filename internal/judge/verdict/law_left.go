package verdict

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeLeft is L2: once the host has ended, nothing of it is there any more.
func judgeLeft(f *casefile) LawResult {
	r := LawResult{Expected: "no process of the run left " + prose.Span(f.Header.Limits.Settle) + " after the host ended"}
	seen, told := map[record.Identity]bool{}, f.toldOfCommands()
	for _, cp := range f.Checkpoints {
		now := f.HostAt(cp.Begun)
		if cp.Settled == nil || !cp.HostGone && now.N == 1 {
			continue
		}
		left := f.lessDaemon(cp, now, f.leftAt(cp, now))
		f.Explained[cp] = f.Explained[cp] || len(left)+len(f.Daemons) > 0
		value := prose.Plain(cp.Name) + ": " + text.Count(len(left), "process") + " left"
		if !cp.HostGone {
			value += " by an earlier life of the host"
		}
		r.Values = append(r.Values, value)
		for _, p := range left {
			if !seen[p.Identity] && !told[p.Identity] {
				seen[p.Identity] = true
				f.Broken(f.leftBreach(cp, p))
			}
		}
	}
	r.Found = text.Count(len(seen), "process") + " left"
	switch {
	case len(r.Values) == 0:
		r.Reason = "no checkpoint was completed after the host's end"
	case len(f.Daemons) > 0 && len(seen) == 0:
		r.Reason = "the host went to the background, where it was not asked to exit"
	}
	return r
}

// toldOfCommands are the survivors of commands that L1 has told of: what has ended since is the bench's own scheduler.
func (f *casefile) toldOfCommands() map[record.Identity]bool {
	if f.Header.Host.Kind != record.KindOneshot {
		return nil
	}
	told := map[record.Identity]bool{}
	for _, b := range f.Breaches {
		switch {
		case b.Law != "L1":
		case b.Server != nil:
			told[b.Server.Birth.Identity] = true
		default:
			told[b.Process] = true
		}
	}
	return told
}

// leftAt are the processes that were alive when the settle time was over, or came up after that, the lowest pid
// first. While the host lives on in a later life, only what an earlier one has left counts.
func (f *casefile) leftAt(cp *facts.Checkpoint, now *history.Host) []record.Process {
	var left []record.Process
	take := func(p record.Process, all history.Rows) {
		there := p.State != record.StateZombie && !f.IsCommandsConsole(p, all)
		if there && p.Identity != now.Identity && (cp.HostGone || f.Leaver(p, all, now.N) != nil) {
			left = append(left, p)
		}
	}
	for _, p := range cp.Settled.Processes {
		take(p, cp.SettledRows)
	}
	if cp.Confirm != nil {
		for _, p := range cp.Confirm.Processes {
			take(p, cp.ConfirmRows)
		}
	}
	for _, s := range cp.Extra {
		if !f.Header.Witness.Subreaper && !cp.SettledRows.Alive(s.Birth.Identity) {
			b := s.Birth
			take(record.Process{Identity: b.Identity, PPID: b.PPID, PGID: b.PGID, SID: b.SID, State: record.StateUnknown, FDs: -1}, cp.SettledRows)
		}
	}
	slices.SortStableFunc(left, func(a, b record.Process) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Start, b.Start))
	})
	return slices.CompactFunc(left, func(a, b record.Process) bool { return a.Identity == b.Identity })
}

func (f *casefile) leftBreach(cp *facts.Checkpoint, p record.Process) *breach.Breach {
	s, e := f.ServerOf(p.Identity), cp.EvidenceOn(p.Identity)
	if e == nil && p.State != record.StateUnknown {
		e = &record.Evidence{Process: p}
	}
	b := &breach.Breach{Law: "L2", Server: s, Checkpoint: cp, Comm: p.Comm, Evidence: cp.EvidenceOn(p.Identity), At: []int64{cp.SettledAt}}
	b.Kind = f.leftKind(s, p, e, cp.Spins(p.Identity), cp.WatchedUntil)
	if b.Host = f.Leaver(p, cp.SettledRows, f.HostAt(cp.Begun).N); b.Host == nil {
		b.Host = f.HostAt(cp.Begun)
	}
	b.Cause = ending(b.Host)
	if s != nil {
		b.Label = s.Label
		b.At = append(b.At, s.Born)
	} else {
		b.Cause = b.Cause.Of(p.Comm)
	}
	if (b.Kind == "helper" || b.Kind == "shielded") && f.WasEscaped(s, p) {
		b.Was.Kind, b.Was.Cause = "escaped", b.Cause
	}
	if b.Kind == "eof-withheld" && f.WithheldByItsOwn(s, e) {
		b.Was.Kind, b.Was.Cause = f.leftKind(s, p, nil, false, cp.WatchedUntil), b.Cause
	}
	about := f.aboutLeft(b, p)
	f.giveUp(b, cp, &about)
	seen := f.lasted(cp, p)
	if p.RSS > 0 {
		seen = append(seen, prose.Mebibytes(p.RSS))
	}
	b.Saw(s, p.Identity, p.Comm, "", seen...)
	says, like := prose.Survivor(s, e, cp.WatchedUntil, prose.Known{Signals: f.Signals(), Busy: b.Kind == "spinner"})
	b.Narrative, b.Like = prose.Paragraph(says, about, f.control(s)), like
	return b
}

// aboutLeft says what is to be known of a process that was left, besides what it does.
func (f *casefile) aboutLeft(b *breach.Breach, p record.Process) string {
	switch {
	case b.Kind == "spinner":
		return usedCPU(b.Checkpoint, p.Identity)
	case b.Kind == "shielded" || b.Kind == "escaped":
		_, why := f.OutOfReach(b.Server, p)
		return why
	case b.Server != nil:
		return ""
	}
	if of := f.launchedBy(p); of != nil {
		return fmt.Sprintf("It is a launcher: it stands between the host and %s.", prose.Plain(of.ID))
	}
	return "The ledger knows no server with this PID: a server, a launcher or the host started it." + commandOf(p)
}

// usedCPU says how busy a process was. A small share is no contradiction where it has had to share.
func usedCPU(cp *facts.Checkpoint, id record.Identity) string {
	used := fmt.Sprintf("It used %d%% of a CPU while it was watched", int(100*cp.Load(id)))
	if cp.Contended(id) {
		return used + ": it was ready to run at both looks, and other processes wanted the CPUs too."
	}
	return used + "."
}

// lasted says how long it was there.
func (f *casefile) lasted(cp *facts.Checkpoint, p record.Process) []string {
	s := f.ServerOf(p.Identity)
	switch {
	case s != nil && s.Died >= 0 && s.Died <= cp.WatchedUntil:
		return []string{"gone " + prose.Span(s.Died-cp.Begun) + " after the checkpoint began"}
	case cp.Confirm != nil && !cp.ConfirmRows.Alive(p.Identity):
		return []string{"gone between " + prose.Span(cp.SettledAt-cp.Begun) + " and " + prose.Span(cp.ConfirmAt-cp.Begun) +
			" after the checkpoint began"}
	}
	still := []string{"still running " + prose.Span(cp.WatchedUntil-cp.Begun) + " after the checkpoint began"}
	if cp.Early == record.EarlyFinal {
		still = append(still, "and nobody was left who could end it")
	}
	return still
}

// leftKind says how it got away.
func (f *casefile) leftKind(s *history.Server, p record.Process, e *record.Evidence, spins bool, until int64) string {
	away, _ := f.OutOfReach(s, p)
	if s == nil {
		return cmp.Or(away, "helper")
	}
	keeps := f.Hold(s, e, until)
	switch {
	case keeps == "stopped":
		return keeps
	case spins:
		return "spinner"
	case away != "":
		return away
	case keeps != "":
		return keeps
	case signalled(s, until):
		return "not-escalated"
	case watchdogged(s):
		return "watchdog-blind"
	case s.EOF >= 0:
		return "deaf"
	}
	return "orphan"
}

// watchdogged says that a watchdog of the server's own had looked after its parent, and did not end it.
func watchdogged(s *history.Server) bool {
	return slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool { return m.Do == record.DoWatchdog })
}

func describeLeft(f *casefile, group []*breach.Breach, d *description) {
	b := group[0]
	d.head, d.cause = prose.Sentence(prose.Capital(prose.HostEnd(b.Host, len(f.Hosts()) < 2))), law.CauseOf(ending(b.Host))
	if b.Server == nil && !law.KindOf(b.Kind).Early {
		d.kind = "helper"
	}
}

// commandOf is the command line of a process whose name does not say it: that of its first thread may be another.
func commandOf(p record.Process) string {
	if len(p.Args) == 0 || strings.HasPrefix(path.Base(p.Args[0]), p.Comm) || len(p.Args) > 1 && p.Args[1] == "fakehelper" {
		return ""
	}
	return " Its command line: " + prose.Plain(strings.Join(p.Args[1:], " ")) + "."
}

// ending is how the host ended, as a cause.
func ending(h *history.Host) record.Cause {
	switch {
	case h.AskedOp == record.OpKill || h.Exit.Signal == "SIGKILL":
		return record.CauseHostKilled
	case h.AskedAt >= 0:
		return record.CauseHostAsked
	}
	return record.CauseHostEnded
}

// launchedBy is a server that the process launched, or that was launched by what it launched, or nil.
func (f *casefile) launchedBy(p record.Process) *history.Server {
	if a := f.AttributionOf(p.Identity); a.Part == history.PartLauncher {
		return a.Server
	}
	for _, s := range f.servers {
		if s.Birth.PPID == p.PID {
			return s
		}
	}
	return nil
}
