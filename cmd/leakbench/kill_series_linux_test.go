package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/tier"
)

// killsEnv is how many benches TestKillSeries kills; "" is one for each of its commands and signals.
const killsEnv = "LEAKBENCH_KILLS"

// killed are the command lines that TestKillSeries interrupts, and the hosts that they play.
var (
	killed      = []string{"run storm --repeat 4", "run all --quick", "explore --runs 50 --shrink 1", "gate storm shutdown crash --repeat 2"}
	killedHosts = []string{"naive", "exact", "reap-all", "mcp-go"}
)

// TestKillSeries ends benches with SIGKILL and with ^C at random moments, in the middle of commands that play many runs side by side.
// Nothing of them is left, and nobody else gets a signal.
func TestKillSeries(t *testing.T) {
	tier.Only(t, tier.Scripts)
	t.Parallel()
	number, err := strconv.Atoi(cmp.Or(os.Getenv(killsEnv), fmt.Sprint(2*len(killed))))
	require.NoError(t, err)
	stranger := newStranger(t)
	slots := make(chan struct{}, 3) // benches at a time
	var met atomic.Int32
	t.Cleanup(func() {
		stranger()
		assert.Greater(t, int(met.Load()), number/3, "kills that met a host, of %d", number)
		t.Logf("%d of %d kills met a host", met.Load(), number)
	})
	for i := range number {
		line := killed[i%len(killed)] + " --host " + killedHosts[i/len(killed)%len(killedHosts)]
		signal := []syscall.Signal{syscall.SIGKILL, syscall.SIGINT}[i/len(killed)%2]
		t.Run(fmt.Sprint(i, " ", line, " ", signal), func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			if endAtRandom(t, line, signal) {
				met.Add(1)
			}
		})
	}
}

// endAtRandom reports whether more than the bench was there when it was killed.
func endAtRandom(t *testing.T, line string, signal syscall.Signal) bool {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	tmp, mark := filepath.Join(dir, "t"), fmt.Sprintf("series-%d-%s", os.Getpid(), filepath.Base(filepath.Dir(dir)))
	require.NoError(t, os.Mkdir(tmp, 0o700))
	cmd := exec.CommandContext(t.Context(), self, append(strings.Fields(line), "--out", filepath.Join(dir, "runs"))...)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), markEnv+"="+mark, "TMPDIR="+tmp), 10*time.Second
	require.NoError(t, cmd.Start())
	select {
	case <-time.After(time.Duration(rand.Int64N(int64(6 * time.Second)))): // the random moment is the point of the test
	case <-t.Context().Done():
	}
	before := len(survivors(mark))
	_ = cmd.Process.Signal(signal)
	limit := 2 * time.Second * timeScale
	if signal == syscall.SIGINT { // each run ends its host in order, and its pages are written
		limit = 30 * time.Second * timeScale
	}
	took := goneWithin(t, mark, limit)
	_ = cmd.Wait()
	left, err := os.ReadDir(tmp)
	require.NoError(t, err)
	if signal == syscall.SIGINT {
		assert.Empty(t, left)
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && before > 1 && !status.Signaled() {
			assert.Equal(t, 130, status.ExitStatus())
		}
	}
	t.Logf("%d processes before, all gone after %v, %d folders left, ended with %v", before, took.Round(time.Millisecond), len(left), cmd.ProcessState)
	return before > 1
}

// newStranger starts a process that has the words of a server of ours on its command line, and that writes down each signal. What it returns
// checks that it got none.
func newStranger(t *testing.T) (check func()) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "leakbench")
	require.NoError(t, files.Program(script, []byte(`#!/bin/bash
for s in HUP INT QUIT TERM USR1 USR2 PIPE ALRM CONT; do trap "echo SIG$s" $s; done
echo ready
while read -r line; do echo "$line"; done
`)))
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), script, "fakeserver", "--ledger", "/tmp/lb-1/ledger.sock", "--run", "0", "--label", "flaky")
	cmd.WaitDelay = 5 * time.Second
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	return func() {
		_, err := fmt.Fprintln(in, "alive")
		require.NoError(t, err)
		require.True(t, lines.Scan(), "the stranger is dead")
		assert.Equal(t, "alive", lines.Text(), "the stranger got a signal")
		require.NoError(t, in.Close())
		assert.NoError(t, cmd.Wait())
	}
}
