package play

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/scenarios"
)

// Scoring says what a scoreboard is made of, and where its runs are kept.
type Scoring struct {
	Bench
	Dir       string // folder of the cells: what is there already and still holds is not played again
	Jobs      int    // how many at the same time; 0 is as many as the machine carries
	Hosts     []Host
	Scenarios []*scenarios.Scenario
	Seed      uint64
	Command   []string // what makes the board again

	// OnPlan sees how many runs are to be played, and how many cells are there already. OnCell sees each run, and how
	// many are still to come. Calls do not overlap.
	OnPlan func(play, have int)
	OnCell func(c scoreboard.Cell, left int)
}

// Play makes the board: cells side by side, what came out inconclusive once more alone. The error says that it was
// cut short; what was played by then is kept, and the next call goes on from there.
func (s Scoring) Play(ctx context.Context) (*scoreboard.Board, error) {
	s.Page = func(...verdict.Judged) baseline.Baseline { return baseline.Baseline{} }
	b := &board{Scoring: s, cells: map[cellKey]scoreboard.Cell{}, said: map[string]string{}}
	todo, have := b.plan()
	if s.OnPlan != nil {
		s.OnPlan(len(todo), have)
	}
	pool := Pool{
		Play: b.play, Slots: s.Jobs,
		Again: func(r Result) string {
			if r.Err != nil || b.at(r.Cell).Status == scoreboard.NotApplicable {
				return ""
			}
			return r.Crowded()
		},
		Done: func(r Result, left int) {
			if r.Err != nil {
				b.note(r.Cell, fixed(scoreboard.Inconclusive, "the bench failed: "+r.Err.Error()))
			}
			if s.OnCell != nil {
				s.OnCell(b.at(r.Cell), left)
			}
		},
	}
	results, cut := pool.Run(ctx, todo)
	var failed error
	for _, r := range results {
		if cut == nil || !errors.Is(r.Err, cut) {
			failed = errors.Join(failed, r.Err)
		}
	}
	if cut != nil {
		return nil, errors.Join(cut, failed)
	}
	return b.result(), failed
}

// board is a scoreboard in the making.
type board struct {
	Scoring

	mu     sync.Mutex
	cells  map[cellKey]scoreboard.Cell
	said   map[string]string // versions, of what a host says of itself
	system record.System
}

type cellKey struct{ scenario, host string }

func (b *board) at(c Cell) scoreboard.Cell {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cells[cellKey{c.Scenario.Name, c.Host.ID}]
}

func (b *board) note(c Cell, found scoreboard.Cell) {
	b.mu.Lock()
	defer b.mu.Unlock()
	found.Scenario, found.Host = c.Scenario.Name, c.Host.ID
	b.cells[cellKey{c.Scenario.Name, c.Host.ID}] = found
}

// plan sorts out what needs no run, or no other one. What was inconclusive beside others is played once more.
func (b *board) plan() (todo []Cell, have int) {
	for _, s := range b.Scenarios {
		for _, h := range b.Hosts {
			c := Cell{Scenario: s, Host: h, Seed: b.Seed}
			_, why := fit.Cast(s, h.Spec)
			var missing *subject.Missing
			switch {
			case errors.As(h.Check(), &missing):
				b.note(c, fixed(scoreboard.NotInstalled, missing.What))
				continue
			case why != "":
				b.note(c, fixed(scoreboard.NotApplicable, why))
				continue
			}
			alone, ok := b.load(c)
			if ok {
				have++
			}
			if c.Alone = ok; !ok || b.at(c).Status == scoreboard.Inconclusive && !alone {
				todo = append(todo, c)
			}
		}
	}
	return todo, have
}

func fixed(status scoreboard.Status, why string) scoreboard.Cell {
	none := []scoreboard.Broken{}
	return scoreboard.Cell{Status: status, Reason: why, Errors: none, Warnings: none, Doubts: []record.Doubt{}}
}

