package keeper

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// Attach has the keeper watch a host that it has not started. Of the processes below that host, and of its orphans, the
// keeper counts only those of this run: those with mark in their command line, what these have started, and what stands
// between these and the host. It neither reaps nor adopts any of them, and it never ends the host itself.
func (k *Keeper) Attach(ctx context.Context, host int, mark string) (record.Process, error) {
	return k.start(ctx, command{Cmd: cmdAttach, PID: host, Mark: mark})
}

// attached is a host that is not below the keeper.
type attached struct {
	host record.Identity
	mark string
	mine map[record.Identity]bool // what was seen to be of this run: a zombie has no command line any more
}

func (k *process) attach(pid int, mark string) (*record.Process, error) {
	if mark == "" {
		return nil, errors.New("no mark")
	}
	row, err := k.table.One(pid)
	if err != nil {
		return nil, err
	}
	k.attached = &attached{host: row.Identity, mark: mark, mine: map[record.Identity]bool{}}
	return &row, nil
}

// rows are the processes of the run, by pid: those below the keeper, and those of an attached host. The ledger knows some of them.
func (k *process) rows(known ...record.Identity) ([]record.Process, error) {
	rows, err := k.below()
	if err != nil || k.attached == nil {
		return rows, err
	}
	rows = slices.Clone(rows)
	own := map[int]bool{os.Getpid(): true}
	for _, p := range rows {
		own[p.PID] = true
	}
	for _, id := range known {
		k.attached.mine[id] = true
	}
	more, err := k.attached.rows(k.table, own)
	rows = append(rows, more...)
	slices.SortFunc(rows, func(a, b record.Process) int { return a.PID - b.PID })
	return rows, err
}

// rows are those of the attached host's processes that are of this run. What it orphans is below the first process of the system.
func (a *attached) rows(table *proc.Table, own map[int]bool) ([]record.Process, error) {
	all := map[int]record.Process{}
	for _, root := range []int{a.host.PID, 1} {
		rows, err := table.Below(root)
		if err != nil && !errors.Is(err, proc.ErrGone) {
			return nil, err
		}
		for _, p := range rows {
			if !own[p.PID] && p.PID != a.host.PID {
				all[p.PID] = p
			}
		}
	}
	for _, p := range all {
		if slices.ContainsFunc(p.Args, func(arg string) bool { return strings.Contains(arg, a.mark) }) {
			a.mine[p.Identity] = true
			a.claimParents(p, all)
		}
	}
	mine := map[int]bool{}
	for _, p := range all {
		if a.mine[p.Identity] {
			mine[p.PID] = true
		}
	}
	proc.AddDescendants(mine, maps.Values(all))
	var rows []record.Process
	for pid := range mine {
		rows = append(rows, all[pid])
		a.mine[all[pid].Identity] = true
	}
	return rows, nil
}

// claimParents takes in what stands between a process and the host: a shell, or a launcher like npx.
func (a *attached) claimParents(p record.Process, all map[int]record.Process) {
	var between []record.Identity
	for range len(all) {
		if p.PPID == a.host.PID {
			break
		}
		parent, there := all[p.PPID]
		if !there {
			return // an orphan
		}
		between, p = append(between, parent.Identity), parent
	}
	for _, id := range between {
		a.mine[id] = true
	}
}

// endable leaves out what a sweep can't end: the zombies of another parent.
func (k *process) endable(rows []record.Process) []record.Process {
	if k.attached == nil {
		return rows
	}
	return slices.DeleteFunc(rows, func(p record.Process) bool { return p.State == record.StateZombie && p.PPID != os.Getpid() })
}
