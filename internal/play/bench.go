// Package play plays scenarios against hosts and judges what was saved: one play (Bench), many side by side (Pool), a
// scenario several times (Series), and all that a scoreboard needs (Scoring).
package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/page"
	"github.com/leakbench/leakbench/scenarios"
)

// Bench is what the plays of one command have in common.
type Bench struct {
	Self   string // the program that is also the fake server, the keeper and the built-in hosts
	Tool   record.Tool
	Limits Limits
	Soak   *host.Soak      // nil: a scenario is played once
	Out    string          // a cell without a folder gets one in here, and "latest" names the newest
	Live   progress.Params // where and how a run is shown while it runs
	// OnWait is told what a checkpoint still waits for after some time, besides Live. nil: nobody else wants to know.
	OnWait func(host.Waiting)
	// Page says what the report of a run says of its findings. nil: no report is written.
	Page func(...verdict.Judged) baseline.Baseline
}

// Limits are the times that the user insists on. 0 is what the host's profile or the scenario says.
type Limits record.CommandLimits

// or is these limits, with others where they say nothing.
func (l Limits) or(others Limits) Limits {
	return Limits{
		cmp.Or(l.Settle, others.Settle), cmp.Or(l.Confirm, others.Confirm), cmp.Or(l.Start, others.Start),
		cmp.Or(l.Patience, others.Patience), l.Fast || others.Fast,
	}
}

// Host is a host with what names it on a command line: "" is its own name.
type Host struct {
	ID string
	subject.Spec
}

// Cell is a scenario on a host, to be played once.
type Cell struct {
	Scenario *scenarios.Scenario
	Host     Host
	Seed     uint64 // 0 draws one
	Repeat   int    // which one of several, from 1
	Limits   Limits // those of this play; 0 is what the bench has
	Dir      string // where the run is kept, "" is a new folder
	Alone    bool   // nothing else is played meanwhile
	Again    string // why it is played once more, alone; see record.Header

	Caller *host.Caller // the host, where it is there already: Host then only names it

	// Turn waits until the host may start beside those of other runs. nil: at once.
	Turn func(context.Context) (Over, error)
}

// One plays a cell and judges what was saved. A run that was cut short is
// judged, too. Where nothing was saved the run is nil, and the error says why.
func (b *Bench) One(ctx context.Context, c Cell) (*verdict.Judged, error) {
	limits := c.Limits.or(b.Limits)
	if c.Seed == 0 {
		c.Seed = rand.Uint64N(1<<53-1) + 1 // fits a JSON number
	}
	params := host.Params{
		Self: b.Self, Scenario: c.Scenario, Host: c.Host.Spec, Caller: c.Caller, Seed: c.Seed, Tool: b.Tool,
		Command: b.command(c, limits), Again: c.Again, Soak: b.Soak,
		Settle: record.Duration(limits.Settle), Confirm: record.Duration(limits.Confirm), Start: record.Duration(limits.Start),
		Patience: record.Duration(limits.Patience), Fast: limits.Fast, Turn: c.turn,
	}
	return b.Keep(ctx, c, Shown{len(c.Scenario.Expand()), params.Limits()}, func(dir string, on Watcher) error {
		params.Dir, params.OnEvent, params.OnWait = dir, on.Event, on.Waiting
		return host.Run(ctx, params)
	})
}

// Shown is what is known of a run before it begins, for who looks on.
type Shown struct {
	Steps  int
	Limits record.Limits
}

// Watcher is told what goes on in a run.
type Watcher struct {
	Event   func(record.Event)
	Waiting func(host.Waiting)
}

