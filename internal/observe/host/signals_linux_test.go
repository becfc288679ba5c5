package host_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/observe/outside"
)

const inside = "LEAKBENCH_TEST_TRACEFS"

// tracefs mounts one, in a mount namespace of a process that plays the test again: it goes with that, whatever ends it. It says
// whether this is that process.
func tracefs(t *testing.T, namespaces uintptr) bool {
	t.Helper()
	if os.Getenv(inside) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		again.Cancel, again.WaitDelay = func() error { return again.Process.Kill() }, time.Second
		again.Env = append(os.Environ(), inside+"="+t.TempDir())
		again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Cloneflags: namespaces, Pdeathsig: syscall.SIGKILL}
		said, err := again.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skipf("who sends signals can't be traced here: %v", err)
		}
		require.NoError(t, err, string(said))
		if strings.Contains(string(said), "--- SKIP") {
			t.Skip(string(said))
		}
		return false
	}
	if err := unix.Mount("tracefs", os.Getenv(inside), "tracefs", 0, ""); err != nil {
		t.Skipf("who sends signals can't be traced here: %v", err)
	}
	return true
}

// traced is tracefs where the trace shows this process.
func traced(t *testing.T) bool {
	t.Helper()
	if !tracefs(t, 0) {
		return false
	}
	watch, err := outside.WatchSignals(func(outside.Signal) {})
	if err != nil {
		t.Skipf("who sends signals can't be traced here: %v", err)
	}
	watch.Close()
	return true
}

// offer does not wait for who reads: what others on this machine do may be more than the channel holds.
func offer(to chan<- outside.Signal, s outside.Signal) {
	select {
	case to <- s:
	default:
	}
}

// instances are the traces of this process.
func instances() []string {
	all, _ := filepath.Glob(filepath.Join(os.Getenv(inside), "instances", fmt.Sprintf("leakbench-%d-*", os.Getpid())))
	return all
}

// TestOneTrace: who watches at the same time shares what the kernel writes down. The last one ends it.
func TestOneTrace(t *testing.T) {
	t.Parallel()
	if !traced(t) {
		return
	}
	told := [2]chan outside.Signal{make(chan outside.Signal, 100), make(chan outside.Signal, 100)}
	stale := filepath.Join(os.Getenv(inside), "instances", fmt.Sprintf("leakbench-killed-%d", os.Getpid()))
	require.NoError(t, os.Mkdir(stale, 0o700))
	var watches []*outside.Signals
	victim := exec.Command("sleep", "60") // started before: it is outside, and so is what it does
	shell := exec.Command("sh", "-c", "read x; kill -TERM $1; read y", "sh")
	victim.WaitDelay, shell.WaitDelay = time.Second, time.Second
	require.NoError(t, victim.Start())
	defer func() { _ = victim.Process.Kill(); _ = victim.Wait() }()
	shell.Args = append(shell.Args, strconv.Itoa(victim.Process.Pid))
	in, err := shell.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, shell.Start())
	defer func() { _ = in.Close(); _ = shell.Wait() }()
	for i := range told {
		w, err := outside.WatchSignals(func(s outside.Signal) { offer(told[i], s) })
		require.NoError(t, err)
		watches = append(watches, w)
	}
	assert.Len(t, instances(), 1)
	assert.NoDirExists(t, stale, "of a bench that was killed")
	_, err = io.WriteString(in, "now\n")
	require.NoError(t, err)
	for _, of := range told {
		for s := (outside.Signal{}); s.To != victim.Process.Pid; {
			select {
			case s = <-of:
			case <-time.After(10 * time.Second):
				t.Fatal("nobody was told")
			}
		}
	}
	watches[0].Close()
	assert.Len(t, instances(), 1, "one still watches")
	held, err := os.Open(filepath.Join(instances()[0], "tracing_on"))
	require.NoError(t, err) // as a process holds it that is being started
	time.AfterFunc(100*time.Millisecond, func() { held.Close() })
	watches[1].Close()
	assert.Empty(t, instances())
}

