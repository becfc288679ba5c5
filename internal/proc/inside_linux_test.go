package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// What real processes show only at rare moments, or on older kernels.

func nap(t *testing.T) (*exec.Cmd, record.Identity) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sleep", "300")
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	id, err := Identify(cmd.Process.Pid)
	require.NoError(t, err)
	return cmd, id
}

const sleepLine = "42 (sleep) S 7 42 5 0 -1 4194304 101 0 0 0 3 4 0 0 20 0 1 0 1121578 3133440 380 18446744073709551615 " +
	"94453979262976 94453979282857 140730855256848 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 94453979298864 94453979300480 94454579126272 " +
	"140730855258623 140730855258643 140730855258643 140730855260139 0\n"

func TestParse(t *testing.T) {
	t.Parallel()
	var s stat
	require.True(t, s.parse([]byte(sleepLine)))
	assert.Equal(t, []any{42, 7, 42, 5, 1}, []any{s.pid, s.ppid, s.pgid, s.sid, s.threads})
	assert.Equal(t, []uint64{1121578, 7, 380}, []uint64{s.start, s.cpu, uint64(s.rss)})
	assert.Equal(t, image{94453979262976, 140730855258623, 140730855258643}, s.image)
	for _, name := range []string{"", ")", "(", ") Z 1 (x) S 1", "a\nb", strings.Repeat("x", 63)} {
		require.True(t, s.parse([]byte(strings.Replace(sleepLine, "sleep", name, 1))), name)
		assert.Equal(t, name, string(s.name()))
		assert.Equal(t, []any{42, 7, byte('S')}, []any{s.pid, s.ppid, s.state}, name)
	}
	for cut := range len(sleepLine) - 50 { // torn
		assert.False(t, s.parse([]byte(sleepLine[:cut])), cut)
	}
}

// A row whose parent ended while the table was read is read again: it has come
// home by then, and is below the root after all.
func TestRowsWithoutAParentAreReadAgain(t *testing.T) {
	t.Parallel()
	_, id := nap(t)
	dead, deadID := nap(t)
	_ = dead.Process.Kill()
	_ = dead.Wait()
	const nobody = 1 << 29
	table := NewTable()
	table.stats = []stat{{pid: id.PID, ppid: nobody, state: 'S'}, {pid: deadID.PID, ppid: nobody, state: 'S'}}
	if id.PID > deadID.PID {
		table.stats[0], table.stats[1] = table.stats[1], table.stats[0]
	}
	table.markBelow(os.Getpid())
	require.Len(t, table.below, 1)
	assert.Equal(t, id, table.stats[table.below[0]].identity())
}

// A table that is used for days keeps nothing of the processes that have ended.
func TestTableForgetsTheDead(t *testing.T) {
	t.Parallel()
	table := NewTable()
	for range 3 {
		cmd, id := nap(t)
		_, err := table.Below(os.Getpid())
		require.NoError(t, err)
		require.Contains(t, table.known, id)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_, err = table.Below(os.Getpid())
		require.NoError(t, err)
		require.NotContains(t, table.known, id)
	}
}

// A number of /proc/PID/stat may be negative, and one that is none is no row.
func TestStatReadsSignedNumbers(t *testing.T) {
	t.Parallel()
	fields := strings.Fields("S 1 -7 12 0 -1 0 0 0 0 0 3 4 0 0 20 -5 2 0 99 0 -3" + strings.Repeat(" 0", 28))
	line := func() []byte { return []byte("5 (a) b) " + strings.Join(fields, " ") + "\n") }
	var s stat
	require.True(t, s.parse(line()))
	assert.Equal(t, []int{5, 1, -7, 12, 2}, []int{s.pid, s.ppid, s.pgid, s.sid, s.threads})
	assert.Equal(t, int64(-3), s.rss)
	assert.Equal(t, []uint64{7, 99}, []uint64{s.cpu, s.start})
	fields[6] = "0x1"
	assert.False(t, s.parse(line()))
}

// Rows that are read one after the other can close a ring when pids are
// reused meanwhile.
func TestRingOfParents(t *testing.T) {
	t.Parallel()
	table := NewTable()
	table.stats = []stat{
		{pid: 1, state: 'S'},
		{pid: 10, ppid: 12, state: 'S'},
		{pid: 11, ppid: 10, state: 'S'},
		{pid: 12, ppid: 11, state: 'S'},
		{pid: 13, ppid: 1, state: 'S'},
		{pid: 14, ppid: 13, state: 'S'},
	}
	table.markBelow(1)
	assert.Equal(t, []int{4, 5}, table.below)
}

