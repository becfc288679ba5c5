package explore

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore/shrink"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

const (
	// times is how often a finding is played again.
	times = 3
	// mostTried is how many smaller scenarios are played for one.
	mostTried = 160
	// side is how many of them are played side by side.
	side = 12
)

// examine plays the new findings again and makes them small. Those for which there is no time say how to go on.
func (e *explorer) examine(ctx context.Context) (err error) {
	for _, f := range e.result.Findings {
		if f.done || f.Known && !e.given {
			continue
		}
		f.done, f.Like = true, e.likeOthers(f)
		if f.Like {
			continue
		}
		if err = cmp.Or(err, context.Cause(ctx)); err == nil {
			err = e.examineOne(ctx, f)
		}
		if err != nil {
			f.Again, f.Next = 0, f.goOn()
		}
	}
	return err
}

// likeOthers says that enough others of its law and kind were made small before it.
func (e *explorer) likeOthers(f *Found) bool {
	alike := 0
	for _, o := range e.result.Findings {
		if o.done && !o.Like && o != f && o.kind() == f.kind() {
			alike++
		}
	}
	return alike >= e.Shrink
}

// goOn is the command line that makes a finding small, or smaller.
func (f *Found) goOn() []string {
	c := record.ReadCommand(f.Command)
	c.Scenario, c.Seed = f.File, f.seed
	words := c.Words()
	words[1] = "shrink"
	return words
}

func (e *explorer) examineOne(ctx context.Context, f *Found) error {
	e.Note("%s: run again, and made small\n", f.kind())
	told := e.tell(f)
	defer told.stop()
	again, err := e.playAll(ctx, slices.Repeat([]*scenarios.Scenario{f.scenario}, times), f.same)
	if err != nil {
		return err
	}
	stable := e.count(f, again)
	tries := 1
	if stable < times { // what shows now and then is given more chances to show
		tries = times
	}
	smallest, tried := f.scenario, 0
	if stable > 0 {
		smallest, tried, err = shrink.Smallest(ctx, f.scenario, shrink.Params{
			Side: e.side(), Most: cmp.Or(e.Most, mostTried), Smaller: told.smaller,
			Shows: func(ctx context.Context, all []*scenarios.Scenario) ([]bool, error) {
				return e.shows(ctx, f, all, tries)
			},
		})
	}
	f.Tried = tried
	told.stop()
	if err != nil {
		if tried > 0 && smallest != f.scenario {
			_, failed := e.write(f, smallest)
			err = cmp.Or(failed, err)
		}
		return err
	}
	return e.conclude(ctx, f, smallest)
}

// side is how many scenarios are tried side by side.
func (e *explorer) side() int { return min(cmp.Or(e.Jobs, play.Jobs()), side) }

// count is how many runs show a finding. They are not kept.
func (e *explorer) count(f *Found, runs []*verdict.Judged) (n int) {
	for _, j := range runs {
		if e.has(f, j) {
			n++
		}
		e.discard(j)
	}
	return n
}

// has says that a run shows a finding of the same law and kind, with as little doubt as there was.
func (e *explorer) has(f *Found, j *verdict.Judged) bool {
	return j != nil && (!f.sure || len(j.Verdict.Doubts) == 0) && slices.ContainsFunc(j.Verdict.Findings, f.alike)
}

// shows says which scenarios show the finding, in one of some tries. One that runs beside it may have made is looked for alone.
func (e *explorer) shows(ctx context.Context, f *Found, all []*scenarios.Scenario, tries int) ([]bool, error) {
	var cells []play.Cell
	var index []int
	for i, s := range slices.Repeat(all, tries) {
		s.File = filepath.Join(e.folder, s.Name+".yaml")
		if parts, _ := play.Fit(e.Host, []*scenarios.Scenario{s}); len(parts) > 0 {
			cells, index = append(cells, play.Cell{Scenario: parts[0], Host: e.Host, Seed: f.seed}), append(index, i%len(all))
		}
	}
	shown := make([]bool, len(all))
	pool := play.Pool{Play: e.Play, Slots: e.side()}
	pool.Again = func(r play.Result) (why string) {
		if e.has(f, r.Judged) {
			why = r.Pushed(f.alike)
		}
		if why != "" {
			e.discard(r.Judged)
		}
		return why
	}
	results, err := pool.Run(ctx, cells)
	for i, r := range results {
		if last := i+1 == len(results) || results[i+1].Index != r.Index; last && e.has(f, r.Judged) {
			shown[index[r.Index]] = true
		}
		e.discard(r.Judged)
	}
	return shown, err
}

// write names a smaller scenario and writes it.
func (e *explorer) write(f *Found, s *scenarios.Scenario) (*scenarios.Scenario, error) {
	s, err := named(s, f)
	if err != nil {
		return nil, err
	}
	s.File = filepath.Join(e.folder, s.Name+".yaml")
	origin := fmt.Sprintf("found by %s (scenario %d)", e.Self, f.First)
	if e.given {
		origin = "made by " + e.Self
	}
	s.Source = fmt.Sprintf("# %s %s on %s, %s.\n# %s\n# shows %s\n",
		f.Law, f.Kind, e.Host.Name, origin, e.Again(filepath.Base(s.File), f.seed), f.Print) + s.Source
	if err := files.Own(s.File, 0o600, files.Text([]byte(s.Source))); err != nil {
		return nil, err
	}
	f.To, f.File, f.scenario = s.Size(), s.File, s
	return s, nil
}

// conclude plays the smallest scenario some more times, writes it, and keeps a run of it.
func (e *explorer) conclude(ctx context.Context, f *Found, s *scenarios.Scenario) error {
	s, err := e.write(f, s)
	if err != nil {
		return err
	}
	runs, err := e.playAll(ctx, slices.Repeat([]*scenarios.Scenario{s}, times), f.same)
	f.Again, f.Stable = len(runs), 0
	prints := []string{f.Print}
	for _, j := range runs {
		if !e.has(f, j) {
			e.discard(j)
			continue
		}
		if f.Stable++; f.Stable > 1 {
			e.discard(j)
			continue
		}
		f.Dir, f.Page, f.Command = j.Dir, e.page(j), j.Run.Header.Command
		shown := j.Verdict.Findings[slices.IndexFunc(j.Verdict.Findings, f.alike)]
		f.Title, prints = shown.Title, append(prints, shown.PrintOf(canonical))
	}
	slices.Sort(prints)
	e.keep(s, slices.Compact(prints))
	if err != nil {
		return err
	}
	e.Note("%s: %v, stable in %d of %d\n", f.kind(), f.To, f.Stable, f.Again)
	return nil
}

// tellEvery is how often somebody who waits is told how small a finding has become.
const tellEvery = 3 * time.Second

// telling says how far it is, until it is stopped.
type telling struct {
	stop func()
	mu   sync.Mutex
	size scenarios.Size
}

func (e *explorer) tell(f *Found) *telling {
	t := &telling{size: f.From}
	done, begun, before := make(chan struct{}), time.Now(), e.plays.Load()
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				t.mu.Lock()
				size := t.size
				t.mu.Unlock()
				e.Note("%s: now %v, after %s in %v\n", f.kind(), size, text.Count(int(e.plays.Load()-before), "more run"),
					time.Since(begun).Round(time.Second))
			}
		}
	})
	t.stop = sync.OnceFunc(func() { close(done); wg.Wait() })
	return t
}

func (t *telling) smaller(s *scenarios.Scenario) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size = s.Size()
}
