// Package lab is the bench for a test: the host is the process of the test, or one that a test asks for. A Lab hands out
// fake servers and says how many of them must be alive. Serve obeys a library for tests, and plays scenarios against clients of it.
package lab

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/kit"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/terminal"
	"github.com/leakbench/leakbench/scenarios"
)

// Params say what a lab is for.
type Params struct {
	Self string // the program that is also the fake server and the keeper
	Name string // of the host: that of the test
	Out  string // folder for runs
	PID  int    // of the host; 0: this process
	Tool record.Tool
	// Settle is how long a server that should be gone may still be there, Confirm how long a survivor is watched after
	// that, to tell a late one from a leaked one. 0 is 15 s and 1 s.
	Settle, Confirm time.Duration
	Fast            bool      // what nobody has told to end is given up after 2 s
	Err             io.Writer // for what is still waited for after some time; nil: nobody wants to know
}

// The longest teardown of any published client, and what it takes to see that a survivor stays.
const (
	defaultSettle  = 15 * time.Second
	defaultConfirm = time.Second
)

func (p Params) bench() play.Bench {
	return play.Bench{
		Self: p.Self, Tool: p.Tool, Out: p.Out, Page: play.Listed, OnWait: p.waiting,
		Limits: play.Limits{Settle: p.Settle, Confirm: p.Confirm, Fast: p.Fast},
	}
}

// waiting says what a test waits for.
func (p Params) waiting(w host.Waiting) {
	if p.Err != nil {
		fmt.Fprintf(p.Err, "%s%s: %s: %s\n", kit.Waiting, text.Printable(p.Name), text.Printable(w.Checkpoint), text.Printable(w.String()))
	}
}

// Failure is what a run of a lab has shown, other than that all is well.
type Failure struct {
	Outcome verdict.Outcome
	Text    string // the whole report
	Page    string
}

func (f *Failure) Error() string { return f.Text }

// failure is nil where a run is clean.
func failure(j *verdict.Judged) error {
	if j.Verdict.Outcome == verdict.Clean {
		return nil
	}
	shown := *j
	run := *j.Run
	run.Header.Command = nil // no command line plays it again
	shown.Run, shown.Page, shown.Dir = &run, "", ""
	var b bytes.Buffer
	terminal.Text(&b, []verdict.Judged{shown}, terminal.Options{})
	// A path is copied in one piece.
	return &Failure{Outcome: j.Verdict.Outcome, Text: strings.TrimSpace(b.String()) + "\n  report     " + text.Printable(j.Page), Page: j.Page}
}

// tries is how often a scenario is played that a busy machine leaves undecided.
const tries = 2

// playOne plays a scenario against a host: a client in the caller's process, or a driver that is started below a keeper. The
// error is a *Failure, or says why nothing was played. connect makes the connection to the caller's driver anew for each play.
func playOne(ctx context.Context, p Params, s *scenarios.Scenario, h subject.Spec, connect func() (*host.Caller, error)) error {
	bench := p.bench()
	for try := 1; ; try++ {
		cell := play.Cell{Scenario: s, Host: play.Host{Spec: h}}
		if connect != nil {
			var err error
			if cell.Caller, err = connect(); err != nil {
				return err
			}
		}
		j, err := bench.One(ctx, cell)
		if err != nil {
			return err
		}
		failed := failure(j)
		var f *Failure
		if !errors.As(failed, &f) || f.Outcome != verdict.Inconclusive || try == tries || uncalled(j) {
			return failed
		}
	}
}

// uncalled says of a run that no tool could be called: none can the next time.
func uncalled(j *verdict.Judged) bool {
	return slices.ContainsFunc(j.Verdict.Doubts, func(d verdict.Doubt) bool { return d.Code == record.DoubtCallNotPlayed })
}

// Lab hands out fake servers. It is safe for concurrent use.
type Lab struct {
	p    Params
	dir  string
	mu   sync.Mutex
	live *host.Live // nil before the first server, and after the end
	made int        // servers
	held map[string]bool
}

