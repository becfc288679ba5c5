package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// deafStorm is storm with servers that ignore stdin's end and SIGTERM: nothing
// but the bench's own care ends them.
const deafStorm = `name: deaf-storm
title: storm on servers that ignore EOF and SIGTERM
servers:
  deaf:
    faults:
      - {on: eof, do: ignore}
      - {on: term, do: ignore}
      - {on: initialize, do: reject, launch: 2}
steps:
  - open: s
    server: deaf
  - repeat: 40
    steps:
      - break: s
        with: close-stdout
      - open: s
      - call: s
  - checkpoint: after-the-storm
`

// deafForest is servers behind launchers, with helpers that left their groups
// and sessions: nothing of it is a child of the host.
const deafForest = `name: deaf-forest
title: launchers, daemons and helpers that ignore everything
servers:
  forest:
    faults:
      - {on: start, do: launcher, as: own-session, every: 2}
      - {on: start, do: container, launch: 1}
      - {on: start, do: helper, as: stdio}
      - {on: start, do: helper, as: session}
      - {on: start, do: helper, as: daemon}
      - {on: start, do: zombies, count: 2}
      - {on: eof, do: ignore}
      - {on: term, do: ignore}
steps:
  - open: s
    server: forest
  - repeat: 20
    steps:
      - open: s
      - call: s
  - checkpoint: after-all
`

// initialize is what a shell has to write to a server so that its host counts as up.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`

// markEnv is inherited by every process of a run, whatever becomes of its
// parents, group or session: the test finds a survivor by it.
const markEnv = "LEAKBENCH_TEST_MARK"

// bench starts the program as a process of its own.
func bench(t *testing.T, mark string, args ...string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, append([]string{"run", "--progress", "plain"}, args...)...)
	cmd.Env = append(os.Environ(), markEnv+"="+mark)
	cmd.Cancel = func() error { return cmd.Process.Kill() }
	cmd.WaitDelay = 10 * time.Second
	stderr, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return cmd, bufio.NewScanner(stderr)
}

// survivors lists the processes that carry the mark, zombies aside (they have
// no environment any more, and no resources).
func survivors(mark string) []string {
	want := []byte(markEnv + "=" + mark + "\x00")
	entries, _ := os.ReadDir("/proc")
	var found []string
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err == nil && bytes.Contains(env, want) {
			line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			found = append(found, fmt.Sprintf("%s %q", e.Name(), bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return found
}

// goneWithin waits until nothing carries the mark and returns how long that took. Where the machine is so busy that this process stands
// still, so do the others: the time between two looks counts for no more than mostStep.
func goneWithin(t *testing.T, mark string, limit time.Duration) time.Duration {
	t.Helper()
	const mostStep = 50 * time.Millisecond
	begun := time.Now()
	for spent, before := time.Duration(0), begun; len(survivors(mark)) > 0; {
		if spent >= limit {
			t.Errorf("left after %v (%v by the clock): %v", limit, time.Since(begun), survivors(mark))
			break
		}
		time.Sleep(10 * time.Millisecond)
		now := time.Now()
		spent, before = spent+min(now.Sub(before), mostStep), now
	}
	return time.Since(begun)
}

// TestKillNine kills the bench with SIGKILL at random moments: nothing of the run may be left 2 s later, whatever the servers ignore. The
// first tier has nine of these moments.
func TestKillNine(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc and a subreaper")
	}
	scenario := filepath.Join(t.TempDir(), "deaf-storm.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte(deafStorm), 0o644))
	forest := filepath.Join(t.TempDir(), "deaf-forest.yaml")
	require.NoError(t, os.WriteFile(forest, []byte(deafForest), 0o644))
	moments := 51
	if !tier.Plays(tier.Scripts) {
		moments = 9
	}
	slots := make(chan struct{}, 4) // benches at a time
	var hits atomic.Int32           // kills that met living servers
	t.Cleanup(func() {
		assert.Greater(t, int(hits.Load()), moments/2, "kills that met living servers, of %d", moments)
	})
	for i := range moments {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			if killAtRandom(t, scenario, forest, i) {
				hits.Add(1)
			}
		})
	}
}

// killAtRandom reports whether servers were alive when the bench was killed.
func killAtRandom(t *testing.T, scenario, forest string, i int) bool {
	t.Helper()
	out := t.TempDir()
	mark := fmt.Sprintf("kill-%d-%d", os.Getpid(), i)
	args := []string{scenario, "--host", "naive", "--out", out}
	switch i % 3 {
	case 2:
		args = []string{forest, "--host", "naive", "--out", out}
	case 1: // a shell, helpers in the background, and the server below: the host comes up, or keeps the bench waiting for that
		client := "sleep 300"
		if i%2 == 0 {
			client = "(echo '" + initialize + "'; exec sleep 300)"
		}
		args = []string{
			scenario, "--out", out, "--", "sh", "-c",
			`sleep 300 & setsid sleep 300 & ` + client + ` | "$@" >/dev/null; wait`, "sh", "{{server}}",
		}
	}
	cmd, lines := bench(t, mark, args...)
	go func() {
		for lines.Scan() { // drained so that the bench never blocks
		}
	}()
	// One in five at any moment from the start; the others once servers live,
	// however long a busy machine takes until then.
	if i%5 != 0 {
		waitForLine(t, filepath.Join(out, "latest", observe.RunFile), `"kind":"born"`)
	}
	moment := time.Duration(rand.Int64N(int64(1200 * time.Millisecond)))
	select {
	case <-time.After(moment): // the random moment is the point of the test
	case <-t.Context().Done():
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	took := goneWithin(t, mark, 2*time.Second*timeScale)
	_ = cmd.Wait()
	run, err := record.Read(filepath.Join(out, "latest"))
	hit := err == nil && len(history.Of(run).Alive()) > 0
	t.Logf("killed after %v, with living servers: %v, all gone after %v", moment.Round(time.Millisecond), hit, took.Round(time.Millisecond))
	return hit
}

// TestInterrupt stops a run with ^C: it cleans up, still writes the report,
// and exits with 130.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc and a subreaper")
	}
	dir := t.TempDir()
	scenario := filepath.Join(dir, "deaf-storm.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte(deafStorm), 0o644))
	out := filepath.Join(dir, "runs")
	mark := fmt.Sprintf("int-%d", os.Getpid())
	cmd, lines := bench(t, mark, scenario, "--host", "naive", "--out", out)
	require.True(t, lines.Scan(), "the bench says what it runs")
	waitForLine(t, filepath.Join(out, "latest", observe.RunFile), `"kind":"fault"`)
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	for lines.Scan() { // read to its end
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 130, exit.ExitCode())
	goneWithin(t, mark, 2*time.Second*timeScale)
	assert.FileExists(t, filepath.Join(out, "latest", observe.ReportFile))
	run, err := record.Read(filepath.Join(out, "latest"))
	require.NoError(t, err)
	assert.Empty(t, run.Truncated)
	assert.Equal(t, record.End{Reason: "interrupted", Signal: "SIGINT"}, *run.Events[len(run.Events)-1].End)
}

func waitForLine(t *testing.T, path, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for {
		if b, err := os.ReadFile(path); err == nil && bytes.Contains(b, []byte(text)) {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("no %s in %s", text, path)
		}
	}
}
