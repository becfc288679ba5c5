//go:build linux

package proc_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

func TestSignalHitsThatProcessAlone(t *testing.T) {
	t.Parallel()
	c := fake(t, nil, "reader")
	other := c.id
	other.Start++
	require.ErrorIs(t, proc.Signal(other, syscall.SIGKILL), proc.ErrGone)
	require.NoError(t, proc.WaitGone(within(t), other))
	assert.False(t, proc.Gone(c.id))
	require.NoError(t, proc.Signal(c.id, syscall.SIGTERM))
	require.NoError(t, proc.WaitGone(within(t), c.id))
	var exit *exec.ExitError
	require.ErrorAs(t, c.Wait(), &exit)
	assert.Equal(t, syscall.SIGTERM, exit.Sys().(syscall.WaitStatus).Signal())
	assertGone(t, c.id)
	assertGone(t, record.Identity{})
	assertGone(t, record.Identity{PID: -1})
}

func TestZombieHasEnded(t *testing.T) {
	t.Parallel()
	_, pids := forest(t, "zombie")
	row := state(t, pids["zombie"], "Z")
	require.NoError(t, syscall.Kill(row.PID, 0), "kill(2) calls it alive")
	id, err := proc.Identify(row.PID)
	require.NoError(t, err)
	assert.Equal(t, row.Identity, id)
	assertGone(t, id)
}

// TestRecycledPid lets the kernel give a pid to a second process: nothing that
// goes by identity may take it for the first.
func TestRecycledPid(t *testing.T) {
	t.Parallel()
	c := exec.CommandContext(t.Context(), self(t), "recycle")
	c.WaitDelay = patience
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	out, err := c.Output()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skip("no user and pid namespaces here:", err)
	}
	require.NoError(t, err, string(out))
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	last := lines[len(lines)-1]
	if reason, ok := strings.CutPrefix(last, "skip: "); ok {
		t.Skip(reason)
	}
	assert.Equal(t, "exact", last)
}

// Waiting for many must not take a thread for each. Not parallel: it counts the
// threads of the whole process.
func TestWaitGoneForFiveHundred(t *testing.T) {
	const count = 500
	ids := make([]record.Identity, count)
	for i := range ids {
		ids[i] = sleeper(t).id
	}
	before := threads(t)
	var waiting sync.WaitGroup
	ended := make(chan error, count)
	for _, id := range ids {
		waiting.Go(func() { ended <- proc.WaitGone(within(t), id) })
	}
	require.Eventually(t, func() bool { return polledPidfds(t) >= count }, patience, 5*time.Millisecond, "all wait in the poller")
	during := threads(t)
	assert.Empty(t, ended)
	begun := time.Now()
	for _, id := range ids {
		require.NoError(t, proc.Signal(id, syscall.SIGKILL))
	}
	killed := time.Since(begun)
	waiting.Wait()
	t.Logf("threads: %d before, %d while %d wait; killed in %v, all told after %v", before, during, count, killed, time.Since(begun))
	close(ended)
	for err := range ended {
		require.NoError(t, err)
	}
	assert.Less(t, during-before, 20)
}

func threads(t *testing.T) int {
	row, err := proc.NewTable().One(os.Getpid())
	require.NoError(t, err)
	return row.Threads
}

// polledPidfds counts the pidfds in the epoll sets of this process, which list
// what they hold as "tfd: 12 ..." (proc_pid_fdinfo(5)).
func polledPidfds(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	n := 0
	for _, e := range entries {
		info, _ := os.ReadFile("/proc/self/fdinfo/" + e.Name())
		for line := range strings.Lines(string(info)) {
			fields := strings.Fields(line)
			if len(fields) < 2 || fields[0] != "tfd:" {
				continue
			}
			if link, _ := os.Readlink("/proc/self/fd/" + fields[1]); strings.Contains(link, "pidfd") {
				n++
			}
		}
	}
	return n
}

func TestWaitGoneEndsWithItsContext(t *testing.T) {
	t.Parallel()
	c := fake(t, nil, "reader")
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() { done <- proc.WaitGone(ctx, c.id) }()
	cancel(enough)
	require.ErrorIs(t, <-done, enough)
	require.ErrorIs(t, proc.WaitGone(ctx, c.id), enough, "ended before it began")
	assert.False(t, proc.Gone(c.id))
	c.stdin.Close()
	require.NoError(t, proc.WaitGone(within(t), c.id))
	assertGone(t, c.id)
}

func TestSignalNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]syscall.Signal{
		"TERM": syscall.SIGTERM, "SIGTERM": syscall.SIGTERM, "15": syscall.SIGTERM, "sigkill": syscall.SIGKILL,
		"usr1": syscall.SIGUSR1, "SIG40": 40, "64": 64,
	} {
		sig, ok := proc.ParseSignal(name)
		assert.True(t, ok, name)
		assert.Equal(t, want, sig, name)
	}
	for _, name := range []string{"", "SIG", "0", "-9", "65", "SIGNONSENSE", "SIGSIGTERM"} {
		_, ok := proc.ParseSignal(name)
		assert.False(t, ok, name)
	}
	for n := 1; n <= 64; n++ {
		sig, ok := proc.ParseSignal(proc.SignalName(syscall.Signal(n)))
		assert.True(t, ok)
		assert.Equal(t, syscall.Signal(n), sig)
	}
	assert.Equal(t, "SIGKILL", proc.SignalName(syscall.SIGKILL))
	assert.Equal(t, "SIG34", proc.SignalName(34))
}

func TestWeak(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "procfs", proc.CensusName)
	for _, sentence := range proc.Weak() {
		t.Log(sentence)
	}
	if os.Geteuid() == 0 {
		assert.Empty(t, proc.Weak(), "root on a kernel that has everything")
	}
	id, err := proc.Identify(os.Getpid())
	require.NoError(t, err)
	assert.Equal(t, id, proc.Self())
}
