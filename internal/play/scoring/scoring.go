// Package scoring plays the cells of a scoreboard: side by side, what came out
// inconclusive once more alone, and only what has not been played before.
package scoring

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play/scoreboard"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/scenarios"
)

// Params say what is played, and where it is kept.
type Params struct {
	Self      string // the program, which is also the fake server, the keeper and the built-in hosts
	Dir       string // folder of the cells: what is there already and still holds is not played again
	Jobs      int    // how many at the same time; 0 is 1
	Tool      record.Tool
	Hosts     []Host
	Scenarios []*scenarios.Scenario
	Seed      uint64
	Settle    record.Duration // 0: what the host's profile or the scenario says
	Confirm   record.Duration // likewise
	Start     record.Duration // how long a host may take to come up; 0: the bench's default

	Command []string                                     // what makes the board again
	Again   func(s *scenarios.Scenario, h Host) []string // what plays a cell again
	Page    func(path string, j verdict.Judged) error    // renders a run's report

	// OnPlan sees how many runs are to be played, and how many cells are there
	// already. OnCell sees each run, and how many are still to come. Calls do not
	// overlap.
	OnPlan func(play, have int)
	OnCell func(c scoreboard.Cell, left int)
}

// Host is a host with what names it on a command line.
type Host struct {
	ID string
	host.Spec
}

// Play makes the board. The error says that it was cut short; what was played
// by then is kept, and the next call goes on from there.
func Play(ctx context.Context, p Params) (*scoreboard.Board, error) {
	b := &board{Params: p, cells: map[cellKey]scoreboard.Cell{}, said: map[string]string{}}
	b.plan()
	b.parallel(ctx, max(1, p.Jobs))
	b.alone(ctx)
	if ctx.Err() != nil {
		return nil, errors.Join(context.Cause(ctx), b.failed)
	}
	return b.result(), b.failed
}

// board is a scoreboard in the making.
type board struct {
	Params

	todo  []cell
	doubt []cell // to be played once more, alone

	mu     sync.Mutex
	cells  map[cellKey]scoreboard.Cell
	said   map[string]string // versions, of what a host says of itself
	system record.System
	left   int // runs to be played
	have   int // cells that an earlier call has played
	failed error
}

type cellKey struct{ scenario, host string }

type cell struct {
	play *scenarios.Scenario
	host Host
}

func (c cell) key() cellKey { return cellKey{c.play.Name, c.host.ID} }

// plan sorts out what needs no run.
func (b *board) plan() {
	for _, s := range b.Scenarios {
		for _, h := range b.Hosts {
			c := cell{s, h}
			why := h.Spec.Scenarios[s.Name].NotApplicable
			var missing *host.Missing
			switch {
			case errors.As(h.Check(), &missing):
				b.cells[c.key()] = fixed(scoreboard.NotInstalled, missing.What)
			case why != "":
				b.cells[c.key()] = fixed(scoreboard.NotApplicable, why)
			default:
				b.find(c)
			}
		}
	}
	b.left = len(b.todo) + len(b.doubt)
	if b.OnPlan != nil {
		b.OnPlan(b.left, b.have)
	}
}

func fixed(status scoreboard.Status, why string) scoreboard.Cell {
	return scoreboard.Cell{Status: status, Reason: why, Errors: []scoreboard.Broken{}, Warnings: []scoreboard.Broken{}, Doubts: []record.Doubt{}}
}

// find takes a cell from an earlier call, or puts it on the list.
func (b *board) find(c cell) {
	found, alone, ok := b.load(c)
	switch {
	case !ok:
		b.todo = append(b.todo, c)
		return
	case found.Status == scoreboard.Inconclusive && !alone:
		b.doubt = append(b.doubt, c)
	}
	found.Resumed = true
	b.have++
	b.cells[c.key()] = found
}

func named(s scoreboard.Cell, c cell) scoreboard.Cell {
	s.Scenario, s.Host = c.play.Name, c.host.ID
	return s
}

// parallel plays what is on the list. Runs see neither each other's processes
// nor each other's orphans: each has a keeper and a ledger of its own.
func (b *board) parallel(ctx context.Context, jobs int) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, jobs)
	for _, c := range b.todo {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			b.one(ctx, c, jobs == 1)
		})
	}
	wg.Wait()
}

// alone gives what was inconclusive a machine without other runs: time limits
// are a host's, and a crowd may have used them up.
func (b *board) alone(ctx context.Context) {
	for _, c := range b.doubt {
		if ctx.Err() != nil {
			return
		}
		b.one(ctx, c, true)
	}
}

// one plays a cell, and takes note of what it came to.
func (b *board) one(ctx context.Context, c cell, alone bool) {
	found, err := b.play(ctx, c, alone)
	if ctx.Err() != nil {
		return // cut short: it says nothing
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	if err != nil {
		b.failed = errors.Join(b.failed, err)
		found = fixed(scoreboard.Inconclusive, "the bench failed: "+err.Error())
		alone = true
	}
	b.cells[c.key()] = found
	if found.Status == scoreboard.Inconclusive && !alone {
		b.doubt = append(b.doubt, c)
		b.left++
	}
	if b.OnCell != nil {
		b.OnCell(named(found, c), b.left)
	}
}

func (b *board) result() *scoreboard.Board {
	out := &scoreboard.Board{Made: time.Now().UTC().Truncate(time.Second), Tool: b.Tool, System: b.system, Command: b.Command, Jobs: max(1, b.Jobs)}
	for _, h := range b.Hosts {
		sh := scoreboard.Host{ID: h.ID, Name: h.Name, Version: h.Version, About: h.About}
		var missing *host.Missing
		if errors.As(h.Check(), &missing) {
			sh.Missing, sh.Install = missing.What, missing.Run
		}
		if v := b.said[h.ID]; sh.Version == "" {
			sh.Version = v
		}
		out.Hosts = append(out.Hosts, sh)
	}
	for _, s := range b.Scenarios {
		out.Scenarios = append(out.Scenarios, scoreboard.Scenario{Name: s.Name, Title: s.Title})
		for _, h := range b.Hosts {
			c := cell{s, h}
			if found, ok := b.cells[c.key()]; ok {
				out.Cells = append(out.Cells, named(found, c))
			}
		}
	}
	return out
}
