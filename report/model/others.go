package model

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/words"
)

// OtherProcess is a process below the host that is none of the ledger's servers: a launcher before one, a helper
// beside one, or neither.
type OtherProcess struct {
	*history.Other
	Role  string  // launcher, helper, other; of a watch, where it is alive: "server, superseded"
	Of    *Server // the server that it belongs to, or nil
	Label string  // of a watch: the command line that it belongs to, in short
	Found bool    // a finding names it
}

// othersMost bounds them: a run file can say anything.
const othersMost = 20_000

func (s *Run) readOthers() {
	index := map[record.Identity]*OtherProcess{}
	for _, other := range s.History.Others(othersMost) {
		k := &OtherProcess{Other: other}
		s.Others, index[k.Identity] = append(s.Others, k), k
	}
	for i := range s.Verdict.Findings {
		for k := range s.Verdict.Findings[i].Evidence {
			if one := index[s.Verdict.Findings[i].Evidence[k].Identity]; one != nil {
				one.Found = true
			}
		}
	}
	if s.Verdict.Watched != nil {
		s.readWatched()
		return
	}
	s.placeOthers()
}

// readWatched takes what each process is from the watch: its servers are in no ledger.
func (s *Run) readWatched() {
	children := map[record.Identity]*attach.Child{}
	for _, ch := range s.Verdict.Watched.Children {
		children[ch.Identity] = ch
	}
	for _, k := range s.Others {
		k.Role, k.Label = "ended", k.Comm
		if ch := children[k.Identity]; ch != nil {
			k.Role = words.Join(string(ch.Role), finding(ch))
			if ch.Unit != nil {
				k.Label = ch.Unit.Label
			}
		}
	}
	slices.SortStableFunc(s.Others, func(a, b *OtherProcess) int {
		return cmp.Or(cmp.Compare(a.Label, b.Label), cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
}

// Outcome says what it is, and what became of it.
func (k *OtherProcess) Outcome() string {
	if k.Found && k.Label == "" {
		return k.Role + ", left behind"
	}
	return k.Role
}

// placeOthers finds the server of each: the one that it started, or that is its parent, its group's leader or its
// session's. What the keeper adopted is placed by what it was when it was first seen.
func (s *Run) placeOthers() {
	byPID, children := map[int][]*Server{}, map[int][]*Server{}
	for _, f := range s.Servers {
		byPID[f.Birth.PID] = append(byPID[f.Birth.PID], f)
		children[f.Birth.PPID] = append(children[f.Birth.PPID], f)
	}
	othersByPID := map[int]*OtherProcess{}
	for _, k := range s.Others {
		othersByPID[k.PID] = k
		k.Role = "other"
		if f := livedBeside(children[k.PID], k); f != nil {
			k.Role, k.Of = "launcher", f
			continue
		}
		for _, pid := range []int{k.PPID, k.PGID, k.SID} {
			if f := livedBeside(byPID[pid], k); f != nil {
				k.Role, k.Of = "helper", f
				break
			}
		}
	}
	for range 4 { // a helper's helper, a launcher's launcher
		s.placeByParents(othersByPID)
	}
}

// livedBeside is the newest of some servers that lived while a process was seen, else the newest, or nil.
func livedBeside(servers []*Server, k *OtherProcess) *Server {
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

func (s *Run) placeByParents(byPID map[int]*OtherProcess) {
	for _, k := range s.Others {
		if up := byPID[k.PPID]; k.Of == nil && up != nil && up.Of != nil {
			k.Role, k.Of = up.Role, up.Of
		}
	}
	for _, k := range s.Others {
		if up := byPID[k.PPID]; up != nil && up.Of == nil && k.Role == "launcher" {
			up.Role, up.Of = k.Role, k.Of
		}
	}
}
