package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// bench is where groups are played.
type bench struct {
	root       string // of the module
	work       string // a temporary folder
	cells      string
	givenCells bool // the first tier's are there
	requireAll bool
	grace      time.Duration // that a command has to end when check is stopped; 0: 10 s

	mu  sync.Mutex // guards what follows
	out io.Writer
}

// result is what came of a group.
type result struct {
	group  group
	lacks  string // why it was not played
	waits  bool   // for something that is installed
	err    error
	log    string // the file with all that it said
	counts counts
	second []testName // the tests that passed only when they were played a second time
	took   time.Duration
}

func newBench(ctx context.Context, root string, out io.Writer) (*bench, error) {
	work, err := os.MkdirTemp("", "leakbench-check-")
	if err != nil {
		return nil, fmt.Errorf("failed to make a folder for the logs: %w", err)
	}
	b := &bench{root: root, work: work, out: out, requireAll: os.Getenv("LEAKBENCH_REQUIRE") == "all"}
	b.cells, b.givenCells = os.LookupEnv("LEAKBENCH_CELLS")
	if !b.givenCells || b.cells == "" {
		b.givenCells, b.cells = false, filepath.Join(work, "cells")
	}
	if err := b.setUp(ctx); err != nil {
		os.RemoveAll(work)
		return nil, err
	}
	return b, nil
}

// setUp makes what all groups use.
func (b *bench) setUp(ctx context.Context) (err error) {
	if b.cells, err = filepath.Abs(b.cells); err != nil {
		return fmt.Errorf("failed to find the folder for the cells: %w", err)
	}
	if err := os.MkdirAll(b.cells, 0o755); err != nil {
		return fmt.Errorf("failed to make the folder for the cells: %w", err)
	}
	b.say("building leakbench")
	var said bytes.Buffer
	if err := b.command(ctx, &said, nil, `go build -o "$LEAKBENCH" ./cmd/leakbench`); err != nil {
		return fmt.Errorf("failed to build leakbench: %w\n%s", err, said.Bytes())
	}
	return nil
}

// remove removes all but the logs of red groups.
func (b *bench) remove() {
	entries, _ := os.ReadDir(b.work)
	for _, e := range entries {
		if filepath.Ext(e.Name()) != redLog {
			os.RemoveAll(filepath.Join(b.work, e.Name()))
		}
	}
	_ = os.Remove(b.work) // where it is empty
}

// redLog is how the log of a red group ends.
const redLog = ".red"

func (b *bench) say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(b.out, format+"\n", args...)
}

// playAll plays groups. What measures no time, and what installs something, goes first and side by side: one group for each processor,
// and all that is installed, which mostly waits for a network. What is timed comes after that, one after the other.
func (b *bench) playAll(ctx context.Context, chosen []group) []result {
	results, installed := b.ready(ctx, chosen)
	var side sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, g := range chosen {
		side.Go(func() {
			r := &results[i]
			if r.waits {
				<-installed
				r.lack(ctx)
			}
			if r.lacks != "" {
				return
			}
			b.timed(r, func(log io.Writer) error { return b.commands(ctx, log, g, g.prepare) })
			if !g.timed && r.err == nil {
				slots <- struct{}{}
				defer func() { <-slots }()
				b.timed(r, func(log io.Writer) error { return b.playGroup(ctx, log, r) })
			}
		})
	}
	side.Wait()
	for i := range results {
		r := &results[i]
		if r.err == nil {
			r.err = ctx.Err()
		}
		if r.group.timed && r.lacks == "" && r.err == nil {
			b.timed(r, func(log io.Writer) error { return b.playGroup(ctx, log, r) })
		}
		b.say("%s", r.line(b.requireAll))
	}
	return results
}

// ready says which groups can't be played here, and which have to wait until what they lack is installed.
func (b *bench) ready(ctx context.Context, chosen []group) (results []result, installed <-chan struct{}) {
	results = make([]result, len(chosen))
	var waiting []group
	for i, g := range chosen {
		r := &results[i]
		*r = result{group: g, log: filepath.Join(b.work, g.name+".log")}
		if g.lacks != nil {
			r.lacks = g.lacks(b.root)
		}
		if r.waits = r.lacks == "" && len(g.missing(ctx)) > 0; r.waits {
			waiting = append(waiting, g)
		}
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		b.install(ctx, waiting)
	}()
	return results, over
}

// lack notes what is still missing.
func (r *result) lack(ctx context.Context) {
	if names := r.group.missing(ctx); len(names) > 0 {
		r.lacks, r.group.lackedBy = strings.Join(names, ", ")+" is missing", ""
	}
}