// TestForeignTrace: in a pid namespace no trial can succeed. One is enough, however many runs begin.
func TestForeignTrace(t *testing.T) {
	t.Parallel()
	if !tracefs(t, syscall.CLONE_NEWPID) {
		return
	}
	var errs [6]error
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = outside.WatchSignals(func(outside.Signal) {}) })
	}
	all.Wait()
	_, later := outside.WatchSignals(func(outside.Signal) {})
	require.ErrorContains(t, later, "pid namespace")
	for _, err := range errs {
		assert.Same(t, later, err, "of another trial")
	}
}

// TestWatchFails: who can't watch gets no watch, and leaves none.
func TestWatchFails(t *testing.T) {
	t.Parallel()
	if !traced(t) {
		return
	}
	first, err := outside.WatchSignals(func(outside.Signal) {})
	require.NoError(t, err)
	require.NoError(t, unix.Mount("none", "/proc", "tmpfs", 0, "")) // in this mount namespace
	second, err := outside.WatchSignals(func(outside.Signal) {})
	require.NoError(t, unix.Unmount("/proc", unix.MNT_DETACH))
	require.Error(t, err)
	assert.Nil(t, second)
	first.Close()
	first.Close()
	assert.Empty(t, instances())
}

// hangUp starts a process that SIGHUP does not end, and one beside it that sends it one for each call.
func hangUp(t *testing.T) (victim int, again func()) {
	t.Helper()
	deaf := exec.CommandContext(t.Context(), "sh", "-c", `trap "" HUP; echo; exec sleep 60`)
	shell := exec.CommandContext(t.Context(), "sh", "-c", "while read x; do kill -HUP $1; done", "sh")
	deaf.Cancel, deaf.WaitDelay = func() error { return deaf.Process.Kill() }, time.Second
	shell.Cancel, shell.WaitDelay = func() error { return shell.Process.Kill() }, time.Second
	out, err := deaf.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, deaf.Start())
	t.Cleanup(func() { _ = deaf.Process.Kill(); _ = deaf.Wait() })
	_, err = out.Read(make([]byte, 1))
	require.NoError(t, err)
	shell.Args = append(shell.Args, strconv.Itoa(deaf.Process.Pid))
	in, err := shell.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, shell.Start())
	t.Cleanup(func() { _ = in.Close(); _ = shell.Wait() })
	return deaf.Process.Pid, func() {
		_, err := io.WriteString(in, "again\n")
		assert.NoError(t, err)
	}
}

// within fails unless done is closed.
func within(t *testing.T, done <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal(what)
	}
}

// TestSlowWatcher: a run that takes long to write down a signal delays no other run. It is told of nothing after Close.
func TestSlowWatcher(t *testing.T) {
	t.Parallel()
	if !traced(t) {
		return
	}
	victim, again := hangUp(t)
	entered, release := make(chan struct{}), make(chan struct{})
	var calls, late atomic.Int32
	var over atomic.Bool
	slow, err := outside.WatchSignals(func(s outside.Signal) {
		if over.Load() {
			late.Add(1)
		}
		if s.To == victim && calls.Add(1) == 1 {
			close(entered)
			<-release
		}
	})
	require.NoError(t, err)
	again()
	within(t, entered, "the slow one was not told")

	told := make(chan struct{})
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		var once sync.Once
		quick, err := outside.WatchSignals(func(s outside.Signal) {
			if s.To == victim {
				once.Do(func() { close(told) })
			}
		})
		if assert.NoError(t, err) {
			again()
			<-told
			quick.Close()
		}
	}()
	within(t, told, "another run waits for the slow one")
	within(t, closed, "the end of another run waits for the slow one")

	ended := make(chan struct{})
	go func() {
		slow.Close()
		over.Store(true)
		close(ended)
	}()
	select {
	case <-ended:
		t.Error("Close did not wait for the call under way")
	case <-time.After(200 * time.Millisecond): // it must not come
	}
	close(release)
	within(t, ended, "Close still waits")
	assert.EqualValues(t, 2, calls.Load(), "what was seen before Close is told")
	assert.Zero(t, late.Load())
}
