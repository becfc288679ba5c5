//go:build linux

package proc_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

func examine(t *testing.T, id record.Identity) record.Evidence {
	t.Helper()
	found := proc.Examine([]record.Identity{id})
	require.Len(t, found, 1)
	require.Equal(t, id, found[0].Identity)
	return found[0]
}

func descriptor(t *testing.T, e record.Evidence, fd int) record.Descriptor {
	t.Helper()
	for _, d := range e.Descriptors {
		if d.FD == fd {
			return d
		}
	}
	t.Fatalf("no descriptor %d in %+v", fd, e.Descriptors)
	return record.Descriptor{}
}

func TestWhoHoldsTheStdinOfAReader(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	holder := fake(t, func(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{w} }, "idle")
	w.Close()
	reader := fake(t, func(cmd *exec.Cmd) { cmd.Stdin = r }, "reader")
	r.Close()
	var e record.Evidence
	require.Eventually(t, func() bool { // it says ready before it reads
		e = examine(t, reader.id)
		return e.Syscall == "read(0)" && heldBy(descriptor(t, e, 0), 1) && len(descriptor(t, e, 1).Holders) == 1
	}, patience, time.Millisecond, "it blocks in a thread that is not the leader, most likely; other tests fork")
	assert.Contains(t, e.Wchan, "pipe_read")
	stdin := descriptor(t, e, 0)
	assert.Contains(t, stdin.Target, "pipe:[")
	assert.Equal(t, "read", stdin.Mode)
	assert.Equal(t, []record.Holder{{Identity: holder.id, FD: 3, Mode: "write", Role: record.HolderRole(filepath.Base(self(t))[:min(15, len(filepath.Base(self(t))))])}}, stdin.Holders)
	assert.True(t, stdin.Known)

	stdout := descriptor(t, e, 1)
	assert.Equal(t, "write", stdout.Mode)
	assert.Equal(t, proc.Self(), stdout.Holders[0].Identity, "this test reads it")
	assert.Equal(t, "read", stdout.Holders[0].Mode)

	exe, err := filepath.EvalSymlinks(self(t))
	require.NoError(t, err)
	assert.Equal(t, exe, e.Exe)
	assert.Less(t, e.Age.D(), patience+5*time.Second)
	assert.Empty(t, e.Unseen)
	assert.Equal(t, reader.Args, e.Args)
}

func TestNobodyHoldsTheStdin(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	c := fake(t, func(cmd *exec.Cmd) { cmd.Stdin = r }, "deaf")
	twin := fake(t, func(cmd *exec.Cmd) { cmd.Stdin = r }, "deaf") // holds the same end, not the other
	w.Close()
	r.Close()
	for _, id := range []record.Identity{c.id, twin.id} {
		stdin := stdinHeldBy(t, id, 0)
		assert.True(t, stdin.Known, "so it is known that there is nobody")
	}
}

// heldBy says that so many hold the other end of a descriptor for certain. What another test is forking meanwhile has a copy of it until
// its exec. And who holds it is uncertain while anybody starts a process that this user may not look into: one that enters a user
// namespace is such a process until its exec, and the hidden ones of other tests are.
func heldBy(d record.Descriptor, n int) bool { return d.Known && len(d.Holders) == n }

// stdinHeldBy waits until so many hold the other end of a process's stdin for certain.
func stdinHeldBy(t *testing.T, id record.Identity, n int) (stdin record.Descriptor) {
	t.Helper()
	require.Eventually(t, func() bool {
		stdin = descriptor(t, proc.Examine([]record.Identity{id})[0], 0)
		return heldBy(stdin, n)
	}, patience, 10*time.Millisecond)
	return stdin
}

// A process that was started with the write end of its own stdin never sees
// the end of it.
func TestOwnStdinHeldByItself(t *testing.T) {
	t.Parallel()
	r, w := pipe(t)
	c := fake(t, func(cmd *exec.Cmd) { cmd.Stdin, cmd.ExtraFiles = r, []*os.File{w} }, "reader")
	w.Close()
	r.Close()
	stdin := stdinHeldBy(t, c.id, 1)
	assert.Equal(t, c.id, stdin.Holders[0].Identity)
	assert.Equal(t, 3, stdin.Holders[0].FD)
}

// Node and Bun give stdio as socketpairs.
func TestWhoHoldsASocketpair(t *testing.T) {
	t.Parallel()
	ours, theirs := socketpair(t)
	holder := fake(t, func(cmd *exec.Cmd) { cmd.ExtraFiles = []*os.File{nil, ours} }, "idle")
	ours.Close()
	c := fake(t, func(cmd *exec.Cmd) { cmd.Stdin = theirs }, "reader")
	theirs.Close()
	stdin := stdinHeldBy(t, c.id, 1)
	assert.Contains(t, stdin.Target, "socket:[")
	assert.Equal(t, "both", stdin.Mode)
	assert.True(t, stdin.Known)
	assert.Equal(t, holder.id, stdin.Holders[0].Identity)
	assert.Equal(t, 4, stdin.Holders[0].FD)

	deaf := fake(t, func(cmd *exec.Cmd) {
		a, b := socketpair(t)
		cmd.Stdin = b
		a.Close()
	}, "deaf")
	stdin = stdinHeldBy(t, deaf.id, 0) // the other end is closed
	assert.True(t, stdin.Known)
}

