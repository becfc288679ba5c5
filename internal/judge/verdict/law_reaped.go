package verdict

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeReaped is L4: what has died is waited for.
func judgeReaped(f *casefile) LawResult {
	r := LawResult{Expected: "no zombie older than " + prose.Span(f.Header.Limits.Settle) + " at a checkpoint"}
	switch {
	case f.HostAt(never).Keeper == 0:
		r.Reason = "the host did not start"
		return r
	case !f.Zombies():
		r.Reason = "Windows has no zombies"
		return r
	}
	seen := map[record.Identity]bool{}
	judged := 0
	for _, cp := range f.Checkpoints {
		if cp.Settled == nil {
			continue
		}
		judged++
		for _, p := range cp.Settled.Processes {
			if p.State == record.StateZombie && !f.IsKeeper(p.PPID) && !f.isServersOwn(cp, p) {
				f.zombieAt(cp, p, seen)
			}
		}
	}
	r.Found = fmt.Sprintf("%s at %s", text.Count(len(seen), zombieNoun), text.Count(judged, "checkpoint"))
	if judged == 0 {
		r.Reason = "no checkpoint was completed"
	}
	return r
}

// zombieAt reports a zombie that a checkpoint has found, unless it was told of.
func (f *casefile) zombieAt(cp *facts.Checkpoint, p record.Process, told map[record.Identity]bool) {
	if !told[p.Identity] && f.outlasts(cp, p) {
		told[p.Identity] = true
		if b := f.zombieBreach(cp, p); b.Kind == "late-reaped" {
			f.Late(b, breach.Took{
				From: max(cp.Begun, f.deadSince(p)), To: f.lastSeenDead(cp, p.Identity), Limit: f.Header.Limits.Settle.D(),
			})
		} else {
			f.Broken(b)
		}
	}
	f.Explained[cp] = f.Explained[cp] || told[p.Identity]
}

// isServersOwn says that a zombie is the child of a server. Nobody but that
// server can wait for it, and it is gone with the server.
func (f *casefile) isServersOwn(cp *facts.Checkpoint, p record.Process) bool {
	return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return s.Birth.PID == p.PPID && s.LivedAt(cp.SettledAt)
	})
}

const zombieNoun = "zombie"

// deadSince is when the process died, or when it was first seen dead.
func (f *casefile) deadSince(p record.Process) int64 {
	since, seen := f.ZombieSince(p.Identity)
	if s := f.ServerOf(p.Identity); s != nil && s.Died >= 0 && (!seen || s.Died < since) {
		return s.Died
	}
	return since
}

// outlasts says that the zombie was no matter of the very moment.
func (f *casefile) outlasts(cp *facts.Checkpoint, p record.Process) bool {
	if still := cp.ConfirmRows[p.Identity]; still != nil && still.State == record.StateZombie {
		return true
	}
	return f.deadSince(p) <= cp.SettledAt-f.Blur()
}