// timed does a part of a group, and adds its time.
func (b *bench) timed(r *result, part func(log io.Writer) error) {
	begun := time.Now()
	defer func() { r.took += time.Since(begun) }()
	log, err := os.OpenFile(r.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		r.err = err
		return
	}
	defer log.Close()
	r.err = part(log)
}

func (b *bench) playGroup(ctx context.Context, log io.Writer, r *result) error {
	if err := b.commands(ctx, log, r.group, r.group.steps); err != nil {
		return err
	}
	if r.group.packages != "" {
		return b.playTests(ctx, log, r, strings.Join([]string{goTest, r.group.flags, r.group.packages}, " "))
	}
	if !r.group.tests {
		return nil
	}
	all, err := allTests(b.root)
	if err != nil {
		return fmt.Errorf("failed to find the tests of the group: %w", err)
	}
	tests, err := testsOf(all, r.group.name)
	if err != nil {
		return err
	}
	return b.playTests(ctx, log, r, tests.command())
}

// playTests plays tests. Those that fail are played again, alone: on a busy machine a process can come too late for any limit. Who passes
// then is named in the line of the group.
func (b *bench) playTests(ctx context.Context, log io.Writer, r *result, command string) error {
	env := append(r.group.env, "LEAKBENCH_GROUPS="+cmp.Or(r.group.plays, r.group.name))
	try := func(command string) (*counter, error) {
		fmt.Fprintf(log, "\n$ %s\n", command)
		c := &counter{to: log}
		defer c.Close()
		return c, b.command(ctx, c, env, command)
	}
	counter, err := try(command)
	r.counts = counter.counts
	if err == nil && r.counts.passed == 0 {
		return fmt.Errorf("no test was played: %s", command)
	}
	if err == nil {
		return nil
	}
	again := counter.again()
	for _, name := range again {
		if _, err := try(fmt.Sprintf("%s %s -run '%s' %s", goTest, r.group.flags, name.pattern(), name.pkg)); err != nil {
			return err
		}
	}
	if len(again) > 0 && ctx.Err() == nil {
		r.second, err = again, nil
		r.counts.passed += len(again)
		r.counts.failed -= len(again)
	}
	return err
}

func (b *bench) commands(ctx context.Context, log io.Writer, g group, commands []string) error {
	for _, c := range commands {
		fmt.Fprintf(log, "\n$ %s\n", c)
		if err := b.command(ctx, log, g.env, c); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	return nil
}

// command runs a command by bash, in a process group of its own, which ends with ctx.
func (b *bench) command(ctx context.Context, out io.Writer, env []string, command string) error {
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", command)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.root, out, out
	cmd.Env = append(os.Environ(), "LEAKBENCH="+filepath.Join(b.work, "leakbench"), "WORK="+b.work, "LEAKBENCH_CELLS="+b.cells)
	cmd.Env = append(cmd.Env, env...)
	ownGroup(cmd)
	cmd.WaitDelay = cmp.Or(b.grace, 10*time.Second)
	defer endGroup(cmd)
	return cmd.Run()
}

// red says whether a group fails the command.
func (r result) red(requireAll bool) bool {
	return r.err != nil || r.lacks != "" && requireAll && r.group.lackedBy == ""
}

// line is what is printed of a group.
func (r result) line(requireAll bool) string {
	state, more := "ok", r.counts.String()
	switch {
	case r.red(requireAll):
		state = "FAIL"
	case r.lacks != "":
		state = "skip"
	}
	if r.lacks != "" {
		more = r.lacks
	}
	for _, name := range r.second {
		more += "; at the second try only: " + name.test
	}
	return strings.TrimRight(fmt.Sprintf("%-4s  %-10s %7v  %s", state, r.group.name, r.took.Round(time.Second), more), " ")
}

// mostSaid is how much of a red group's log is printed: it ends with what failed.
const mostSaid = 20_000

// explain prints the end of a red group's log, which stays.
func (r result) explain(out io.Writer) {
	said, _ := os.ReadFile(r.log)
	said = said[max(0, len(said)-mostSaid):]
	fmt.Fprintf(out, "\n== %s: %s\n%s", r.group.name, cmp.Or(r.lacks, fmt.Sprint(r.err)), said)
	kept := strings.TrimSuffix(r.log, ".log") + redLog
	if os.Rename(r.log, kept) == nil {
		fmt.Fprintf(out, "\nall of it: %s\n", kept)
	}
	fmt.Fprintf(out, "again: go run ./tools/check --only %s\n", r.group.name)
}
