package model

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// OtherProcess is a process below the host that is none of the ledger's servers: a launcher before one, a helper
// beside one, or neither. It is known from the censuses only, so its times are as exact as those are frequent.
type OtherProcess struct {
	record.Process
	First, Last int64
	Reaped      int64
	Role        string  // launcher, helper, other
	Of          *Server // the server that it belongs to, or nil
	Found       bool    // a finding names it
}

// othersMost bounds them: a run file can say anything.
const othersMost = 20_000

func (s *Run) readOthers(run *record.Run) {
	servers := map[record.Identity]bool{}
	byPID := map[int][]*Server{}
	for _, f := range s.Servers {
		servers[f.Birth.Identity] = true
		byPID[f.Birth.PID] = append(byPID[f.Birth.PID], f)
	}
	index := map[record.Identity]*OtherProcess{}
	for i := range run.Events {
		e := &run.Events[i]
		switch {
		case e.Census != nil:
			for _, p := range e.Census.Processes {
				if !servers[p.Identity] && !servers[record.Identity{PID: p.PID}] && !s.History.IsHost(p.PID) {
					s.seeOther(index, p, e.T)
				}
			}
		case e.Kind == record.Reaped && e.Process != nil && index[e.Process.Identity] != nil:
			index[e.Process.Identity].Reaped = e.T
		}
	}
	for i := range s.Verdict.Findings {
		for k := range s.Verdict.Findings[i].Evidence {
			if one := index[s.Verdict.Findings[i].Evidence[k].Identity]; one != nil {
				one.Found = true
			}
		}
	}
	s.placeOthers(byPID)
}

// Outcome says what it is, and what became of it.
func (k *OtherProcess) Outcome() string {
	if k.Found {
		return k.Role + ", left behind"
	}
	return k.Role
}

func (s *Run) seeOther(index map[record.Identity]*OtherProcess, p record.Process, t int64) {
	k := index[p.Identity]
	switch {
	case k != nil:
		k.Last = t
		if p.State == record.StateZombie {
			k.State = record.StateZombie
		}
	case len(s.Others) < othersMost:
		k = &OtherProcess{Process: p, First: t, Last: t, Reaped: history.Never}
		index[p.Identity] = k
		s.Others = append(s.Others, k)
	}
}

// placeOthers finds the server of each: the one that it started, or that is its parent, its group's leader or its
// session's. What the keeper adopted is placed by what it was when it was first seen.
func (s *Run) placeOthers(byPID map[int][]*Server) {
	lived := func(servers []*Server, k *OtherProcess) *Server {
		for _, f := range slices.Backward(servers) {
			if f.Born <= k.Last && f.Until >= k.First {
				return f
			}
		}
		if len(servers) > 0 {
			return servers[len(servers)-1]
		}
		return nil
	}
	children := map[int][]*Server{}
	for _, f := range s.Servers {
		children[f.Birth.PPID] = append(children[f.Birth.PPID], f)
	}
	othersByPID := map[int]*OtherProcess{}
	for _, k := range s.Others {
		othersByPID[k.PID] = k
		k.Role = "other"
		if f := lived(children[k.PID], k); f != nil {
			k.Role, k.Of = "launcher", f
			continue
		}
		for _, pid := range []int{k.PPID, k.PGID, k.SID} {
			if f := lived(byPID[pid], k); f != nil {
				k.Role, k.Of = "helper", f
				break
			}
		}
	}
	for range 4 { // a helper's helper, a launcher's launcher
		for _, k := range s.Others {
			if up := othersByPID[k.PPID]; k.Of == nil && up != nil && up.Of != nil {
				k.Role, k.Of = up.Role, up.Of
			}
		}
		for _, k := range s.Others {
			if up := othersByPID[k.PPID]; up != nil && up.Of == nil && k.Role == "launcher" {
				up.Role, up.Of = k.Role, k.Of
			}
		}
	}
	slices.SortStableFunc(s.Others, func(a, b *OtherProcess) int { return cmp.Compare(a.First, b.First) })
}
