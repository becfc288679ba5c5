// Package explore plays scenarios that nobody wrote, looks for findings that nobody knows, and makes each of them small.
package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore/cover"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Params say what is explored, and for how long.
type Params struct {
	Bench *play.Bench
	Play  play.Player // of a cell; nil is the bench's own
	Host  play.Host
	Seed  uint64
	Runs  int           // how many scenarios; 0 is as many as there is time for
	For   time.Duration // how long all of it may take; 0 is no limit. One of the two must be given
	Jobs  int           // how many at the same time; 0 is as many as the machine carries
	// Corpus is a folder of scenarios that were worth keeping: they guide, findings that they show are known, and new ones are added.
	// "" is none.
	Corpus string
	Known  []known.Entry // findings that are known anyway
	Note   func(format string, args ...any)
	// Whole keeps all runs. Otherwise those that show nothing new are removed.
	Whole bool
	// Shrink is how many findings of a law and kind are played again and made small, of those that differ in their cause.
	Shrink int
	Most   int // how many smaller scenarios are played for one of them; 0 is 160
	// Enough says that with this finding the answer is known: nothing more is played after its stretch.
	Enough func(*Found) bool
	// Again is the command line that plays a scenario of a file with a seed, and Self the one of this exploration: they head the files.
	Again func(file string, seed uint64) string
	Self  string
	// OnRun sees each scenario that was played, in their order.
	OnRun func(n int, s *scenarios.Scenario, j verdict.Judged)
}

// Doubt is a reason why scenarios could not be decided, and the first of them.
type Doubt struct {
	Code  record.DoubtCode `json:"code"`
	Count int              `json:"count"`
	Text  string           `json:"text"`
	File  string           `json:"file"`
}

// Point is how much was covered after a time.
type Point struct {
	After   record.Duration `json:"after"`
	Runs    int             `json:"runs"`
	Covered int             `json:"covered"`
}

// Result is what an exploration came to.
type Result struct {
	Host         string          `json:"host"`
	Seed         uint64          `json:"seed"`
	Runs         int             `json:"runs"`
	Clean        int             `json:"clean"`
	Inconclusive int             `json:"inconclusive"`
	Unplayed     int             `json:"unplayed"` // the host can't be asked for what they are about, or failed
	Took         record.Duration `json:"took"`
	Findings     []*Found        `json:"findings"`
	Doubts       []*Doubt        `json:"doubts"`
	Covered      int             `json:"covered"`
	Cells        int             `json:"cells"`
	Missed       []string        `json:"missed"`  // cells that scenarios aimed at several times, and no run filled
	Beyond       []string        `json:"beyond"`  // what can't be tried with the host, with the reasons
	Curve        []Point         `json:"curve"`   // once a minute
	Kept         int             `json:"kept"`    // scenarios added to the corpus
	Failure      string          `json:"failure"` // why the host could not be played on, or ""
}

const (
	// stretch is how long scenarios are played before their findings are looked into. Meanwhile a free place waits for nobody.
	stretch = 20 * time.Second
	// chunk is how many scenarios are played at least in a stretch, and in the first one, when nobody knows how fast the host is.
	chunk = 12
	// mostAtOnce is how many scenarios are made before any of them is played.
	mostAtOnce = 96
	// hopeless is after how many tries a cell counts as missed.
	hopeless = 5
)

// explorer is an exploration under way.
type explorer struct {
	Params
	result Result
	source *source
	begun  time.Time
	played time.Duration // how long the scenarios themselves took
	seen   map[cover.Cell]bool
	table  map[cover.Cell]bool
	found  map[string]*Found // by print
	doubts map[record.DoubtCode]*Doubt
	prints map[string]bool // of findings that are known
	folder string          // of scenario files
	plays  atomic.Int64    // how many runs were made
	given  bool            // the scenario was given, and is not to be found
}

// newExplorer is an explorer that has a folder and knows what is known.
func newExplorer(p Params) (*explorer, error) {
	e := &explorer{
		Params: p, begun: time.Now(), seen: map[cover.Cell]bool{}, found: map[string]*Found{},
		source: &source{}, doubts: map[record.DoubtCode]*Doubt{}, prints: map[string]bool{}, folder: filepath.Join(p.Bench.Out, "scenarios"),
	}
	if e.Note == nil {
		e.Note = func(string, ...any) {}
	}
	if e.Again == nil {
		e.Again = func(file string, seed uint64) string { return fmt.Sprintf("%s, seed %d", file, seed) }
	}
	if e.Play == nil {
		e.Play = p.Bench.One
	}
	one := e.Play
	e.Play = func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
		defer e.plays.Add(1)
		return one(ctx, c)
	}
	e.result = Result{
		Host: p.Host.Name, Seed: p.Seed, Findings: []*Found{}, Doubts: []*Doubt{}, Missed: []string{}, Beyond: []string{}, Curve: []Point{},
	}
	if err := os.MkdirAll(e.folder, 0o755); err != nil {
		return nil, &play.Misuse{Err: err, Remedy: play.OtherFolder}
	}
	e.readKnown()
	return e, nil
}

