package attach

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// census is the look as the run has it. A process that is no longer below the host stands in it with its present parent.
func (a *attachment) census() record.Census {
	host := a.family.Root
	load := a.loads.At(&record.Census{Host: &host})
	return record.Census{
		Role: record.CensusSample, Processes: slices.Concat(a.family.Below, a.family.Others), Host: &host,
		Load: &record.Load{Ran: record.Duration(processorTime()), Waited: load.Waited, Late: load.Late},
	}
}

// tell shows the look, and writes it down where it is worth it, or the last one.
func (a *attachment) tell(last bool) error {
	now, c := time.Now(), a.census()
	if a.OnLook != nil {
		a.OnLook(a.shown(now, c))
	}
	lasted := now.Sub(a.begun)
	facts := last || factsDue(now.Sub(a.toldFacts), lasted)
	if facts || rowsDue(now.Sub(a.toldRows), lasted, len(c.Processes)) {
		a.toldRows = now
		if err := a.Add(record.Event{Kind: record.CensusTaken, Census: &c}); err != nil {
			return err
		}
	}
	if facts {
		a.toldFacts = now
	}
	return a.tellFacts(facts)
}

func (a *attachment) shown(now time.Time, c record.Census) Look {
	l := Look{At: now, Census: c, Facts: map[record.Identity]Fact{a.Host: a.hostFact}}
	for id, s := range a.known {
		l.Facts[id] = s.Fact
	}
	return l
}

// tellFacts writes down the evidence that is new, or all of it.
func (a *attachment) tellFacts(all bool) error {
	var told []record.Evidence
	add := func(e *record.Evidence, written *string) {
		if still := steady(*e); e.PID != 0 && (all || still != *written) {
			*written = still
			told = append(told, *e)
		}
	}
	if h := a.hostFact.Evidence.Handles; all || h != nil && *h != a.toldHandles {
		again := ""
		add(&a.hostFact.Evidence, &again)
		if h != nil {
			a.toldHandles = *h
		}
	}
	for _, s := range a.known {
		if all || s.fresh {
			add(&s.Evidence, &s.written)
			s.fresh = false
		}
	}
	if len(told) == 0 {
		return nil
	}
	slices.SortFunc(told, func(a, b record.Evidence) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID))
	})
	return a.addFacts(told)
}

// addFacts writes down evidence that was read some time ago. The age and the idle time of each process are as of now, since the judge
// takes the times of births from them. ReadAgo says how long ago the evidence was read.
func (a *attachment) addFacts(told []record.Evidence) error {
	for i := range told {
		e := &told[i]
		if e.Age == 0 {
			continue
		}
		now := proc.AgeOf(e.Identity)
		ago := max(0, now-e.Age)
		if e.Idle != nil {
			idle := *e.Idle + ago
			e.Idle = &idle
		}
		e.Age, e.ReadAgo = now, &ago
	}
	return a.Add(record.Event{Kind: record.EvidenceTaken, Evidence: told})
}

// steady is the evidence without what is different at each look.
func steady(e record.Evidence) string {
	e.Age, e.Idle, e.RSS, e.CPU, e.IO, e.State, e.Threads, e.FDs = 0, nil, 0, 0, nil, "", 0, 0
	e.Wchan, e.Syscall, e.Handles = "", "", nil
	text, _ := json.Marshal(&e) // of plain fields
	return string(text)
}

// last takes a last look, with fresh facts of all processes.
func (a *attachment) last() error {
	a.examiner.Begin()
	for _, s := range a.known {
		s.transfer(a.table)
		s.examine(a.examiner)
	}
	for _, rows := range [][]record.Process{a.family.Below, a.family.Others} {
		for i := range rows {
			rows[i].IO = a.known[rows[i].Identity].io
		}
	}
	a.heldAnew()
	return a.tell(true)
}

// afterHost looks on at what the host has left.
func (a *attachment) afterHost(ctx context.Context, tick *time.Ticker, after time.Duration) error {
	row := a.family.Root
	if row.PID == 0 {
		row.Identity = a.Host
	}
	exited := record.Event{Kind: record.HostExited, Process: &row, Exit: &record.Exit{Code: -1}, Text: "its status can't be seen from outside"}
	if err := a.Add(exited); err != nil {
		return err
	}
	var ids []record.Identity
	for id, s := range a.known {
		if s.below {
			ids = append(ids, id)
		}
	}
	end := time.Now().Add(after)
	for {
		left := a.table.Left(ids)
		a.family = proc.Family{Root: row, Others: left}
		a.meet()
		if len(left) == 0 || time.Now().After(end) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	a.hostFact = Fact{}
	return a.lastWithoutHost()
}

func (a *attachment) lastWithoutHost() error {
	a.examiner.Begin()
	c := a.census()
	c.Host = nil
	all := []record.Evidence{}
	for _, s := range a.known {
		s.examine(a.examiner)
		all = append(all, s.Evidence)
	}
	a.examiner.Holders(all)
	if err := a.Add(record.Event{Kind: record.CensusTaken, Census: &c}); err != nil || len(all) == 0 {
		return err
	}
	return a.addFacts(all)
}
