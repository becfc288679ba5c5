package keeper_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keeper":
			os.Exit(keeper.Main(os.Args[2:]))
		case "host":
			host()
		case "between":
			start("sleeper")
			os.Exit(0)
		case "sleeper":
			<-time.After(patience) // it lives until it is ended
			os.Exit(0)
		case "exits":
			status, _ := strconv.Atoi(os.Args[2])
			for _, err := os.Stat(os.Args[3]); err != nil; _, err = os.Stat(os.Args[3]) {
				time.Sleep(time.Millisecond) // sleep-ok: until the test has seen it
			}
			os.Exit(status)
		}
	}
	os.Exit(m.Run())
}

// start starts this program again: without stdio, and where it may, out of the job.
func start(args ...string) *exec.Cmd {
	for _, flags := range []uint32{windows.CREATE_BREAKAWAY_FROM_JOB, 0} {
		c := exec.Command(os.Args[0], args...)
		c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: flags}
		if c.Start() == nil {
			return c
		}
		if flags != 0 {
			fmt.Println("breakaway refused")
		}
	}
	return nil
}

// host has a child, and a grandchild whose parent has ended.
func host() {
	start("sleeper")
	_ = start("between").Wait()
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3)
}

func begin(t *testing.T, exits chan keeper.Exited) (*keeper.Keeper, *keeper.Host, []record.Process) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "s"), 0o700))
	k, err := keeper.Start(t.Context(), keeper.Params{
		Self: self, Dir: filepath.Join(dir, "s"), Log: filepath.Join(dir, "log"), OnExit: func(e keeper.Exited) { exits <- e },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = k.Close() })
	assert.True(t, k.Hello.Subreaper)
	h, err := k.StartHost(t.Context(), keeper.HostParams{Argv: []string{self, "host"}})
	require.NoError(t, err)
	t.Cleanup(func() { h.Stdin.Close(); h.Stdout.Close() })
	for in := bufio.NewScanner(h.Stdout); ; {
		require.True(t, in.Scan(), "%v", in.Err())
		if line := strings.TrimSpace(in.Text()); line == "ready" {
			break
		} else {
			assert.Equal(t, "breakaway refused", line)
		}
	}
	census, err := k.Census(t.Context())
	require.NoError(t, err)
	require.NotNil(t, census.Host)
	assert.Equal(t, h.Process.Identity, census.Host.Identity)
	sleepers := slices.DeleteFunc(census.Processes, func(p record.Process) bool { return len(p.Args) < 2 || p.Args[1] != "sleeper" })
	require.Len(t, sleepers, 2, "%v", census.Processes)
	return k, h, sleepers
}

// TestCensusAndSweep: an orphan stays in sight, the host's exit is told, and the sweep ends all that is left.
func TestCensusAndSweep(t *testing.T) {
	exits := make(chan keeper.Exited, 16)
	k, h, sleepers := begin(t, exits)
	orphan := slices.IndexFunc(sleepers, func(p record.Process) bool { return p.PPID == 0 })
	require.GreaterOrEqual(t, orphan, 0, "one has no parent: %v", sleepers)
	assert.Equal(t, h.Process.PID, sleepers[1-orphan].PPID)

	evidence, err := k.Evidence(t.Context(), []record.Identity{sleepers[orphan].Identity, sleepers[1-orphan].Identity})
	require.NoError(t, err)
	assert.Contains(t, evidence[0].Parent, "has ended")
	assert.Empty(t, evidence[1].Parent)
	assert.Equal(t, filepath.Base(os.Args[0]), filepath.Base(evidence[1].Exe))
	assert.Less(t, evidence[1].Age.D(), time.Minute)

	twin, err := k.StartTwin(t.Context(), []string{os.Args[0], "sleeper"}, os.Environ())
	require.NoError(t, err)
	census, err := k.Census(t.Context())
	require.NoError(t, err)
	assert.False(t, slices.ContainsFunc(census.Processes, func(p record.Process) bool { return p.Identity == twin.Identity }))

	require.NoError(t, h.Stdin.Close())
	e := told(t, exits, h.Process.Identity)
	assert.True(t, e.Host)
	assert.Equal(t, record.Exit{Code: 3}, e.Exit)

	require.NoError(t, proc.Signal(twin.Identity, syscall.SIGKILL))
	assert.True(t, told(t, exits, twin.Identity).Twin)

	swept, err := k.Sweep(t.Context())
	require.NoError(t, err)
	assert.Len(t, swept, len(census.Processes), "%v", swept)
	for _, p := range sleepers {
		assert.True(t, proc.Gone(p.Identity))
	}
}