// Keep has a run of a cell made in its folder, and judges what was saved, as One does.
func (b *Bench) Keep(
	ctx context.Context, c Cell, known Shown, run func(dir string, on Watcher) error,
) (*verdict.Judged, error) {
	over, err := c.turn(ctx)
	if err != nil {
		return nil, err
	}
	defer over(false)
	link := func() {}
	if c.Dir == "" {
		var err error
		if c.Dir, err = NewRunDir(b.Out, c.Scenario.String(), c.Host.Name); err != nil {
			return nil, &Misuse{Err: err, Remedy: OtherFolder}
		}
		link = sync.OnceFunc(func() { linkLatest(b.Out, c.Dir) })
	}
	shown := b.Live
	shown.Scenario, shown.Host, shown.Steps, shown.Limits = c.Scenario.String(), c.Host.Name, known.Steps, known.Limits
	live := progress.Start(shown)
	failed := bug.Catch(func() error {
		return run(c.Dir, Watcher{Event: func(e record.Event) {
			if hasBegun(e.Kind, c.Host.Kind) {
				link()
			}
			if isUp(e.Kind, c.Host.Kind) {
				over(true)
			}
			live.Event(e)
		}, Waiting: func(w host.Waiting) {
			live.Waiting(w.Checkpoint, w.String())
			if b.OnWait != nil {
				b.OnWait(w)
			}
		}})
	})
	live.Stop()
	if not := (*fit.NotApplicable)(nil); errors.As(failed, &not) { // the host itself has said so: there is nothing to judge
		return nil, errors.Join(failed, os.RemoveAll(c.Dir))
	}
	if failed != nil && errors.Is(context.Cause(ctx), ErrEnough) { // it was cut short, and counts as not made
		err := os.RemoveAll(c.Dir)
		relinkLatest(b.Out, c.Dir)
		return nil, errors.Join(failed, err)
	}
	j, err := b.Saved(c.Dir)
	if j != nil {
		link()
	}
	if j == nil && failed != nil { // nothing was played, and why is known
		_ = os.Remove(c.Dir)
		return nil, failed
	}
	return j, errors.Join(failed, err)
}

// hasBegun says that with such an event a run is certain to be made. Until its first step a driver may say that it can't be asked. A
// command says nothing: how long it takes to come up is part of its run.
func hasBegun(e record.Kind, h record.HostKind) bool {
	return e == record.StepBegun || e == record.CheckpointBegun || e == record.HostStarted && h == record.KindCommand
}

// isUp says that with such an event the host has started. A command is up when its first server is there: its handshake may take long
// because of a fault.
func isUp(e record.Kind, h record.HostKind) bool {
	return e == record.HostReady || e == record.Born && h == record.KindCommand
}

// turn waits until the host may start, and returns what says that it is up.
func (c Cell) turn(ctx context.Context) (func(up bool), error) {
	if c.Turn == nil {
		return func(bool) {}, nil
	}
	return c.Turn(ctx)
}

// Saved judges a run that was saved, and writes its page. Where it can't be read the run is nil.
func (b *Bench) Saved(dir string) (*verdict.Judged, error) {
	j, err := Load(dir)
	if err != nil {
		return nil, err
	}
	return &j, b.page(&j)
}

// page writes the report of a run into its folder.
func (b *Bench) page(j *verdict.Judged) error {
	if b.Page == nil {
		return nil
	}
	page := filepath.Join(j.Dir, observe.ReportFile)
	err := WritePage(page, b.Page(*j), *j)
	if err == nil {
		j.Page = page
	}
	return err
}

// command is the command line that plays a cell again.
func (b *Bench) command(c Cell, limits Limits) []string {
	name := c.Scenario.Name
	if builtin, err := scenarios.Builtin(name); err != nil || builtin.Source != c.Scenario.Source {
		name = c.Scenario.File
	}
	line := record.Command{
		Scenario: name, Seed: c.Seed, Server: c.Scenario.Part, Limits: record.CommandLimits(limits), Host: cmp.Or(c.Host.ID, c.Host.Name),
	}
	if b.Soak != nil {
		line.For = b.Soak.For
	}
	if c.Host.Kind == record.KindCommand && c.Host.File == "" {
		line.Argv = c.Host.Argv
	}
	return line.Words()
}

