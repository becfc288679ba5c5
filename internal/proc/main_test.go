//go:build linux

package proc_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// lifetime ends a fake that nobody ended.
const lifetime = 5 * time.Minute

// patience is how long a test waits for what takes milliseconds.
const patience = 20 * time.Second

// fakes are the programs that this test binary can be.
var fakes = map[string]func(args []string){
	"idle": idle, "reader": reader, "deaf": deaf, "tree": tree, "named": named, "escape": escape,
	"become": become, "headless": headless, "recycle": recycle, "recycled": recycled,
	"shy": shy, "middle": middle, "examiner": examiner,
	"hider": hider, "hidden": hidden, "secret": secret,
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if fake, ok := fakes[os.Args[1]]; ok {
			time.AfterFunc(lifetime, func() { os.Exit(99) })
			fake(os.Args[2:])
			os.Exit(0)
		}
	}
	must(os.Setenv(userKey, strconv.Itoa(100_000+os.Getpid())))
	goleak.VerifyTestMain(m)
}

// child is a fake, or another program, that a test started.
type child struct {
	*exec.Cmd
	id    record.Identity
	stdin io.Closer
	lines *bufio.Scanner
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// fake starts a fake and waits until it says "ready". Its stdin is a pipe that
// the test holds, unless prepare sets another. It is killed with the test.
func fake(t testing.TB, prepare func(*exec.Cmd), args ...string) *child {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), self(t), args...)
	cmd.WaitDelay = patience
	cmd.Stderr = os.Stderr
	// The race detector would hold every exit back for a second.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	c := &child{Cmd: cmd}
	if prepare != nil {
		prepare(cmd)
	}
	if cmd.Stdin == nil {
		stdin, err := cmd.StdinPipe()
		require.NoError(t, err)
		c.stdin = stdin
	}
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { c.end() })
	c.lines = bufio.NewScanner(stdout)
	c.id, err = proc.Identify(cmd.Process.Pid)
	require.NoError(t, err)
	if args[0] != "tree" {
		require.Equal(t, "ready", c.line(t))
	}
	return c
}

// end ends a fake: a tree sweeps below itself when its stdin ends.
func (c *child) end() {
	if c.stdin != nil {
		c.stdin.Close()
	}
	if len(c.Args) < 2 || c.Args[1] != "tree" {
		_ = c.Process.Kill()
	}
	_ = c.Wait()
}

func (c *child) line(t testing.TB) string {
	t.Helper()
	require.True(t, c.lines.Scan(), "%v ended without a word", c.Args)
	return c.lines.Text()
}

// sleeper starts a small program that does nothing.
func sleeper(t testing.TB) *child {
	t.Helper()
	c := &child{Cmd: exec.CommandContext(context.WithoutCancel(t.Context()), "sleep", "300")}
	c.WaitDelay = patience
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, c.Start())
	t.Cleanup(c.end)
	var err error
	c.id, err = proc.Identify(c.Process.Pid)
	require.NoError(t, err)
	return c
}

// state waits until a process is in one of the states.
func state(t testing.TB, pid int, wanted string) record.Process {
	t.Helper()
	var row record.Process
	table := proc.NewTable()
	require.Eventually(t, func() bool {
		var err error
		row, err = table.One(pid)
		return err == nil && strings.Contains(wanted, string(row.State))
	}, patience, time.Millisecond, "pid %d is not in state %s", pid, wanted)
	return row
}

// forest starts a tree and returns the pids that it names, by kind.
func forest(t testing.TB, kinds ...string) (*child, map[string]int) {
	t.Helper()
	c := fake(t, nil, append([]string{"tree"}, kinds...)...)
	pids := map[string]int{}
	for {
		kind, number, ok := strings.Cut(c.line(t), " ")
		if !ok {
			return c, pids
		}
		pid, err := strconv.Atoi(number)
		require.NoError(t, err)
		pids[kind] = pid
	}
}

func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func find(rows []record.Process, pid int) (record.Process, bool) {
	for _, row := range rows {
		if row.PID == pid {
			return row, true
		}
	}
	return record.Process{}, false
}

func must(err error) {
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
}

func assertGone(t *testing.T, id record.Identity) {
	t.Helper()
	assert.True(t, proc.Gone(id))
	require.NoError(t, proc.WaitGone(within(t), id))
	require.ErrorIs(t, proc.Signal(id, syscall.SIGKILL), proc.ErrGone)
}
