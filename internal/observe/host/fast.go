package host

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

const (
	// silence is how long a checkpoint waits before it is said what for.
	silence = time.Duration(record.FastWait)
	// worthALine is how long the rest of a wait is at the least that is told: a shorter one is over before it is read.
	worthALine = 500 * time.Millisecond
	// fastRest is how long the end of a repetition waits, where the user wants no long waits, for servers that nobody has told to end.
	fastRest = 25 * time.Millisecond
)

// Waiting is what a checkpoint still waits for after some time.
type Waiting struct {
	Checkpoint string
	After      time.Duration // since it began
	Most       time.Duration // how much longer it waits at the most, unless the machine is busy
	Left       []string      // servers and other processes that should be gone
	Zombies    int           // processes that are dead and should be waited for
	Missing    []string      // labels of servers that should be there
}

// mostNames is how many of those that are waited for are named.
const mostNames = 4

// String says in a line what is waited for.
func (w Waiting) String() string {
	var states []string
	if len(w.Left) > 0 {
		states = append(states, fmt.Sprintf("still running after %s: %s", duration.Text(w.After), few(w.Left)))
	}
	if w.Zombies > 0 {
		states = append(states, fmt.Sprintf("not reaped after %s: %s", duration.Text(w.After), text.Count(w.Zombies, "zombie")))
	}
	if len(w.Missing) > 0 {
		states = append(states, fmt.Sprintf("no server after %s: %s", duration.Text(w.After), few(w.Missing)))
	}
	if len(states) == 0 {
		states = []string{"the ledger and the process table do not agree yet"}
	}
	return fmt.Sprintf("%s; waiting up to %.0f s longer", strings.Join(states, "; "), math.Ceil(w.Most.Seconds()))
}

// few are the first of some names.
func few(names []string) string {
	shown := names[:min(len(names), mostNames)]
	line := strings.Join(shown, ", ")
	if more := len(names) - len(shown); more > 0 {
		line += fmt.Sprintf(" and %d more", more)
	}
	return line
}

// watch is what both waits of a checkpoint have in common: for the right state, and for late ends.
type watch struct {
	begun   time.Time
	fast    *patience.Deadline // nil: the limits say how long it is waited, whatever the user wants
	settled bool               // the settle time is over
	more    time.Duration      // how long the wait after this one may be
	told    bool
}

func (r *run) newWatch() *watch {
	w := &watch{begun: time.Now(), more: r.limits.Confirm.D()}
	if r.limits.Fast > 0 {
		w.fast = &patience.Deadline{Limit: r.limits.Fast.D()}
	}
	return w
}

// see takes in the load at a look.
func (w *watch) see(l record.Load) {
	if w.fast != nil {
		w.fast.See(l)
	}
}

// left is how much longer the user wants to wait: for a process that nobody has told to end. A machine that is busy stretches that, unless
// it has stretched the whole settle time already.
func (w *watch) left(now time.Time) time.Duration {
	if w.settled {
		return w.fast.Limit - now.Sub(w.begun)
	}
	return w.fast.Left(now)
}

// within is a pause that ends no later than the wait that the user wants, and than the time at which it is said what is waited for.
func (w *watch) within(pause time.Duration, now time.Time) time.Duration {
	if left := silence - now.Sub(w.begun); left > 0 {
		pause = min(pause, left)
	}
	if w.fast == nil {
		return pause
	}
	if left := w.left(now); left > 0 {
		return min(pause, left)
	}
	return pause
}

// early says why nothing more is waited for, or "". all is what there is, and waitFor what no earlier checkpoint has waited for.
func (r *run) early(w *watch, still *patience.Freeze, cp *record.Checkpoint, all, waitFor *state, now time.Time) record.EarlyEnd {
	switch {
	case still.See(now, r.isFinal(cp, all), all.census):
		return record.EarlyFinal
	case cp.Early == "" && w.fast != nil && w.left(now) <= 0 && r.mayGiveUp(waitFor):
		return record.EarlyFast
	}
	return ""
}

// mayGiveUp says that nothing is known to be under way: no server that should be gone was told to end, nor is a session of its label
// opened or closed just now, and nothing else is wrong. A zombie has been through all that.
func (r *run) mayGiveUp(s *state) bool {
	if s.right() || len(s.missing) > 0 || s.unclear {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	busy, some := r.connecting()
	return !slices.ContainsFunc(s.extra, func(id record.Identity) bool {
		srv := r.lives.ServerOf(id)
		if srv == nil {
			return some
		}
		return busy[srv.Label] || srv.EOF != history.Never || srv.Bye != history.Never || len(srv.Signals) > 0
	})
}

// connecting are the labels of which a session is opened or closed just now, if any is. The caller holds mu.
func (r *run) connecting() (labels map[string]bool, some bool) {
	labels = map[string]bool{}
	if r.host.end {
		return labels, false
	}
	for _, s := range r.sessions {
		if s.state == record.SessionOpening || s.state == record.SessionEnding {
			labels[s.label], some = true, true
		}
	}
	return labels, some
}

// tell says once what is waited for, and for how much longer: left of this wait, and then what comes after it.
func (r *run) tell(w *watch, cp *record.Checkpoint, waitFor *state, now time.Time, left time.Duration) {
	if w.told || r.OnWait == nil || now.Sub(w.begun) < silence || waitFor.right() {
		return
	}
	most := left + w.more
	if w.fast != nil && r.mayGiveUp(waitFor) {
		most = min(most, w.left(now))
	}
	if most < worthALine {
		return
	}
	w.told = true
	wait := Waiting{Checkpoint: cp.Name, After: silence, Most: most, Zombies: len(waitFor.zombies)}
	rows := history.RowsOf(waitFor.census)
	r.locked(func() {
		for _, id := range waitFor.survivors() { // each of them once
			if !slices.Contains(waitFor.zombies, id) {
				wait.Left = append(wait.Left, r.nameOf(id, rows))
			}
		}
	})
	for _, want := range waitFor.missing {
		wait.Missing = append(wait.Missing, want.Label)
	}
	r.OnWait(wait)
}

// nameOf is what a process is called while it is waited for. The caller holds mu.
func (r *run) nameOf(id record.Identity, rows history.Rows) string {
	if s := r.lives.ServerOf(id); s != nil {
		return s.ID
	}
	if p := rows[id]; p != nil && p.Comm != "" {
		return fmt.Sprintf("%s (pid %d)", p.Comm, id.PID)
	}
	return fmt.Sprintf("pid %d", id.PID)
}