// New is a lab that has started nothing yet.
func New(p Params) *Lab {
	p.Settle, p.Confirm = cmp.Or(p.Settle, defaultSettle), cmp.Or(p.Confirm, defaultConfirm)
	return &Lab{p: p, held: map[string]bool{}}
}

// Script reads faults as the flag --fault has them: "on=eof,do=ignore".
func Script(faults []string) (fakeserver.Script, error) {
	var s fakeserver.Script
	for _, text := range faults {
		f, err := fakeserver.ParseFault(text)
		if err != nil {
			return s, fmt.Errorf("fault %q: %w", text, err)
		}
		s.Faults = append(s.Faults, f)
	}
	if err := s.Check().Err(); err != nil {
		return s, fmt.Errorf("faults %q: %w", faults, err)
	}
	return s, nil
}

// Server returns the command line of a new fake server, which does wrong what the faults say. It may be launched any
// number of times.
func (l *Lab) Server(ctx context.Context, faults ...string) ([]string, error) {
	script, err := Script(faults)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil {
		if err := l.begin(ctx); err != nil {
			return nil, err
		}
	}
	l.made++
	label := fmt.Sprintf("server%d", l.made)
	l.held[label] = true
	return l.live.Server(label, script)
}

func (l *Lab) begin(ctx context.Context) (err error) {
	if l.dir, err = play.NewRunDir(l.p.Out, "lab", l.p.Name); err != nil {
		return err
	}
	limits := scenarios.Defaults()
	limits.GrowthPerCycle = 0
	l.held = map[string]bool{}
	l.live, err = host.Begin(ctx, host.Params{
		Self: l.p.Self, Dir: l.dir, Tool: l.p.Tool, Seed: 1, Caller: &host.Caller{PID: l.p.PID},
		Settle: record.Duration(l.p.Settle), Confirm: record.Duration(l.p.Confirm), // before those of the host's profile
		Fast: l.p.Fast, OnWait: l.p.waiting,
		Scenario: &scenarios.Scenario{Name: "lab", Title: "What a test does with its servers", Limits: limits},
		Host:     inProcess(l.p),
	})
	return err
}

// inProcess is the caller's process as a run has it. A fast answer waits for what a host declares: these times it did not declare.
func inProcess(p Params) subject.Spec {
	s := subject.Spec{Name: p.Name, About: "the process of a test", Kind: record.KindDriver, Argv: os.Args[:1]}
	if !p.Fast {
		s.Profile = record.Profile{Settle: record.Duration(defaultSettle), Confirm: record.Duration(defaultConfirm)}
	}
	return s
}

// Alive is how many servers are alive, by the ledger. It asks nothing of anybody.
func (l *Lab) Alive() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil {
		return 0
	}
	return l.live.Alive()
}

// Flat waits until of each server exactly the newest n launches are alive. Where that does not come true within the
// settle time, the run ends, what is left of it is killed, and the error is a *Failure.
func (l *Lab) Flat(ctx context.Context, n int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil {
		return nil
	}
	quiet, err := l.look(ctx, n)
	if err != nil || quiet {
		return err
	}
	return l.end(ctx)
}

func (l *Lab) look(ctx context.Context, n int) (quiet bool, err error) {
	live := map[string]int{}
	for label := range l.held {
		live[label] = n
	}
	return l.live.Checkpoint(ctx, fmt.Sprintf("flat(%d)", n), live)
}

// Close waits until no server is alive and ends the lab. The error is a *Failure where one stays, or where the run does
// not allow a verdict. A lab whose servers were never launched has nothing to say.
func (l *Lab) Close(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live == nil {
		return nil
	}
	if l.live.Launched() == 0 {
		err := l.live.End(ctx)
		l.live = nil
		return errors.Join(err, os.RemoveAll(l.dir))
	}
	if _, err := l.look(ctx, 0); err != nil {
		return errors.Join(err, l.end(ctx))
	}
	return l.end(ctx)
}

// end ends the run and judges it. The caller holds mu.
func (l *Lab) end(ctx context.Context) error {
	live := l.live
	l.live = nil
	if err := live.End(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	bench := l.p.bench()
	j, err := bench.Saved(l.dir)
	if err != nil {
		return err
	}
	return failure(j)
}
