package server

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// zombieFor is how long a process may be a zombie: its parent may be busy.
const zombieFor = int64(2e9)

func (x *exam) judgeZombies() {
	said := map[record.Identity]bool{}
	for _, look := range x.Censuses() {
		for i := range look.Processes {
			p := &look.Processes[i]
			if p.State != record.StateZombie || p.PPID == x.host.Keeper {
				continue
			}
			since, seen := x.ZombieSince(p.Identity)
			if seen && look.T-since >= zombieFor && !said[p.Identity] {
				said[p.Identity] = true
				x.broken(&breach.Breach{
					Kind: "unreaped-child", Cause: record.CauseIdle.Of(p.Comm).As("unreaped-child"), Comm: p.Comm, At: []int64{since},
					Value: fmt.Sprintf("%s, a child of pid %d, was a zombie for %s at least",
						prose.Process(nil, p.Identity, p.Comm), p.PPID, prose.Span(look.T-since)),
				})
			}
		}
	}
}

// unsureZombie is a child that had ended shortly before the server was asked to end itself, or nil: it was waited for too late to be
// called reaped, and too soon to be called a zombie.
func (x *exam) unsureZombie() *record.Process {
	end, looks := x.first(), x.Censuses()
	last := -1
	for i := range looks {
		if end != nil && looks[i].T < end.Begun {
			last = i
		}
	}
	if last < 0 {
		return nil
	}
	for i := range looks[last].Processes {
		p := &looks[last].Processes[i]
		since, seen := x.ZombieSince(p.Identity)
		if p.State != record.StateZombie || p.PPID == x.host.Keeper || seen && looks[last].T-since >= zombieFor {
			continue
		}
		reaped := func(look *record.Census) bool {
			parent := slices.IndexFunc(rows(look), func(o record.Process) bool { return o.PID == p.PPID && o.State != record.StateZombie })
			return parent >= 0 && find(look, p.Identity) == nil
		}
		if !slices.ContainsFunc(looks[last:], func(l history.Look) bool { return reaped(l.Census) }) {
			return p
		}
	}
	return nil
}
