package refhost

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/internal/await"
)

// TestMain makes the test binary a child that waits for the end of its stdin.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "wait" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/leakbench/leakbench/internal/subject/refhost.(*spawner).run"))
}

// waiting starts a child on the spawner's thread. end ends and reaps it.
type waiting struct {
	*exec.Cmd
	in io.Closer
}

func (w *waiting) start(t *testing.T, on *spawner) error {
	self, err := os.Executable()
	require.NoError(t, err)
	w.Cmd = exec.CommandContext(t.Context(), self, "wait")
	w.WaitDelay = time.Second
	w.in, err = w.StdinPipe()
	require.NoError(t, err)
	return on.do(w.Start)
}

func (w *waiting) end(t *testing.T) {
	require.NoError(t, w.in.Close())
	require.NoError(t, w.Wait())
}

// The ways of learning see the same launch. (Not parallel: a snapshot
// sees the children of the whole process.)
func TestLearn(t *testing.T) {
	on := newSpawner()
	for _, c := range []struct {
		name string
		by   *snapshot
		sees bool
	}{
		{"nothing", &snapshot{}, false},
		{"the main thread's children", &snapshot{of: childrenOfMainThread}, false},
		{"all threads' children", &snapshot{of: childrenOfAllThreads, serialised: true}, true},
		{"the process table", &snapshot{of: childrenInTable}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var w waiting
			learned, err := c.by.learn(func() error { return w.start(t, on) })
			require.NoError(t, err)
			defer w.end(t)
			if !c.sees {
				assert.Empty(t, learned)
				return
			}
			require.Len(t, learned, 1)
			assert.Equal(t, w.Process.Pid, learned[0].pid)
			assert.True(t, learned[0].alive())
		})
	}
}

// TestSnapshotCrossAttribution: two launches that overlap claim each other's
// child, unless they are serialised.
func TestSnapshotCrossAttribution(t *testing.T) {
	on := newSpawner()
	var inner, outer waiting
	s := &snapshot{of: childrenOfAllThreads}
	claimed, err := s.learn(func() error {
		_, err := s.learn(func() error { return inner.start(t, on) })
		require.NoError(t, err)
		return outer.start(t, on)
	})
	require.NoError(t, err)
	assert.Len(t, claimed, 2)
	inner.end(t)
	outer.end(t)
}

func TestLearnReportsAFailedLaunch(t *testing.T) {
	failed := errors.New("no such program")
	for _, by := range []*snapshot{{}, {of: childrenOfAllThreads, serialised: true}} {
		learned, err := by.learn(func() error { return failed })
		require.ErrorIs(t, err, failed)
		assert.Empty(t, learned)
	}
}

// TestAlive: a zombie is not alive, nor is a pid with another start time, nor
// a process that is not this one's child.
func TestAlive(t *testing.T) {
	on := newSpawner()
	var w waiting
	require.NoError(t, w.start(t, on))
	st, ok := statOf(w.Process.Pid)
	require.True(t, ok)
	c := child{w.Process.Pid, st.start}
	assert.True(t, c.alive())
	assert.False(t, child{c.pid, c.start + 1}.alive())
	self, ok := statOf(os.Getpid())
	require.True(t, ok)
	assert.False(t, child{os.Getpid(), self.start}.alive())
	require.NoError(t, w.in.Close())
	require.True(t, await.Exit(w.Process.Pid))
	st, ok = statOf(w.Process.Pid)
	require.True(t, ok, "await.Exit leaves the zombie")
	assert.Equal(t, byte('Z'), st.state)
	assert.False(t, c.alive())
	require.NoError(t, w.Wait())
	assert.False(t, c.alive())
}

// TestSpawnerThread: children belong to one thread, which is not the main one.
func TestSpawnerThread(t *testing.T) {
	on := newSpawner()
	var a, b waiting
	require.NoError(t, a.start(t, on))
	require.NoError(t, b.start(t, on))
	files := childrenFiles("self")
	if len(files) == 0 {
		t.Log("this kernel has no children files (CONFIG_PROC_CHILDREN)")
	}
	owners := 0
	for _, file := range files {
		if n := len(identified(pidsIn(file))); n > 0 {
			owners++
			assert.Equal(t, 2, n, file)
		}
	}
	assert.LessOrEqual(t, owners, 1)
	a.end(t)
	b.end(t)
}

// TestKillSparesStrangers: kill signals nothing but the children it is given.
func TestKillSparesStrangers(t *testing.T) {
	on := newSpawner()
	var w waiting
	require.NoError(t, w.start(t, on))
	st, _ := statOf(w.Process.Pid)
	kill("test", []child{{w.Process.Pid, st.start + 1}}, time.Second)
	assert.True(t, child{w.Process.Pid, st.start}.alive())
	kill("test", []child{{w.Process.Pid, st.start}}, 5*time.Second)
	assert.False(t, child{w.Process.Pid, st.start}.alive())
	_ = w.in.Close()
	require.Error(t, w.Wait(), "killed by SIGTERM")
}