// play plays a cell in a new folder, and keeps it once its file is complete.
func (b *board) play(ctx context.Context, c Cell) (*verdict.Judged, error) {
	again := b.at(c).Status != ""
	dir, err := b.newRun(c, again)
	if err != nil {
		return nil, err
	}
	var all []verdict.Judged
	parts, _ := fit.Cast(c.Scenario, c.Host.Spec)
	for _, part := range parts {
		one := c
		one.Scenario, one.Dir = part, filepath.Join(dir, partFolder(part))
		j, failed := b.One(ctx, one)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // it says nothing
		}
		if not := (*fit.NotApplicable)(nil); errors.As(failed, &not) { // as the host itself has said: it is asked again next time
			b.note(c, fixed(scoreboard.NotApplicable, not.Why))
			return nil, nil
		}
		if j == nil || j.Page == "" {
			return nil, fmt.Errorf("%s on %s: %w", part, c.Host.ID, failed)
		}
		all = append(all, *j)
	}
	return b.found(c, all, again, false), b.keep(c, dir, again)
}

// partFolder is where the run of a part is in the folder of a cell's runs.
func partFolder(part *scenarios.Scenario) string { return plain(cmp.Or(part.Part, part.Name)) }

// found notes the cell that the runs of a scenario's parts make, and is the run that decides it.
func (b *board) found(c Cell, all []verdict.Judged, again, resumed bool) (worst *verdict.Judged) {
	var found scoreboard.Cell
	for i := range all {
		j := &all[i]
		cell := scoreboard.Of(*j, c.Host.NotApplicable)
		cell.Run, cell.Page, cell.Again, cell.Resumed = j.Dir, j.Page, again, resumed
		if i == 0 {
			found, worst = cell, j
		} else if found.Add(cell) {
			worst = j
		}
	}
	b.note(c, found)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.system = worst.Run.Header.System
	if hello := worst.History.Hello(); hello != nil && hello.Version != "" {
		b.said[c.Host.ID] = hello.Version
	}
	return worst
}

func (b *board) result() *scoreboard.Board {
	out := &scoreboard.Board{
		Made: time.Now().UTC().Truncate(time.Second), Tool: b.Tool, System: b.system,
		Command: b.Command, Jobs: cmp.Or(b.Jobs, Jobs()), Omitted: []string{},
	}
	for _, h := range b.Hosts {
		shown := scoreboard.Host{ID: h.ID, Name: h.Name, Version: cmp.Or(h.Version, b.said[h.ID]), About: h.About}
		var missing *subject.Missing
		if errors.As(h.Check(), &missing) {
			shown.Missing, shown.Install = missing.What, missing.Run
		}
		out.Hosts = append(out.Hosts, shown)
	}
	for _, s := range b.Scenarios {
		out.Scenarios = append(out.Scenarios, scoreboard.Scenario{Name: s.Name, Title: s.Title, Level: s.Level})
		for _, h := range b.Hosts {
			out.Cells = append(out.Cells, b.at(Cell{Scenario: s, Host: h}))
		}
	}
	for _, name := range scenarios.Names() {
		if !slices.ContainsFunc(b.Scenarios, func(s *scenarios.Scenario) bool { return s.Name == name }) {
			out.Omitted = append(out.Omitted, name)
		}
	}
	return out
}

// cellFile stands in a cell's folder once a run of it is complete.
const cellFile = "cell.json"

// kept is what it says.
type kept struct {
	Key   string `json:"key"` // of all that the run depends on
	Run   string `json:"run"` // the folder beside it; one in it for each part
	Alone bool   `json:"alone"`
	Again bool   `json:"again"`
}

// folder is a cell's. What is no plain name gets a mark, so that two that look alike do not share one.
func (b *board) folder(c Cell) string {
	return filepath.Join(b.Dir, plain(c.Host.ID), plain(c.Scenario.Name))
}

