package explore

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore/shrink"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Found is a finding, whatever server shows it.
type Found struct {
	Print    string          `json:"fingerprint"` // that of the first label
	Law      string          `json:"law"`
	Kind     string          `json:"kind"`
	Severity record.Severity `json:"severity"`
	Title    string          `json:"title"`
	Known    bool            `json:"known"`
	First    int             `json:"first"` // which scenario showed it first, from 1
	Count    int             `json:"count"` // how many did
	After    record.Duration `json:"after"` // when it was found
	// Like says that others of its law and kind were made small before it, and that it was left as it was found.
	Like bool `json:"like,omitempty"`

	Again   int            `json:"again"` // how often its scenario was played again,
	Stable  int            `json:"stable"`
	From    scenarios.Size `json:"from"`
	To      scenarios.Size `json:"to"`
	Tried   int            `json:"tried"` // how many smaller ones were played
	File    string         `json:"file"`
	Command []string       `json:"command"`
	Dir     string         `json:"dir"` // of a run that shows it
	Page    string         `json:"page"`

	search
}

// search is what playing it again needs.
type search struct {
	scenario *scenarios.Scenario
	seed     uint64
	sure     bool // its run left no doubt
	done     bool
}

// IsError says that the finding is more than a warning.
func (f *Found) IsError() bool { return f.Severity != record.SeverityWarning }

// same is the seed of each run that is to show it again.
func (f *Found) same(int) uint64 { return f.seed }

// alike says that another one is of the same law and kind.
func (f *Found) alike(o verdict.Finding) bool { return o.Law == f.Law && o.Kind == f.Kind }

func (f *Found) kind() string { return f.Law + " " + f.Kind }

const (
	// times is how often a finding is played again.
	times = 3
	// mostTried is how many smaller scenarios are played for one.
	mostTried = 160
	// side is how many of them are played side by side.
	side = 12
)

// canonical is the label under which findings are compared.
const canonical = "alpha"

// note notes the findings of a run. news says that one of them was not there before.
func (e *explorer) note(n int, s *scenarios.Scenario, j *verdict.Judged) (prints []string, news bool) {
	for i := range j.Verdict.Findings {
		f := &j.Verdict.Findings[i]
		print := f.PrintOf(canonical)
		if slices.Contains(prints, print) { // two servers show the same
			continue
		}
		prints = append(prints, print)
		known := e.found[print]
		if known == nil {
			news = true
			known = &Found{
				Print: print, Law: f.Law, Kind: f.Kind, Severity: f.Severity, Title: f.Title, First: n + 1, After: e.elapsed(),
				From: s.Size(), To: s.Size(), File: s.File, Command: j.Run.Header.Command, Dir: j.Dir, Page: e.page(j),
				Known:  e.prints[print] || e.prints[f.Fingerprint],
				search: search{scenario: s, seed: j.Run.Header.Seed, sure: len(j.Verdict.Doubts) == 0},
			}
			e.found[print] = known
			e.result.Findings = append(e.result.Findings, known)
			e.Note("%s %s: %s (scenario %d)\n", f.Law, f.Kind, f.Title, n+1)
		}
		known.Count++
	}
	return prints, news
}

// examine plays the new findings again and makes them small.
func (e *explorer) examine(ctx context.Context) error {
	for _, f := range e.result.Findings {
		if f.done || f.Known {
			continue
		}
		f.done = true
		alike := 0
		for _, o := range e.result.Findings {
			if o.done && !o.Like && o != f && o.Law == f.Law && o.Kind == f.Kind {
				alike++
			}
		}
		if f.Like = alike >= e.Shrink; f.Like {
			continue
		}
		if err := e.examineOne(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

func (e *explorer) examineOne(ctx context.Context, f *Found) error {
	e.Note("%s: run again, and made small\n", f.kind())
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
			Side: side, Most: cmp.Or(e.Most, mostTried),
			Shows: func(ctx context.Context, all []*scenarios.Scenario) ([]bool, error) {
				return e.shows(ctx, f, all, tries)
			},
		})
	}
	f.Tried = tried
	if err != nil {
		return err
	}
	return e.conclude(ctx, f, smallest)
}

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
	pool := play.Pool{Play: e.Play, Slots: min(cmp.Or(e.Jobs, play.Jobs()), side)}
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

// conclude plays the smallest scenario some more times, names it, writes it, and keeps a run of it.
func (e *explorer) conclude(ctx context.Context, f *Found, s *scenarios.Scenario) error {
	s, err := named(s, f)
	if err != nil {
		return err
	}
	s.File = filepath.Join(e.folder, s.Name+".yaml")
	s.Source = fmt.Sprintf("# %s %s on %s, found by %s (scenario %d).\n# %s\n# shows %s\n",
		f.Law, f.Kind, e.Host.Name, e.Self, f.First, e.Again(filepath.Base(s.File), f.seed), f.Print) + s.Source
	if err := files.Own(s.File, 0o600, files.Text([]byte(s.Source))); err != nil {
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
	f.To, f.File, f.scenario = s.Size(), s.File, s
	slices.Sort(prints)
	e.keep(s, slices.Compact(prints))
	e.Note("%s: %v, stable in %d of %d\n", f.kind(), f.To, f.Stable, f.Again)
	return err
}

// page writes the report of a run that is kept, and says where it is. That there is none loses nothing but the page.
func (e *explorer) page(j *verdict.Judged) string {
	if j.Dir == "" {
		return ""
	}
	with := *e.Bench
	with.Page = play.Listed
	saved, err := with.Saved(j.Dir)
	if err != nil {
		return ""
	}
	return saved.Page
}

// named is the scenario with a name and a title in words.
func named(s *scenarios.Scenario, f *Found) (*scenarios.Scenario, error) {
	again := *s
	again.Name = strings.ToLower(fmt.Sprintf("%s-%s-%s", f.Law, f.Kind, f.Print))
	again.Title = text.Clip(fmt.Sprintf("%s (%s): %s", f.Kind, f.Law, inWords(s)), 97, "...")
	made, err := scenarios.Parse(s.File, []byte(again.Text()))
	if err != nil {
		return nil, fmt.Errorf("a scenario that was read before can't be read again: %w", err)
	}
	return made, nil
}

// inWords says what happens in a scenario.
func inWords(s *scenarios.Scenario) string {
	var parts []string
	for _, v := range s.Servers {
		for _, fault := range v.Script.Faults {
			parts = append(parts, fmt.Sprintf("%s on %s", fault.Do, fault.On))
		}
	}
	servers := strings.Join(parts, " and ")
	steps := strings.Join(lists.Map(s.Steps, stepWords), ", ")
	if servers == "" {
		return steps
	}
	return steps + "; a server with " + servers
}

func stepWords(s scenarios.Step) string {
	word := string(s.Op)
	switch {
	case s.Op == record.OpBreak:
		return fmt.Sprintf("break (%s)", s.With.Do)
	case s.Op == record.OpParallel:
		lanes := lists.Map(s.Lanes, func(lane []scenarios.Step) string { return strings.Join(lists.Map(lane, stepWords), " and ") })
		return "side by side: " + strings.Join(lanes, " | ")
	case s.Op == record.OpRepeat:
		return fmt.Sprintf("%d times (%s)", s.Count, strings.Join(lists.Map(s.Steps, stepWords), ", "))
	case s.Cancel:
		return "cancelled " + word
	}
	return word
}
