package verdict

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeReaped is L4: what has died is waited for.
func judgeReaped(f *facts) LawResult {
	r := LawResult{Expected: "no zombie older than " + within(f.header.Limits.Settle) + " at a checkpoint"}
	if f.hosts[0].keeper == 0 {
		r.Reason = "the host did not start"
		return r
	}
	seen := map[record.Identity]bool{}
	judged := 0
	for _, cp := range f.checkpoints {
		if cp.settled == nil {
			continue
		}
		judged++
		for _, p := range cp.settled.Processes {
			if p.State != record.StateZombie || f.isKeeper(p.PPID) || f.isServersOwn(cp, p) {
				continue
			}
			if !seen[p.Identity] && f.outlasts(cp, p) {
				seen[p.Identity] = true
				f.breaches = append(f.breaches, f.zombieBreach(cp, p))
			}
			cp.explained = cp.explained || seen[p.Identity]
		}
	}
	r.Found = fmt.Sprintf("%s at %s", count(len(seen), zombieNoun), count(judged, "checkpoint"))
	if judged == 0 {
		r.Reason = "no checkpoint was completed"
	}
	return r
}

// isServersOwn says that a zombie is the child of a server. Nobody but that
// server can wait for it, and it is gone with the server.
func (f *facts) isServersOwn(cp *checkpoint, p record.Process) bool {
	return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return s.Birth.PID == p.PPID && s.Born <= cp.settledAt && (s.Died < 0 || s.Died > cp.settledAt)
	})
}

const zombieNoun = "zombie"

// deadSince is when the process died, or when it was first seen dead.
func (f *facts) deadSince(p record.Process) int64 {
	since, seen := f.zombieSince[p.Identity]
	if s := f.server(p.Identity); s != nil && s.Died >= 0 && (!seen || s.Died < since) {
		return s.Died
	}
	return since
}

// outlasts says that the zombie was no matter of the very moment.
func (f *facts) outlasts(cp *checkpoint, p record.Process) bool {
	if still := cp.confirmRows[p.Identity]; still != nil && still.State == record.StateZombie {
		return true
	}
	return f.deadSince(p) <= cp.settledAt-f.blur()
}

func (f *facts) zombieBreach(cp *checkpoint, p record.Process) *breach {
	s := f.server(p.Identity)
	b := &breach{law: "L4", kind: "zombie", server: s, cp: cp, comm: p.Comm, evidence: cp.evidenceOn(p.Identity), at: []int64{cp.settledAt}}
	since, until := f.deadSince(p), f.watchedUntil(cp)
	parent, role := f.parent(cp, p.PPID)
	b.cause = record.CauseChildOf(role)
	if s != nil {
		b.label = s.Label
		b.at = append(b.at, since)
	} else {
		b.cause = b.cause.Of(p.Comm)
	}
	name := process(s, p.Identity, p.Comm)
	b.value = fmt.Sprintf("%s: a zombie for %s, and still one", name, span(until-since))
	if cp.confirm != nil && cp.confirmRows[p.Identity] == nil {
		b.kind = "late-reaped"
		b.value = fmt.Sprintf("%s: a zombie for %s to %s", name, span(cp.settledAt-since), span(cp.confirmAt-since))
	}
	b.story = fmt.Sprintf("%s died at %s; its parent is %s, which had not waited for it %s later.", name, clock(since), parent, span(cp.settledAt-since))
	b.like = role
	return b
}

// parent names the parent of a zombie, and its role.
func (f *facts) parent(cp *checkpoint, pid int) (name, role string) {
	if f.isHost(pid) {
		return fmt.Sprintf("the host (pid %d)", pid), "host"
	}
	if p := cp.settledRows[record.Identity{PID: pid}]; p != nil {
		return fmt.Sprintf("%s (pid %d)", plain(p.Comm), pid), plain(p.Comm)
	}
	return fmt.Sprintf("pid %d", pid), "another process"
}