func plain(name string) string {
	safe := onlyLetters(name, "-_.@", false)
	safe = safe[:min(len(safe), 80)]
	if safe == name && strings.Trim(safe, ".") != "" {
		return safe
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimLeft(safe, ".") + "-" + hex.EncodeToString(sum[:4])
}

// fingerprint is of all that a cell's run depends on: the tool, the host with
// its version and its files, the scenario's text, and the limits.
func (b *board) fingerprint(c Cell) (string, error) {
	spec := c.Host.Spec
	spec.Argv = append([]string{}, spec.Argv...)
	if len(spec.Argv) > 0 && spec.Argv[0] == b.Self {
		spec.Argv[0] = "leakbench" // wherever it is kept
	}
	files, program := map[string][]byte{}, ""
	if c.Host.Files != nil { // a preset's: its driver, and what pins its packages
		err := fs.WalkDir(c.Host.Files, ".", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files[path], err = fs.ReadFile(c.Host.Files, path)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	if c.Host.File == "" && c.Host.Argv[0] != b.Self {
		program = stamp(c.Host.Argv[0])
	}
	text, err := json.Marshal([]any{b.Tool, b.build(), c.Host.ID, spec, files, program, c.Scenario.Source, b.Seed, b.Limits})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// build tells builds apart of which the version does not: those of somebody who works on the bench.
func (b *board) build() string {
	if v := b.Tool.Version; v != "" && v != "(devel)" && !strings.HasSuffix(v, "+dirty") {
		return ""
	}
	return stamp(b.Self)
}

// stamp changes when a file does.
func stamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// load takes a cell from an earlier call. The run is judged again: a verdict is a function of its file.
func (b *board) load(c Cell) (alone, ok bool) {
	dir := b.folder(c)
	var k kept
	text, err := files.Small(filepath.Join(dir, cellFile))
	if err != nil || json.Unmarshal(text, &k) != nil || k.Run != filepath.Base(k.Run) {
		return false, false
	}
	if key, err := b.fingerprint(c); err != nil || key != k.Key {
		return false, false
	}
	var all []verdict.Judged
	parts, _ := fit.Cast(c.Scenario, c.Host.Spec)
	for _, part := range parts {
		j, err := Load(filepath.Join(dir, k.Run, partFolder(part)))
		if err != nil {
			return false, false
		}
		j.Page = filepath.Join(j.Dir, observe.ReportFile)
		if _, err := os.Stat(j.Page); err != nil && b.page(&j) != nil {
			return false, false
		}
		all = append(all, j)
	}
	b.found(c, all, k.Again, true)
	return k.Alone, true
}

// newRun makes the folder of the runs of a cell: of the first, in the place of whatever was there, or of the one that is played
// again. Until that one is complete, the first stays what is kept.
func (b *board) newRun(c Cell, again bool) (string, error) {
	dir, name, stale := b.folder(c), "run", []string{cellFile, "run", "alone"}
	if again {
		name, stale = "alone", []string{"alone"}
	}
	if rest, err := filepath.Rel(b.Dir, dir); err != nil {
		return "", err
	} else if err := files.NoLink(b.Dir, rest); err != nil { // what is removed below is ours alone
		return "", &Misuse{Err: err, Remedy: NoLink}
	}
	for _, old := range stale {
		if err := os.RemoveAll(filepath.Join(dir, old)); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	parts, _ := fit.Cast(c.Scenario, c.Host.Spec)
	runs := filepath.Join(dir, name)
	for _, part := range parts {
		if err := os.MkdirAll(filepath.Join(runs, partFolder(part)), 0o700); err != nil {
			return "", err
		}
	}
	return runs, nil
}

// keep says, in one step, that a cell was played.
func (b *board) keep(c Cell, dir string, again bool) error {
	key, err := b.fingerprint(c)
	if err != nil {
		return err
	}
	text, _ := json.Marshal(kept{Key: key, Run: filepath.Base(dir), Alone: c.Alone, Again: again}) // which can't fail
	path := filepath.Join(b.folder(c), cellFile)
	return files.Own(path, 0o644, files.Text(append(text, '\n')))
}