// TestTheDesktopOfWine: some program of a run happens to start it, but it is no helper of that.
func TestTheDesktopOfWine(t *testing.T) {
	const explorer = `C:\windows\system32\explorer.exe`
	for _, c := range []struct {
		comm string
		args []string
		is   bool
	}{
		{"explorer.exe", []string{explorer, "/desktop"}, true},
		{"explorer.exe", []string{explorer, `C:\work`}, false},
		{"explorer.exe", nil, false},
		{"server.exe", []string{"server.exe", "/desktop"}, false},
	} {
		is := keeper.IsDesktopOfWine(record.Process{Comm: c.comm, Args: c.args})
		assert.Equal(t, c.is && keeper.OnWine(), is, "%s %q", c.comm, c.args)
	}
}

// TestTwinsThatEnd: one that somebody has terminated, with whatever status, is told from one that has exited.
func TestTwinsThatEnd(t *testing.T) {
	exits := make(chan keeper.Exited, 16)
	k, _, _ := begin(t, exits)
	for _, status := range []uint32{1, 9, 15, 137, 1<<32 - 1} {
		twin, err := k.StartTwin(t.Context(), []string{os.Args[0], "sleeper"}, os.Environ())
		require.NoError(t, err)
		h, err := proc.Open(twin.Identity, windows.PROCESS_TERMINATE)
		require.NoError(t, err)
		require.NoError(t, windows.TerminateProcess(h, status))
		require.NoError(t, windows.CloseHandle(h))
		assert.Equal(t, record.Exit{Code: -1, Signal: "SIGKILL"}, told(t, exits, twin.Identity).Exit, "%d", status)
	}
	for _, status := range []int{0, 2, 71, 72, 73} {
		may := filepath.Join(t.TempDir(), "may-exit")
		twin, err := k.StartTwin(t.Context(), []string{os.Args[0], "exits", strconv.Itoa(status), may}, os.Environ())
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(may, nil, 0o600))
		assert.Equal(t, record.Exit{Code: status}, told(t, exits, twin.Identity).Exit)
	}
}

func told(t *testing.T, exits <-chan keeper.Exited, id record.Identity) keeper.Exited {
	t.Helper()
	for late := time.After(patience); ; {
		select {
		case e := <-exits:
			if e.Identity == id {
				return e
			}
		case <-late:
			t.Fatal("its end was not told")
		}
	}
}

// TestKilledKeeper takes all with it.
func TestKilledKeeper(t *testing.T) {
	k, h, sleepers := begin(t, make(chan keeper.Exited, 16))
	require.NoError(t, proc.Signal(k.Hello.Identity, syscall.SIGKILL))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for _, id := range []record.Identity{h.Process.Identity, sleepers[0].Identity, sleepers[1].Identity} {
		require.NoError(t, proc.WaitGone(ctx, id))
	}
	<-k.Done()
}

// TestAskedToDie: what the bench ends is told as ended by it.
func TestAskedToDie(t *testing.T) {
	exits := make(chan keeper.Exited, 16)
	k, h, _ := begin(t, exits)
	require.ErrorContains(t, k.Signal(t.Context(), h.Process.Identity, "SIGTERM"), "unsupported")
	require.NoError(t, k.Signal(t.Context(), h.Process.Identity, "SIGKILL"))
	e := told(t, exits, h.Process.Identity)
	assert.True(t, e.Asked)
	assert.Equal(t, record.Exit{Code: -1, Signal: "SIGKILL"}, e.Exit)
}
