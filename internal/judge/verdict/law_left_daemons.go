package verdict

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
)

// lessDaemon leaves out of what a command left the process that it went to the background as, with all that this one
// has launched: it has not ended, and nobody has asked it to. It is in control of a server that lives (it holds the
// write end of its stdin), and leads a session of its own, or the command had exited with 0, unasked.
func (f *casefile) lessDaemon(cp *facts.Checkpoint, h *history.Host, left []record.Process) []record.Process {
	if f.Header.Host.Kind != record.KindCommand {
		return left
	}
	byItself := h.AskedAt < 0 && h.Exit == (record.Exit{})
	controls := map[int]bool{}
	for _, p := range left {
		if f.ServerOf(p.Identity) == nil && f.holdsStdin(cp, p.Identity) && (byItself || p.SID == p.PID && p.SID != h.SID) {
			controls[p.PID] = true
			if !slices.Contains(f.Daemons, p.Identity) {
				f.Daemons = append(f.Daemons, p.Identity)
			}
		}
	}
	return slices.DeleteFunc(left, func(p record.Process) bool { return isControlled(cp.SettledRows, p, controls) })
}

// isControlled says that a process, or one above it, is in control.
func isControlled(rows history.Rows, p record.Process, controls map[int]bool) bool {
	for range rows {
		if controls[p.PID] {
			return true
		}
		parent := rows[record.Identity{PID: p.PPID}]
		if parent == nil {
			return false
		}
		p = *parent
	}
	return false
}

// holdsStdin says that a process holds the write end of a live server's stdin.
func (f *casefile) holdsStdin(cp *facts.Checkpoint, id record.Identity) bool {
	for i, e := range cp.Evidence {
		if f.ServerOf(i) == nil {
			continue
		}
		for _, d := range e.Descriptors {
			if d.FD == 0 && slices.ContainsFunc(d.Holders, func(h record.Holder) bool { return h.Identity == id && h.Mode != "read" }) {
				return true
			}
		}
	}
	return false
}