// bounded is a context that ends when the time is up. What is under way then counts as not made.
func (e *explorer) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if e.For <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadlineCause(ctx, e.begun.Add(e.For), play.ErrEnough)
}

// Run explores. What was found so far is returned with an error that ended it early.
func Run(ctx context.Context, p Params) (*Result, error) {
	e, err := newExplorer(p)
	if err != nil {
		return nil, err
	}
	ctx, stop := e.bounded(ctx)
	defer stop()
	reach, err := e.meet(ctx)
	if err != nil {
		return nil, err
	}
	e.result.Beyond = cover.Unreached(reach)
	e.source = newSource(p.Seed, reach)
	e.table = e.source.table
	if err := e.readCorpus(); err != nil {
		return nil, err
	}
	if err = e.explore(ctx); err == nil || ctx.Err() != nil {
		err = cmp.Or(err, e.examine(ctx))
	}
	e.sumUp()
	return &e.result, inTime(err)
}

// tooShort says that the time was up before anything was known.
func (e *explorer) tooShort() error {
	return &play.Misuse{Err: fmt.Errorf("%v is too short: the first run of %s was not over", e.For, e.Host.Name), Hint: "give it more time"}
}

// inTime is an error, unless it says that the time was up.
func inTime(err error) error {
	if errors.Is(err, play.ErrEnough) {
		return nil
	}
	return err
}

// meet plays the least that a host can be asked, and says what more it can.
func (e *explorer) meet(ctx context.Context) (r grammar.Reach, err error) {
	r = reachOf(e.Host.Spec) //nolint:contextcheck // what tries a place has a limit of its own
	s, err := scenarios.Parse("first.yaml", []byte(first(r)))
	if err != nil {
		return r, err
	}
	parts, not := play.Fit(e.Host, []*scenarios.Scenario{s})
	if len(not) > 0 {
		return r, &play.Misuse{Err: fmt.Errorf("%s can't be explored: %s", e.Host.Name, not[0].Why), Hint: "leakbench list hosts shows others"}
	}
	j, err := e.Play(ctx, play.Cell{Scenario: parts[0], Host: e.Host, Seed: e.Seed})
	if errors.Is(context.Cause(ctx), play.ErrEnough) {
		return r, e.tooShort()
	}
	if err != nil {
		return r, err
	}
	defer e.discard(j)
	for _, event := range j.Run.Events {
		if event.Kind == record.HostReady && event.Hello != nil {
			tell(&r, e.Host.Spec, *event.Hello)
			break
		}
	}
	return r, nil
}

// explore plays stretch by stretch. Time that was given is for scenarios first: one finding that takes minutes to become small must not
// keep the others from being found. So what is found is looked into in the last third, and scenarios take what that leaves.
func (e *explorer) explore(ctx context.Context) error {
	for n := 0; ctx.Err() == nil && !e.enough(); {
		size := e.size(n)
		if size == 0 {
			break
		}
		var all []*scenarios.Scenario
		for i := range size {
			s, err := e.make(n + i)
			if err != nil {
				return err
			}
			all = append(all, s)
		}
		begun := time.Now()
		results, err := e.playAll(ctx, all, func(i int) uint64 { return e.seedOf(n + i) })
		e.played += time.Since(begun)
		for i, j := range results {
			if ctx.Err() == nil || !cutShort(j) {
				e.look(n+i, all[i], j)
			}
		}
		n += size
		if err != nil {
			return err
		}
		if e.For == 0 || e.leftForScenarios() <= 0 {
			if err := e.examine(ctx); err != nil {
				return err
			}
		}
		e.progress()
	}
	return context.Cause(ctx)
}

// size is how many scenarios the next stretch has, after so many. It does not say which ones they are: the seed does.
func (e *explorer) size(after int) int {
	size := chunk
	left := e.For - time.Since(e.begun)
	if first := e.leftForScenarios(); first > 0 {
		left = first
	}
	switch {
	case e.For > 0 && left <= 0:
		return 0
	case e.played == 0 && e.For > 0: // a slow host shows soon what it can be asked in the time
		size = chunk / 2
	case e.played > 0:
		within := func(d time.Duration) int { return int(float64(after) * float64(d) / float64(e.played)) }
		size = min(max(chunk, within(stretch)), mostAtOnce)
		if e.For > 0 {
			size = min(size, max(1, within(left)))
		}
	}
	if e.Runs > 0 {
		size = min(size, e.Runs-after)
	}
	return size
}

// leftForScenarios is how much is left of the time in which nothing is made small.
func (e *explorer) leftForScenarios() time.Duration { return e.For*2/3 - time.Since(e.begun) }

// cutShort says of a run, or of none, that somebody has stopped the exploration before it came to anything.
func cutShort(j *verdict.Judged) bool {
	return j == nil || slices.ContainsFunc(j.Verdict.Doubts, func(d verdict.Doubt) bool { return d.Code == record.DoubtInterrupted })
}

func (e *explorer) enough() bool {
	return e.Enough != nil && slices.ContainsFunc(e.result.Findings, e.Enough)
}

