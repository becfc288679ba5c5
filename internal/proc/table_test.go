//go:build linux

package proc_test

import (
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
)

func TestBelowFindsEveryKindOfDescendant(t *testing.T) {
	t.Parallel()
	root, pids := forest(t, "plain", "setsid", "escaped", "grandchild", "zombie", "stopped", "named")
	state(t, pids["zombie"], "Z")
	state(t, pids["stopped"], "T")
	rows, err := proc.NewTable().Below(root.id.PID)
	require.NoError(t, err)

	got, want := []int{}, []int{}
	for _, row := range rows {
		got = append(got, row.PID)
		id, err := proc.Identify(row.PID)
		require.NoError(t, err)
		assert.Equal(t, id, row.Identity)
	}
	shell, ok := find(rows, pids["grandchild"])
	require.True(t, ok)
	want = append(want, shell.PPID)
	for _, pid := range pids {
		want = append(want, pid)
	}
	assert.ElementsMatch(t, want, got, "everything below the root, and nothing else")

	row := func(kind string) record.Process {
		row, ok := find(rows, pids[kind])
		require.True(t, ok, kind)
		return row
	}
	for _, kind := range []string{"plain", "setsid", "escaped", "zombie", "stopped", "named"} {
		assert.Equal(t, root.id.PID, row(kind).PPID, kind)
	}
	assert.Equal(t, row("setsid").PID, row("setsid").SID)
	assert.Equal(t, row("escaped").PID, row("escaped").PGID)
	assert.NotEqual(t, row("plain").PID, row("plain").SID)
	assert.Equal(t, record.StateZombie, row("zombie").State)
	assert.Equal(t, "true", row("zombie").Comm)
	assert.Empty(t, row("zombie").Args)
	assert.Equal(t, record.StateStopped, row("stopped").State)
	assert.Equal(t, []string{"sleep", "300"}, row("stopped").Args)
	assert.Equal(t, forged, row("named").Comm)
	assert.Contains(t, "SR", row("named").State)
	plain := row("plain")
	assert.Equal(t, []string{self(t), "idle", "--token=" + redact.Mark}, plain.Args, "secrets stay out")
	assert.Positive(t, plain.RSS)
	assert.Greater(t, plain.Threads, 1)
	fds, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(plain.PID), "fd"))
	require.NoError(t, err)
	assert.Len(t, fds, plain.FDs)
}

func TestBelowOfNoProcess(t *testing.T) {
	t.Parallel()
	c := fake(t, nil, "reader")
	c.end()
	_, err := proc.NewTable().Below(c.id.PID)
	require.ErrorIs(t, err, proc.ErrGone)
	_, err = proc.NewTable().One(c.id.PID)
	require.ErrorIs(t, err, proc.ErrGone)
	_, err = proc.Identify(c.id.PID)
	require.ErrorIs(t, err, proc.ErrGone)
	for _, pid := range []int{0, -1} {
		_, err = proc.Identify(pid)
		require.ErrorIs(t, err, proc.ErrGone)
	}
}

// A process keeps its identity through execve, but not its command line.
func TestExecIsSeenThroughTheMemory(t *testing.T) {
	t.Parallel()
	in, out := pipe(t)
	c := fake(t, func(cmd *exec.Cmd) { cmd.Stdin = in }, "become", self(t), "idle", "second")
	table := proc.NewTable()
	row := func() record.Process {
		rows, err := table.Below(os.Getpid())
		require.NoError(t, err)
		row, ok := find(rows, c.id.PID)
		require.True(t, ok)
		return row
	}
	first := row()
	require.Equal(t, c.Args, first.Args)
	_, err := io.WriteString(out, "\n")
	require.NoError(t, err)
	var second record.Process
	require.Eventually(t, func() bool {
		second = row()
		return slices.Equal(second.Args, []string{self(t), "idle", "second"})
	}, patience, time.Millisecond)
	assert.Equal(t, first.Identity, second.Identity)
	assert.Equal(t, first.Comm, second.Comm, "the name does not tell")
	assert.Equal(t, "become", first.Args[1], "what a row points at is never changed")
}

// The leader of a program may exit before its threads do. It looks like a
// zombie then, and is none.
func TestLeaderThatLeftItsThreads(t *testing.T) {
	t.Parallel()
	c := fake(t, nil, "headless")
	assert.NotEqual(t, "Z", c.line(t), "as it sees itself")
	raw, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(c.id.PID), "stat"))
	require.NoError(t, err)
	require.Contains(t, string(raw), ") Z ", "this is what the kernel shows")
	row, err := proc.NewTable().One(c.id.PID)
	require.NoError(t, err)
	assert.NotEqual(t, record.StateZombie, row.State)
	assert.Positive(t, row.RSS)
	assert.False(t, proc.Gone(c.id))
	require.NoError(t, proc.Signal(c.id, 9))
	assert.NoError(t, proc.WaitGone(within(t), c.id))
}

// Not parallel: it counts what the whole process allocates.
func TestWarmCensusAllocatesNothingPerProcess(t *testing.T) {
	root, _ := forest(t, "sleep=40")
	settled(t, root.id.PID, 40)
	few := allocations(t, root.id.PID, 40)
	big, _ := forest(t, "sleep=240")
	settled(t, big.id.PID, 240)
	many := allocations(t, big.id.PID, 240)
	t.Logf("allocations per census: %v with 40 descendants, %v with 240", few, many)
	assert.Less(t, many, 20.0, "less than one for ten processes: what the runtime makes by itself")
	assert.Less(t, few, 20.0)
}

func settled(t testing.TB, root, n int) {
	table := proc.NewTable()
	require.Eventually(t, func() bool {
		rows, err := table.Below(root)
		return err == nil && len(rows) == n && !slices.ContainsFunc(rows, func(p record.Process) bool { return p.Comm != "sleep" })
	}, patience, time.Millisecond)
}

func allocations(t *testing.T, root, want int) float64 {
	table := proc.NewTable()
	least := math.Inf(1) // other goroutines of the runtime allocate as well
	for range 5 {
		least = min(least, testing.AllocsPerRun(3, func() {
			rows, err := table.Below(root)
			if err != nil || len(rows) != want {
				t.Error(len(rows), err)
			}
		}))
	}
	return least
}

// Rows come and go while a census is taken: none that stays may be missed.
func TestCensusWhileTheTreeChanges(t *testing.T) {
	t.Parallel()
	root, pids := forest(t, "plain", "escaped", "setsid")
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = exec.CommandContext(t.Context(), "sh", "-c", "true & true & (true &) ; true").Run()
			}
		}
	}()
	table, both := proc.NewTable(), proc.NewTable()
	for range 60 {
		for _, table := range []*proc.Table{table, both} { // one knows who is a stranger of its root, one has another root each time
			rows, err := table.Below(root.id.PID)
			require.NoError(t, err)
			require.Len(t, rows, len(pids))
		}
		_, err := both.Below(os.Getpid())
		require.NoError(t, err)
	}
	close(stop)
	<-done
}

func pipe(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}
