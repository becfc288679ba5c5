package bench_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	stormCycles   = 1000
	stormParallel = 8
)

// BenchmarkStorm compares two rates of launching a server, initializing it and
// letting it go, eight at a time: through the whole bench (keeper, ledger, run
// file) and as a bare loop over the same server that nobody watches. The two
// take turns, and the medians are compared. -benchtime 5x.
func BenchmarkStorm(b *testing.B) {
	server, err := build(b, "../../cmd/leakbench")
	require.NoError(b, err)
	var bare, full []float64
	for b.Loop() {
		bare = append(bare, rate(func() { require.NoError(b, cycles([]string{server, "fakeserver"}, stormCycles, stormParallel)) }))
		full = append(full, recordedStorm(b, server))
	}
	b.ReportMetric(median(bare), "bare/s")
	b.ReportMetric(median(full), "recorded/s")
	b.ReportMetric(median(full)/median(bare), "recorded/bare")
	b.ReportMetric(0, "ns/op")
}

func rate(storm func()) float64 {
	begun := time.Now()
	storm()
	return stormCycles / time.Since(begun).Seconds()
}

// cycles launches n servers, so many at a time, and takes each through one
// initialize and an orderly end. It is the host of both contenders.
func cycles(argv []string, n, parallel int) error {
	work := make(chan int)
	errs := make(chan error, parallel)
	for range parallel {
		go func() {
			var failed error
			for range work {
				if err := cycle(argv); err != nil {
					failed = err
				}
			}
			errs <- failed
		}()
	}
	for i := range n {
		work <- i
	}
	close(work)
	var failed error
	for range parallel {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return failed
}

func cycle(argv []string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Kill() }
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if _, err := io.WriteString(in, initialize); err != nil {
		return err
	}
	if line, err := bufio.NewReaderSize(out, 4096).ReadString('\n'); err != nil {
		return fmt.Errorf("no answer: %q: %w", line, err)
	}
	_ = in.Close()
	return cmd.Wait()
}

// stormHost is the host process below the keeper: argv of a server after the
// word and the count. It says when it is done.
func stormHost(args []string) int {
	n, err := strconv.Atoi(args[0])
	if err == nil {
		err = cycles(args[1:], n, stormParallel)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// recordedStorm runs the cycles through keeper, ledger and run file, from the
// command to the keeper up to the last event in the file.
func recordedStorm(b *testing.B, server string) float64 {
	b.Helper()
	dir, err := ledger.NewDir()
	require.NoError(b, err)
	writer, err := record.Create(filepath.Join(b.TempDir(), "run.jsonl"))
	require.NoError(b, err)
	require.NoError(b, writer.WriteHeader(record.Header{ID: "r"}))
	all := newTally(writer)
	self, err := os.Executable()
	require.NoError(b, err)
	k, err := keeper.Start(b.Context(), keeper.Params{Self: self, Dir: dir, Log: filepath.Join(b.TempDir(), "keeper.log"), OnExit: all.exited})
	require.NoError(b, err)
	l, err := ledger.Listen(ledger.Params{
		Dir: dir, Run: "r", Scripts: map[string]json.RawMessage{"s": nil}, OnEvent: all.see,
		Identify: proc.Identify, WaitGone: proc.WaitGone,
	})
	require.NoError(b, err)
	argv := append([]string{self, "stormhost", strconv.Itoa(stormCycles)}, fakeserver.Argv(server, l.Path(), "r", "s", "")...)
	took := rate(func() {
		host, err := k.StartHost(b.Context(), keeper.HostParams{Argv: argv, Stderr: filepath.Join(b.TempDir(), "host.log")})
		require.NoError(b, err)
		defer host.Stdin.Close()
		defer host.Stdout.Close()
		all.wait()
	})
	require.Equal(b, stormCycles, all.initialized, "each cycle is in the file with its initialize")
	require.NoError(b, l.Close())
	require.NoError(b, writer.Close())
	require.NoError(b, k.Close())
	require.NoError(b, os.RemoveAll(dir))
	return took
}

// tally writes the events down and knows when the storm is over: all servers
// have died and the host was reaped.
type tally struct {
	mu          sync.Mutex
	writer      *record.Writer
	died        int
	initialized int
	host        bool
	over        chan struct{}
}

func newTally(w *record.Writer) *tally { return &tally{writer: w, over: make(chan struct{})} }

func (t *tally) see(e record.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, _ = t.writer.Add(e)
	switch {
	case e.Kind == record.Died:
		t.died++
	case e.Kind == record.RPC && e.RPC.Method == "initialize" && e.RPC.Phase == "answered":
		t.initialized++
	case e.Kind == record.HostExited:
		t.host = true
	}
	if t.died == stormCycles && t.host {
		close(t.over)
		t.host = false
	}
}

func (t *tally) exited(e keeper.Exited) {
	if e.Host {
		t.see(record.Event{Kind: record.HostExited, Process: &e.Process, Exit: &e.Exit})
	}
}

func (t *tally) wait() { <-t.over }
