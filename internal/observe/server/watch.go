package server

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// lookMin and lookMax bound how often the census is taken while a checkpoint waits.
	lookMin = 10 * time.Millisecond
	lookMax = 100 * time.Millisecond
	// sampleEvery is how often a census is taken for the curves.
	sampleEvery = 500 * time.Millisecond
	// emptyLooks in a row, without anything below the keeper, show that all is gone: a process whose parent ends while the table is
	// read may be in none of its rows.
	emptyLooks = 2
)

// sample takes a census now and then, until what it returns is called.
func (x *exam) sample(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer bug.Ends()
		defer close(over)
		ticker := time.NewTicker(sampleEvery)
		defer ticker.Stop()
		for {
			c, err := x.Loaded(ctx)
			if err != nil {
				return // a checkpoint says so
			}
			x.EmitCensus(record.CensusSample, "", c)
			select {
			case <-ticker.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-over }
}

// reapWithin is how long a server is given to wait for a child that has ended: a little longer than the time after which the judge calls
// it unreaped.
const reapWithin = 2200 * time.Millisecond

// awaitReaping waits until each zombie that is there was waited for, or has been there for long enough: the end of the server would take
// it away, and hide whether the server would have waited for it.
func (x *exam) awaitReaping(ctx context.Context) {
	zombies := func() (ids []record.Identity, c *record.Census) {
		c, err := x.Loaded(ctx)
		if err != nil {
			return nil, nil // a checkpoint says so
		}
		for i := range c.Processes {
			if p := &c.Processes[i]; p.State == record.StateZombie && p.PPID != x.Keeper.Hello.PID {
				ids = append(ids, p.Identity)
			}
		}
		return ids, c
	}
	first, c := zombies()
	if len(first) == 0 {
		return
	}
	x.EmitCensus(record.CensusSample, "", c)
	for until := time.Now().Add(reapWithin); len(first) > 0 && rest(ctx, lookMax) == nil && !x.exited(); {
		now, c := zombies()
		if c == nil {
			return
		}
		first = slices.DeleteFunc(first, func(id record.Identity) bool { return !slices.Contains(now, id) })
		if len(first) == 0 || time.Now().After(until) {
			x.EmitCensus(record.CensusSample, "", c)
			return
		}
	}
}

// checkpoint waits until nothing of the server is left, and watches what is. It reports whether all was gone in time.
func (x *exam) checkpoint(ctx context.Context, name string) (gone bool, err error) {
	return x.checkpointWithin(ctx, name, x.Grace)
}

func (x *exam) checkpointWithin(ctx context.Context, name string, limit time.Duration) (gone bool, err error) {
	cp := record.Checkpoint{Name: name, Wants: []record.Want{}}
	x.Emit(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	begun := time.Now()
	gone, c, err := x.settle(ctx, &cp, limit)
	if err != nil {
		return false, err
	}
	x.EmitCensus(record.CensusSettled, name, c)
	if !gone {
		if _, err := x.Evidence(ctx, alive(c)); err != nil {
			return false, err
		}
		_, c, err := x.settle(ctx, &cp, x.Watch)
		if err != nil {
			return false, err
		}
		x.EmitCensus(record.CensusConfirm, name, c)
	}
	cp.Quiet, cp.Waited = gone, record.Duration(time.Since(begun))
	x.Emit(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
	return gone, nil
}

// settle looks until nothing is left, at most for the time limit.
func (x *exam) settle(ctx context.Context, cp *record.Checkpoint, limit time.Duration) (bool, *record.Census, error) {
	deadline := patience.Deadline{Limit: limit}
	defer func() { deadline.Note(cp, time.Now()) }()
	empty := 0
	for pause := lookMin; ; pause = min(2*pause, lookMax) {
		c, err := x.Loaded(ctx)
		if err != nil {
			return false, nil, err
		}
		deadline.See(*c.Load)
		if c.Host == nil && len(c.Processes) == 0 && x.exited() {
			if empty++; empty == emptyLooks {
				return true, c, nil
			}
			pause = lookMin
		} else {
			empty = 0
		}
		left := deadline.Left(time.Now())
		if left <= 0 && empty == 0 {
			return false, c, nil
		}
		if err := rest(ctx, min(pause, max(left, lookMin))); err != nil {
			return false, nil, err
		}
	}
}

// rest waits for a while.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (x *exam) exited() bool {
	select {
	case <-x.gone:
		return true
	default:
		return false
	}
}

// alive are the processes that a census shows, without those that have ended.
func alive(c *record.Census) (ids []record.Identity) {
	if c.Host != nil {
		ids = append(ids, c.Host.Identity)
	}
	for i := range c.Processes {
		if c.Processes[i].State != record.StateZombie {
			ids = append(ids, c.Processes[i].Identity)
		}
	}
	return ids
}

// behind are the processes other than the one that was started that have its stdin and its stdout: where it is a launcher, the
// server is one of them.
func behind(found []record.Evidence, root record.Identity) (ids []record.Identity) {
	var stdin, stdout string
	for i := range found {
		if found[i].Identity == root {
			stdin, stdout = target(&found[i], 0), target(&found[i], 1)
		}
	}
	for i := range found {
		if e := &found[i]; e.Identity != root && stdin != "" && target(e, 0) == stdin && target(e, 1) == stdout {
			ids = append(ids, e.Identity)
		}
	}
	return ids
}

func target(e *record.Evidence, fd int) string {
	for i := range e.Descriptors {
		if e.Descriptors[i].FD == fd {
			return cmp.Or(e.Descriptors[i].Target, "?")
		}
	}
	return ""
}