// make makes the n-th scenario, and writes it where its run's command finds it.
func (e *explorer) make(n int) (*scenarios.Scenario, error) {
	s, err := e.source.next(n)
	if err != nil {
		return nil, err
	}
	s.File = filepath.Join(e.folder, s.Name+".yaml")
	return s, files.Own(s.File, 0o600, files.Text([]byte(s.Source)))
}

// seedOf is the seed of the n-th run. It fits a JSON number.
func (e *explorer) seedOf(n int) uint64 { return mix(e.Seed, uint64(n))&(1<<53-1) | 1 }

// playAll plays scenarios side by side. One that could not be played has no run.
func (e *explorer) playAll(ctx context.Context, all []*scenarios.Scenario, seed func(i int) uint64) ([]*verdict.Judged, error) {
	var made []*verdict.Judged
	unsure := map[int]bool{} // results that the crowd may have made, and that were not made sure of yet
	series := play.Series{Jobs: e.Jobs, OnRun: func(r play.Result, _ int) {
		made = append(made, r.Judged)
		unsure[r.Index] = r.Crowded() != ""
	}}
	var index []int
	for i, s := range all {
		parts, _ := play.Fit(e.Host, []*scenarios.Scenario{s})
		if len(parts) > 0 {
			series.Cells, index = append(series.Cells, play.Cell{Scenario: parts[0], Host: e.Host, Seed: seed(i)}), append(index, i)
		}
	}
	tries, _, err := series.Play(ctx, e.Play)
	results := make([]*verdict.Judged, len(all))
	for _, t := range tries {
		if ctx.Err() == nil || !unsure[t.Repeat-1] {
			results[index[t.Repeat-1]] = &t.Judged
		}
	}
	e.discardOthers(made, results)
	if errors.Is(err, context.Canceled) || ctx.Err() != nil {
		return results, context.Cause(ctx)
	}
	if err != nil && len(tries) == 0 {
		return results, err
	}
	if err != nil {
		e.result.Failure = err.Error()
	}
	return results, nil
}

// look notes what a run shows.
func (e *explorer) look(n int, s *scenarios.Scenario, j *verdict.Judged) {
	e.result.Runs++
	if j == nil {
		e.result.Unplayed++
		return
	}
	if e.OnRun != nil {
		e.OnRun(n, s, *j)
	}
	fresh := e.cover(j)
	prints, news := e.note(n, s, j)
	switch j.Verdict.Outcome {
	case verdict.Clean:
		e.result.Clean++
	case verdict.Inconclusive:
		e.result.Inconclusive++
		for _, d := range j.Verdict.Doubts {
			if e.doubts[d.Code] == nil {
				e.doubts[d.Code] = &Doubt{Code: d.Code, Text: d.Text, File: s.File}
				e.result.Doubts = append(e.result.Doubts, e.doubts[d.Code])
			}
			e.doubts[d.Code].Count++
		}
	}
	if fresh && j.Verdict.Outcome != verdict.Inconclusive || news {
		e.keep(s, prints)
	}
	if !news && j.Verdict.Outcome != verdict.Inconclusive {
		e.discard(j)
		if !e.Whole {
			_ = os.Remove(s.File)
		}
	}
}

// cover notes the cells that a run has filled, and says whether one of them was not filled before.
func (e *explorer) cover(j *verdict.Judged) (fresh bool) {
	for _, c := range cover.Seen(j.History) {
		if e.table[c] && !e.seen[c] {
			e.seen[c], fresh = true, true
		}
	}
	return fresh
}

// discard removes a run that shows nothing new.
func (e *explorer) discard(j *verdict.Judged) {
	if !e.Whole && j != nil && j.Dir != "" {
		_ = os.RemoveAll(j.Dir)
	}
}

// discardOthers removes the runs that another one, alone, took the place of.
func (e *explorer) discardOthers(made, stay []*verdict.Judged) {
	for _, j := range made {
		if j != nil && !slices.ContainsFunc(stay, func(o *verdict.Judged) bool { return o != nil && o.Dir == j.Dir }) {
			e.discard(j)
		}
	}
}

func (e *explorer) progress() {
	took := time.Since(e.begun)
	if minutes := int(took / time.Minute); minutes > len(e.result.Curve) {
		for len(e.result.Curve) < minutes {
			after := time.Duration(len(e.result.Curve)+1) * time.Minute
			e.result.Curve = append(e.result.Curve, Point{After: record.Duration(after), Runs: e.result.Runs, Covered: len(e.seen)})
		}
	}
	e.Note("%s, %s, %d of %d covered, %v\n", text.Count(e.result.Runs, "scenario"), text.Count(len(e.result.Findings), "finding"),
		len(e.seen), len(e.table), record.Duration(took.Round(time.Second)))
}

// sumUp fills in what is known at the end.
func (e *explorer) sumUp() {
	e.result.Took = record.Duration(time.Since(e.begun).Round(time.Millisecond))
	e.result.Covered, e.result.Cells = len(e.seen), len(e.table)
	for c, n := range e.source.aimed {
		if n >= hopeless && e.table[c] && !e.seen[c] {
			e.result.Missed = append(e.result.Missed, c.String())
		}
	}
	slices.Sort(e.result.Missed)
}