// Before Linux 6.2 the size of the folder fd is 0.
func TestCountingDescriptorsOneByOne(t *testing.T) {
	t.Parallel()
	_, id := nap(t)
	r := newReader()
	require.Eventually(t, func() bool {
		entries, err := os.ReadDir(procPath(id.PID, "fd"))
		return err == nil && len(entries) > 2 && r.countFDs(id.PID) == len(entries) && r.fds(id.PID) == len(entries)
	}, 10*time.Second, time.Millisecond)
	assert.Equal(t, -1, r.countFDs(1<<29))
	assert.Equal(t, -1, r.fds(1<<29))
}

// Where there is no pidfd.
func TestWithoutPidfd(t *testing.T) {
	t.Parallel()
	cmd, id := nap(t)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	require.ErrorIs(t, pollGone(ctx, id), enough)
	other := id
	other.Start++
	require.NoError(t, pollGone(t.Context(), other))
	require.ErrorIs(t, signalByPid(other, syscall.SIGKILL), ErrGone)
	require.NoError(t, check(id), "it was not hit")
	require.NoError(t, signalByPid(id, syscall.SIGKILL))
	require.NoError(t, pollGone(t.Context(), id), "a zombie has ended")
	_ = cmd.Wait()
}

// Without an image to compare, as for another user's process, the command line
// itself is compared.
func TestProgramWithoutAnImage(t *testing.T) {
	t.Parallel()
	_, id := nap(t)
	r := newReader()
	require.Eventually(t, func() bool { // execve(2) sets the name before the arguments
		var s stat
		if r.stat(id.PID, &s) != nil || string(s.name()) != "sleep" {
			return false
		}
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id.PID))
		return err == nil && len(line) > 0
	}, 10*time.Second, time.Millisecond)
	var s stat
	require.NoError(t, r.stat(id.PID, &s))
	s.image = image{}
	p := r.program(&s)
	assert.Equal(t, []string{"sleep", "300"}, p.args)
	assert.True(t, p.runs(&s, r))
	p.sum++ // it was another line
	assert.False(t, p.runs(&s, r))
}

func TestCallNames(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"0 0x0 0x7f615abe5000 0x20000 0x22 0xffffffff 0x0 0x7ffc 0x7f61\n": "read(0)",
		"-1 0x7ffc394fd588 0x7f615ad602ad\n":                               "",
		"running\n":                                                        "",
		"":                                                                 "",
		"4095 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n":                           "syscall 4095",
	} {
		if want == "read(0)" && calls[0] != "read(%d)" {
			continue // 0 is read on amd64
		}
		assert.Equal(t, want, callName(line), line)
	}
}

// TestClocksOfABusyMachine: a thread that loses the processor between the two clocks reads them again, and what it lost counts as nothing.
func TestClocksOfABusyMachine(t *testing.T) {
	t.Parallel()
	const ahead = 5 * time.Second
	for _, lost := range [][]time.Duration{{0}, {300 * time.Millisecond, 0}, {300 * time.Millisecond, 90 * time.Millisecond, 0}} {
		clock, tries := time.Minute, 0
		got, err := aheadBy(func() (time.Duration, error) {
			ran := clock + ahead
			clock += lost[tries]
			tries++
			return ran, nil
		}, func() time.Duration { return clock })
		require.NoError(t, err)
		assert.Equal(t, ahead, got)
		assert.Len(t, lost, tries)
	}
	clock, lost := time.Minute, 300*time.Millisecond // and where it always loses it, the least that it lost
	got, err := aheadBy(func() (time.Duration, error) {
		ran := clock + ahead
		clock += lost
		lost -= 20 * time.Millisecond
		return ran, nil
	}, func() time.Duration { return clock })
	require.NoError(t, err)
	assert.Equal(t, ahead-120*time.Millisecond, got)
	_, err = aheadBy(func() (time.Duration, error) { return 0, errNoClock }, func() time.Duration { return 0 })
	assert.ErrorIs(t, err, errNoClock)
}
