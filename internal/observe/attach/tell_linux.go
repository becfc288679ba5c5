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
func (w *watcher) census() record.Census {
	host := w.family.Root
	return record.Census{
		Role: record.CensusSample, Processes: slices.Concat(w.family.Below, w.family.Others), Host: &host,
		Load: &record.Load{Ran: record.Duration(processorTime())},
	}
}

// tell shows the look, and writes it down where it is worth it, or the last one.
func (w *watcher) tell(last bool) error {
	now, c := time.Now(), w.census()
	if w.OnLook != nil {
		w.OnLook(w.shown(now, c))
	}
	lasted := now.Sub(w.begun)
	facts := last || factsDue(now.Sub(w.toldFacts), lasted)
	if facts || rowsDue(now.Sub(w.toldRows), lasted, len(c.Processes)) {
		w.toldRows = now
		if err := w.Add(record.Event{Kind: record.CensusTaken, Census: &c}); err != nil {
			return err
		}
	}
	if facts {
		w.toldFacts = now
	}
	return w.tellFacts(facts)
}

func (w *watcher) shown(now time.Time, c record.Census) Look {
	l := Look{At: now, Census: c, Facts: map[record.Identity]Fact{w.Host: w.hostFact}}
	for id, s := range w.known {
		l.Facts[id] = s.Fact
	}
	return l
}

// tellFacts writes down the evidence that is new, or all of it.
func (w *watcher) tellFacts(all bool) error {
	var told []record.Evidence
	add := func(e *record.Evidence, written *string) {
		if still := steady(*e); e.PID != 0 && (all || still != *written) {
			*written = still
			told = append(told, *e)
		}
	}
	if h := w.hostFact.Evidence.Handles; all || h != nil && *h != w.toldHandles {
		again := ""
		add(&w.hostFact.Evidence, &again)
		if h != nil {
			w.toldHandles = *h
		}
	}
	for _, s := range w.known {
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
	return w.addFacts(told)
}

// addFacts writes evidence down. It was read some time ago: how old each process is, and how long it has been idle, is told as of now,
// since the judge takes the times of births from it, and how long ago that was read beside it.
func (w *watcher) addFacts(told []record.Evidence) error {
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
	return w.Add(record.Event{Kind: record.EvidenceTaken, Evidence: told})
}

// steady is the evidence without what is different at each look.
func steady(e record.Evidence) string {
	e.Age, e.Idle, e.RSS, e.CPU, e.IO, e.State, e.Threads, e.FDs = 0, nil, 0, 0, nil, "", 0, 0
	e.Wchan, e.Syscall, e.Handles = "", "", nil
	text, _ := json.Marshal(&e) // of plain fields
	return string(text)
}

// last takes a last look, with fresh facts of all processes.
func (w *watcher) last() error {
	w.examiner.Begin()
	for _, s := range w.known {
		s.transfer(w.table)
		s.examine(w.examiner)
	}
	for _, rows := range [][]record.Process{w.family.Below, w.family.Others} {
		for i := range rows {
			rows[i].IO = w.known[rows[i].Identity].io
		}
	}
	w.heldAnew()
	return w.tell(true)
}

// afterHost looks on at what the host has left.
func (w *watcher) afterHost(ctx context.Context, tick *time.Ticker, after time.Duration) error {
	row := w.family.Root
	if row.PID == 0 {
		row.Identity = w.Host
	}
	exited := record.Event{Kind: record.HostExited, Process: &row, Exit: &record.Exit{Code: -1}, Text: "its status can't be seen from outside"}
	if err := w.Add(exited); err != nil {
		return err
	}
	var ids []record.Identity
	for id, s := range w.known {
		if s.below {
			ids = append(ids, id)
		}
	}
	end := time.Now().Add(after)
	for {
		left := w.table.Left(ids)
		w.family = proc.Family{Root: row, Others: left}
		w.meet()
		if len(left) == 0 || time.Now().After(end) || ctx.Err() != nil {
			break
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	w.hostFact = Fact{}
	return w.lastWithoutHost()
}

func (w *watcher) lastWithoutHost() error {
	w.examiner.Begin()
	c := w.census()
	c.Host = nil
	all := []record.Evidence{}
	for _, s := range w.known {
		s.examine(w.examiner)
		all = append(all, s.Evidence)
	}
	w.examiner.Holders(all)
	if err := w.Add(record.Event{Kind: record.CensusTaken, Census: &c}); err != nil || len(all) == 0 {
		return err
	}
	return w.addFacts(all)
}
