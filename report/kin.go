package report

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// kin is a process below the host that is none of the ledger's servers: a
// launcher before one, a helper beside one, or neither. It is known from the
// censuses only, so its times are as exact as those are frequent.
type kin struct {
	record.Process
	first, last int64
	reaped      int64
	role        string // launcher, helper, other
	of          *fate  // the server that it belongs to, or nil
	found       bool   // a finding names it
}

// kinMost bounds them: a run file can say anything.
const kinMost = 20_000

func (s *story) readKin(run *record.Run) {
	servers, hosts := map[record.Identity]bool{}, map[int]bool{}
	byPID := map[int][]*fate{}
	for _, f := range s.fates {
		servers[f.Birth.Identity] = true
		byPID[f.Birth.PID] = append(byPID[f.Birth.PID], f)
	}
	for _, h := range s.hosts {
		hosts[h.pid] = true
	}
	index := map[record.Identity]*kin{}
	for i := range run.Events {
		e := &run.Events[i]
		switch {
		case e.Census != nil:
			for _, p := range e.Census.Processes {
				if !servers[p.Identity] && !servers[record.Identity{PID: p.PID}] && !hosts[p.PID] {
					s.seeKin(index, p, e.T)
				}
			}
		case e.Kind == record.Reaped && e.Process != nil && index[e.Process.Identity] != nil:
			index[e.Process.Identity].reaped = e.T
		}
	}
	for i := range s.Verdict.Findings {
		for k := range s.Verdict.Findings[i].Evidence {
			if one := index[s.Verdict.Findings[i].Evidence[k].Identity]; one != nil {
				one.found = true
			}
		}
	}
	s.placeKin(byPID)
}

// fate says what it is, and what became of it.
func (k *kin) fate() string {
	if k.found {
		return k.role + ", left behind"
	}
	return k.role
}

func (s *story) seeKin(index map[record.Identity]*kin, p record.Process, t int64) {
	k := index[p.Identity]
	switch {
	case k != nil:
		k.last = t
		if p.State == record.StateZombie {
			k.State = record.StateZombie
		}
	case len(s.kin) < kinMost:
		k = &kin{Process: p, first: t, last: t, reaped: never}
		index[p.Identity] = k
		s.kin = append(s.kin, k)
	}
}

// placeKin finds the server of each: the one that it started, or that is its
// parent, its group's leader or its session's. What the keeper adopted is
// placed by what it was when it was first seen.
func (s *story) placeKin(byPID map[int][]*fate) {
	lived := func(fates []*fate, k *kin) *fate {
		for _, f := range slices.Backward(fates) {
			if f.Born <= k.last && f.until >= k.first {
				return f
			}
		}
		if len(fates) > 0 {
			return fates[len(fates)-1]
		}
		return nil
	}
	children := map[int][]*fate{}
	for _, f := range s.fates {
		children[f.Birth.PPID] = append(children[f.Birth.PPID], f)
	}
	byKinPID := map[int]*kin{}
	for _, k := range s.kin {
		byKinPID[k.PID] = k
		k.role = "other"
		if f := lived(children[k.PID], k); f != nil {
			k.role, k.of = "launcher", f
			continue
		}
		for _, pid := range []int{k.PPID, k.PGID, k.SID} {
			if f := lived(byPID[pid], k); f != nil {
				k.role, k.of = "helper", f
				break
			}
		}
	}
	for range 4 { // a helper's helper, a launcher's launcher
		for _, k := range s.kin {
			if up := byKinPID[k.PPID]; k.of == nil && up != nil && up.of != nil {
				k.role, k.of = up.role, up.of
			}
		}
		for _, k := range s.kin {
			if up := byKinPID[k.PPID]; up != nil && up.of == nil && k.role == "launcher" {
				up.role, up.of = k.role, k.of
			}
		}
	}
	slices.SortStableFunc(s.kin, func(a, b *kin) int { return cmp.Compare(a.first, b.first) })
}