func (f *casefile) zombieBreach(cp *facts.Checkpoint, p record.Process) *breach.Breach {
	s := f.ServerOf(p.Identity)
	b := &breach.Breach{
		Law: "L4", Kind: "zombie", Server: s, Checkpoint: cp, Comm: p.Comm, Evidence: cp.EvidenceOn(p.Identity), At: []int64{cp.SettledAt},
	}
	since, until := f.deadSince(p), cp.WatchedUntil
	parent, role := f.parent(cp, p.PPID)
	b.Cause = record.CauseChildOf(role)
	if s != nil {
		b.Label = s.Label
		b.At = append(b.At, since)
	} else {
		b.Cause = b.Cause.Of(p.Comm)
	}
	name := prose.Process(s, p.Identity, p.Comm)
	seen := []string{"a zombie for " + prose.Span(until-since), "and still one"}
	if cp.Confirm != nil && cp.ConfirmRows[p.Identity] == nil {
		b.Kind = "late-reaped"
		until = cp.SettledAt
		seen = []string{"a zombie for " + prose.Span(until-since) + " to " + prose.Span(cp.ConfirmAt-since)}
	}
	givenUp := b.Kind == "zombie" && cp.Early == record.EarlyFast
	if at, gone := f.reapedLater(cp, p); b.Kind == "zombie" && gone && !givenUp {
		b.Kind, b.Was.Kind, b.Was.Cause = "late-reaped", b.Kind, b.Cause
		seen = []string{"a zombie for " + prose.Span(until-since) + " to " + prose.Span(at-since)}
	}
	b.Took = breach.Took{From: since, To: until, Limit: f.Header.Limits.Settle.D()}
	b.Saw(s, p.Identity, p.Comm, "", seen...)
	b.Narrative = fmt.Sprintf("%s died at %s; its parent is %s, which had not waited for it %s later.",
		name, prose.Clock(since), parent, prose.Span(cp.SettledAt-since))
	b.Like = role
	if givenUp {
		f.giveUpZombie(b)
	}
	return b
}

// reapedLater is when a look first saw, after a checkpoint, that a zombie was waited for after all: while the same life of the
// host went on, or as that ended. What nobody waits for comes home to the keeper then, which says so.
func (f *casefile) reapedLater(cp *facts.Checkpoint, p record.Process) (t int64, gone bool) {
	host := f.HostAt(cp.SettledAt)
	for _, look := range f.Censuses() {
		going := !f.OnWatch(look.T)
		if look.T <= cp.SettledAt || f.HostAt(look.T) != host || going && (f.CutShort() || !f.belowKeeper(host) || f.cameHome(p.Identity)) {
			continue
		}
		if !slices.ContainsFunc(look.Processes, func(o record.Process) bool { return o.Identity == p.Identity }) {
			return look.T, true
		}
	}
	return 0, false
}

// belowKeeper says that nothing stands between the keeper and a life of the host: what nobody waits for comes home to the keeper.
// The twins are always the keeper's own. Of a PID namespace, which a server shows that claims another PID than the kernel's, nothing
// comes home: it goes with its process 1, zombies and all (pid_namespaces(7)).
func (f *casefile) belowKeeper(h *history.Host) bool {
	if slices.ContainsFunc(f.servers, func(s *history.Server) bool { return s.Birth.Claimed != 0 && f.HostAt(s.Born) == h }) {
		return false
	}
	return slices.ContainsFunc(f.Events(), func(e record.Event) bool {
		return e.Kind == record.BystanderSeen && e.Text == record.StandsAsTwin && e.Process.PPID == h.Keeper
	})
}

// cameHome says that the keeper has waited for a process, or found it in its last sweep.
func (f *casefile) cameHome(id record.Identity) bool {
	_, swept := f.Swept()[id]
	return swept || slices.ContainsFunc(f.Events(), func(e record.Event) bool {
		return e.Kind == record.Reaped && e.Process.Identity == id
	})
}

// lastSeenDead is when a look saw a zombie that was waited for later last.
func (f *casefile) lastSeenDead(cp *facts.Checkpoint, id record.Identity) int64 {
	last := cp.SettledAt
	for _, look := range f.Censuses() {
		dead := slices.ContainsFunc(look.Processes, func(p record.Process) bool { return p.Identity == id && p.State == record.StateZombie })
		if dead {
			last = max(last, look.T)
		}
	}
	return last
}

// parent names the parent of a zombie, and its role.
func (f *casefile) parent(cp *facts.Checkpoint, pid int) (name, role string) {
	if f.IsHost(pid) {
		return fmt.Sprintf("the host (pid %d)", pid), "host"
	}
	if p := cp.SettledRows[record.Identity{PID: pid}]; p != nil {
		return fmt.Sprintf("%s (pid %d)", prose.Plain(p.Comm), pid), prose.Plain(p.Comm)
	}
	return fmt.Sprintf("pid %d", pid), "another process"
}