// NewRunDir makes the run's folder. It is for its user alone: what the host wrote to stderr is in it, whatever that holds.
func NewRunDir(out, scenario, hostName string) (string, error) {
	base := fmt.Sprintf("%s-%s-%s",
		time.Now().Format("20060102-150405"), onlyLetters(scenario, "-_.", true), onlyLetters(hostName, "-_.", true))
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	dir := filepath.Join(out, base)
	for n := 2; ; n++ {
		err := os.Mkdir(dir, 0o700)
		if !errors.Is(err, os.ErrExist) {
			return dir, err
		}
		dir = filepath.Join(out, fmt.Sprintf("%s-%d", base, n))
	}
}

// linkLatest points "latest" to a run that has begun.
func linkLatest(out, dir string) {
	link, name := filepath.Join(out, "latest"), filepath.Base(dir)
	temporary := link + "." + name
	if os.Symlink(name, temporary) == nil && os.Rename(temporary, link) != nil {
		_ = os.Remove(temporary)
	}
}

// relinkLatest points "latest" to the newest run that is left, if it names one that is gone. The name of a run begins with its time.
func relinkLatest(out, gone string) {
	link := filepath.Join(out, "latest")
	if name, err := os.Readlink(link); err != nil || name != filepath.Base(gone) {
		return
	}
	_ = os.Remove(link)
	entries, _ := os.ReadDir(out)
	for _, e := range slices.Backward(entries) {
		if _, err := os.Stat(filepath.Join(out, e.Name(), observe.RunFile)); err == nil {
			linkLatest(out, e.Name())
			return
		}
	}
}

// onlyLetters is a name in letters that every file system takes.
func onlyLetters(s, besides string, upper bool) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || upper && c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(besides, c) {
			return c
		}
		return '_'
	}, s)
}

// Load reads and judges a saved run: its folder, or the file in it.
func Load(path string) (verdict.Judged, error) {
	path = record.Newest(path)
	run, err := record.Read(path)
	if err != nil {
		return verdict.Judged{}, err
	}
	j := verdict.NewJudged(run, path)
	j.HostLog = hostLog(path)
	return j, nil
}

// logTail is how much of the end of the host's stderr a report shows.
const logTail = 32 << 10

// hostLog is the end of what the host and its servers wrote to stderr; "" where the run is not in a folder with a log.
func hostLog(run string) string {
	if info, err := os.Stat(run); err == nil && !info.IsDir() {
		run = filepath.Dir(run)
	}
	return observe.LogEnd(filepath.Join(run, observe.HostLog), logTail)
}

// Compared says what the findings of runs are, seen from a list of known findings and earlier runs, for their page.
// It decides nothing: a gate does. A list that must not be there may be missing.
func Compared(judged, base []verdict.Judged, list string, must bool) (baseline.Baseline, error) {
	entries, err := known.Load(list, must)
	if err != nil {
		return baseline.Baseline{}, err
	}
	if _, err := os.Stat(list); errors.Is(err, fs.ErrNotExist) {
		list = ""
	}
	if list == "" && len(base) == 0 {
		return baseline.Baseline{}, nil
	}
	r := gate.Decide(gate.Params{
		Attempts: gate.Fresh(judged), Base: base, HasBase: len(base) > 0, Known: entries, Now: time.Now(), Measures: gate.MeasuresWarn,
	})
	return baseline.Baseline{Result: &r, Base: base, List: list}, nil
}

// Listed is Compared for a page that nobody asked for: a list that can't be read is for the commands that need it to complain of.
func Listed(judged ...verdict.Judged) baseline.Baseline {
	a, _ := Compared(judged, nil, known.File, false)
	return a
}

// WritePage writes the report of runs.
func WritePage(path string, a baseline.Baseline, judged ...verdict.Judged) error {
	return bug.Catch(func() error {
		return files.Own(path, 0o600, func(w io.Writer) error { return page.HTML(w, judged, a) })
	})
}

// WritePages writes the pages of runs again, now that a gate has said what their findings are.
func WritePages(judged []verdict.Judged, a baseline.Baseline) error {
	a.Answer = false // which is of all runs
	var failed error
	for _, j := range judged {
		if j.Page != "" {
			failed = errors.Join(failed, WritePage(j.Page, a, j))
		}
	}
	return failed
}
