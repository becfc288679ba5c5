package judge2

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// Judge is a naive one, a second opinion on one question: is something left? It samples /proc by itself and shares nothing with the
// bench's own witnesses. Of the run file it reads the host's pid, the token, what checkpoints wanted, and the scenario.
type Judge struct {
	samples    []sample
	stop, over chan struct{}
	Saw        bool // the host: without that there is no opinion
}

// sample is a look that the judge has had, between two moments.
type sample struct {
	at, over time.Time
	all      Table
}

// Watch samples until End is called.
func Watch() *Judge {
	n := &Judge{stop: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(n.over)
		for {
			n.samples = append(n.samples, sharedLook())
			select {
			case <-n.stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return n
}

// End waits for the last sample.
func (n *Judge) End() { close(n.stop); <-n.over }

// Left is what should not have been there: at a checkpoint more trees than servers were wanted, after the host's end anything, late.
func (n *Judge) Left(run *record.Run) (what []string) {
	r := &memory{token: run.Header.ID, hosts: map[int]bool{}, ours: map[[2]int]bool{}}
	var ends []record.Event
	for _, e := range run.Events {
		if e.Kind == record.HostStarted {
			r.hosts[e.Process.PID], r.keeper = true, e.Process.PPID
		}
		if at := run.Header.Started.Add(time.Duration(e.T)); e.Kind == record.HostStarted || e.Kind == record.HostReady {
			r.comes = append(r.comes, coming{at, e.Kind == record.HostReady})
		}
		if e.Kind == record.CheckpointEnded && (!e.Checkpoint.HostGone || e.Checkpoint.Early != "") {
			ends = append(ends, e) // after the host's end, time decides, unless nobody waited for it
		}
	}
	beside := startedBy(run)
	own, gone := -1, time.Time{} // how many trees without a server were always there; when the host was missing
	for i, s := range n.samples {
		servers, others, alive := r.trees(s.all)
		up := r.up(s.at)
		if up && (servers > 0 || own < 0 && alive) && (own < 0 || others < own) {
			own = others
		}
		for _, e := range ends {
			t := run.Header.Started.Add(time.Duration(e.T))
			last := i+1 == len(n.samples) || n.samples[i+1].over.After(t)
			if s.over.After(t) || !last {
				continue
			}
			wanted, window := 0, max(run.Header.Limits.Quiet, e.Checkpoint.Waited-run.Played().Limits.Settle)
			for _, w := range e.Checkpoint.Wants {
				wanted += w.Live + w.Spare + max(w.Together-1, 0)
			}
			if (servers > wanted || others > max(own+wanted*beside, wanted) || e.Checkpoint.HostGone && others > 0) && t.Sub(s.at) < window.D() {
				what = append(what, fmt.Sprintf("%s: %d servers and %d others, wanted %d", e.Checkpoint.Name, servers, others, wanted))
			}
		}
		switch {
		case alive || r.first[1] == 0:
			gone = time.Time{}
		case gone.IsZero():
			gone = s.at
		case servers+others > 0 && s.at.Sub(gone) > run.Played().Limits.Settle.D():
			what = append(what, fmt.Sprintf("the end: %d servers and %d others", servers, others))
		}
	}
	n.Saw = r.first[1] != 0
	return what
}

// startedBy is how many trees the scenario has a server start beside its own.
func startedBy(run *record.Run) (most int) {
	s, err := scenarios.Parse(run.Header.Scenario.Name+".yaml", []byte(run.Header.Scenario.Source))
	if err != nil {
		return 0
	}
	for _, server := range s.Servers {
		starts := 0
		for _, f := range server.Script.Faults {
			if f.Do == "helper" {
				starts += max(1, f.Count)
			}
		}
		most = max(most, starts)
	}
	return most
}

// memory is what the judge takes from the run file, and what it remembers.
type memory struct {
	token  string
	keeper int
	hosts  map[int]bool
	comes  []coming
	first  [2]int // the first host; what was born before it is none of its doing
	ours   map[[2]int]bool
}

// coming is when a host was started, or said that it is ready.
type coming struct {
	at    time.Time
	ready bool
}

// up says that no host is about to come up: what one has of its own may not be there yet. Some never say that they are ready.
func (r *memory) up(t time.Time) bool {
	up, silent := false, true
	for _, c := range r.comes {
		silent = silent && !c.ready
		if !c.at.After(t) {
			up = c.ready
		}
	}
	return up || silent
}

// trees counts trees of living processes.
func (r *memory) trees(all Table) (servers, others int, alive bool) {
	for pid := range r.hosts {
		if p := all.Of(pid); p.Parent == r.keeper && !p.Dead {
			alive, r.ours[p.id], r.first = true, true, cmp.Or(r.first, p.id)
		}
	}
	roots, plain, attached := map[int]bool{}, map[int]bool{}, map[int]bool{} // a server behind a proxy is a tree beside that
	for _, p := range all {
		pid := p.id[1]
		orphan := r.first[1] != 0 && p.Parent == r.keeper && !strings.Contains(p.Line, "\x00bystander") && slices.Compare(p.id[:], r.first[:]) > 0
		if r.ours[p.id] = r.ours[p.id] || orphan || r.ours[all.Of(p.Parent).id]; !r.ours[p.id] || p.Dead || r.hosts[pid] {
			continue
		}
		root := pid
		for up := p.Parent; !r.hosts[up] && up != r.keeper && up > 1; up = all.Of(up).Parent {
			root = up
		}
		switch roots[root] = true; {
		case !strings.Contains(p.Line, r.token) || strings.Contains(p.Line, "\x00fakehelper"):
		case strings.Contains(p.Line, "\x00--attached"):
			attached[root] = true
		default:
			plain[root] = true
		}
	}
	return max(len(plain), len(attached)), len(roots) - len(plain) - len(attached), alive
}