func socketpair(t *testing.T) (a, b *os.File) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	a, b = os.NewFile(uintptr(pair[0]), "a"), os.NewFile(uintptr(pair[1]), "b")
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// The other end of a TCP connection may be anywhere.
func TestStdinThatIsNoUnixSocket(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	file, err := listener.(*net.TCPListener).File()
	require.NoError(t, err)
	defer file.Close()
	c := fake(t, func(cmd *exec.Cmd) { cmd.Stdin = file }, "deaf")
	e := examine(t, c.id)
	assert.False(t, descriptor(t, e, 0).Known)
	assert.Contains(t, strings.Join(e.Unseen, "\n"), "fd 0: it is no unix socket")
}

func TestSignalsOfASurvivor(t *testing.T) {
	t.Parallel()
	deaf := fake(t, nil, "deaf")
	e := examine(t, deaf.id)
	assert.Contains(t, e.SigIgnored, "SIGTERM")
	assert.NotContains(t, e.SigCaught, "SIGTERM")
	assert.Contains(t, e.SigCaught, "SIGUSR1")
	assert.Empty(t, e.SigPending)

	stopped := sleeper(t)
	require.NoError(t, proc.Signal(stopped.id, syscall.SIGSTOP))
	state(t, stopped.id.PID, "T")
	require.NoError(t, proc.Signal(stopped.id, syscall.SIGTERM))
	e = examine(t, stopped.id)
	assert.Equal(t, []string{"SIGTERM"}, e.SigPending, "it waits for the process to go on")
	assert.Equal(t, record.StateStopped, e.State)
	assert.NotContains(t, e.SigIgnored, "SIGTERM") // others may be ignored since before: SIGHUP below nohup
}

func TestSleeperIsBlockedInASleep(t *testing.T) {
	t.Parallel()
	c := sleeper(t)
	require.Eventually(t, func() bool { return examine(t, c.id).Syscall == "clock_nanosleep" }, patience, time.Millisecond)
	stdin := descriptor(t, examine(t, c.id), 0)
	assert.Equal(t, record.Descriptor{FD: 0, Target: "/dev/null", Mode: "read", Known: true}, stdin)
}

func TestEvidenceOfTheDead(t *testing.T) {
	t.Parallel()
	_, pids := forest(t, "zombie")
	zombie := state(t, pids["zombie"], "Z")
	gone := fake(t, nil, "reader")
	gone.end()
	found := proc.Examine([]record.Identity{gone.id, zombie.Identity, proc.Self()})
	require.Len(t, found, 3)
	assert.Equal(t, gone.id, found[0].Identity)
	assert.Contains(t, strings.Join(found[0].Unseen, "\n"), "ended")
	assert.Equal(t, record.StateZombie, found[1].State)
	assert.Contains(t, strings.Join(found[1].Unseen, "\n"), "zombie")
	assert.Equal(t, proc.Self(), found[2].Identity)
	assert.NotEmpty(t, found[2].Descriptors)
	assert.Empty(t, proc.Examine(nil))
}

// A process of the same user that can't be looked into may hold anything, but
// not what was made by others after it. Not parallel: the shy ones would make
// every other test's holders uncertain, too.
func TestHoldersAreKnownOrNot(t *testing.T) {
	old := fake(t, nil, "shy")
	require.Eventually(t, func() bool { // for the next tick: middle must be younger
		id, err := proc.Identify(sleeper(t).id.PID)
		return err == nil && id.Start > old.id.Start
	}, patience, time.Millisecond)
	for _, young := range []bool{false, true} {
		args := []string{"middle"}
		if young {
			args = append(args, "with a shy one")
		}
		stdin := examinedBelow(t, args...)
		for end := time.Now().Add(patience); !young && !stdin.Known && time.Now().Before(end); { // another package has a shy one, too
			stdin = examinedBelow(t, args...)
		}
		assert.Equal(t, !young, stdin.Known, "a young shy one: %v", young)
		require.Len(t, stdin.Holders, 1, fmt.Sprint(stdin))
	}
}

// examinedBelow is the stdin of what the examiner below a middle has examined.
func examinedBelow(t *testing.T, middle ...string) record.Descriptor {
	t.Helper()
	c := fake(t, nil, middle...)
	var found []record.Evidence
	require.NoError(t, json.Unmarshal([]byte(c.line(t)), &found))
	require.NoError(t, c.Wait(), "it ends what it started")
	require.Len(t, found, 1)
	return descriptor(t, found[0], 0)
}
