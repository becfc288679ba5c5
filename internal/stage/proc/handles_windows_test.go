package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
)

// readerMark has this test binary read its stdin until that ends.
const readerMark = "LEAKBENCH_TEST_READER"

func TestMain(m *testing.M) {
	if os.Getenv(readerMark) != "" {
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// reader starts a process that reads its stdin, and returns the end to write to.
func reader(t *testing.T) (record.Identity, *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.WaitDelay = time.Minute
	cmd.Stdin = in
	cmd.Env = append(os.Environ(), readerMark+"=1")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	t.Cleanup(func() { _, _ = out.Close(), cmd.Wait() })
	_, err = bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	id, err := Identify(cmd.Process.Pid)
	require.NoError(t, err)
	return id, out
}

// TestWhoHoldsStdin: the evidence names whoever has the other end of a process's stdin, and nobody when it is closed.
func TestWhoHoldsStdin(t *testing.T) {
	t.Parallel()
	id, out := reader(t)
	e := Examine([]record.Identity{id})[0]
	require.Len(t, e.Descriptors, 3, "%v", e.Unseen)
	stdin := e.Descriptors[0]
	assert.Equal(t, "read", stdin.Mode)
	assert.True(t, stdin.Known)
	require.Len(t, stdin.Holders, 1)
	assert.Equal(t, Self(), stdin.Holders[0].Identity)
	assert.Equal(t, int(out.Fd()), stdin.Holders[0].FD)
	assert.Equal(t, os.DevNull, e.Descriptors[2].Target)
	require.NoError(t, out.Close())
	if e = Examine([]record.Identity{id})[0]; len(e.Descriptors) > 0 { // it may have ended by now
		assert.Empty(t, e.Descriptors[0].Holders)
	}
}

// TestWhoHoldsACopy: a copy of the write end that another process has got keeps stdin open.
func TestWhoHoldsACopy(t *testing.T) {
	t.Parallel()
	id, out := reader(t)
	other, _ := reader(t)
	to, err := Open(other, windows.PROCESS_DUP_HANDLE)
	require.NoError(t, err)
	defer func() { _ = windows.CloseHandle(to) }()
	var copied windows.Handle
	require.NoError(t, windows.DuplicateHandle(windows.CurrentProcess(), windows.Handle(out.Fd()), to, &copied, 0, false, windows.DUPLICATE_SAME_ACCESS))
	holders := Examine([]record.Identity{id})[0].Descriptors[0].Holders
	require.Len(t, holders, 2)
	assert.ElementsMatch(t, []record.Identity{Self(), other}, []record.Identity{holders[0].Identity, holders[1].Identity})
	var back windows.Handle // the copy goes, so that the first one can end
	require.NoError(t, windows.DuplicateHandle(to, copied, windows.CurrentProcess(), &back, 0, false, windows.DUPLICATE_CLOSE_SOURCE))
	require.NoError(t, windows.CloseHandle(back))
}

// TestWhichJob: the evidence names who has a job that a process is in.
func TestWhichJob(t *testing.T) {
	t.Parallel()
	id, _ := reader(t)
	holder, _ := reader(t)
	assert.Equal(t, "no job that a process of the host has a handle of", Examine([]record.Identity{id})[0].Job)
	job, err := windows.CreateJobObject(nil, nil)
	require.NoError(t, err)
	defer func() { _ = windows.CloseHandle(job) }()
	h, err := Open(id, windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE)
	require.NoError(t, err)
	defer func() { _ = windows.CloseHandle(h) }()
	require.NoError(t, windows.AssignProcessToJobObject(job, h))
	to, err := Open(holder, windows.PROCESS_DUP_HANDLE)
	require.NoError(t, err)
	defer func() { _ = windows.CloseHandle(to) }()
	var copied windows.Handle
	require.NoError(t, windows.DuplicateHandle(windows.CurrentProcess(), job, to, &copied, 0, false, windows.DUPLICATE_SAME_ACCESS))
	assert.Contains(t, Examine([]record.Identity{id})[0].Job, fmt.Sprintf("(pid %d)", holder.PID))
}

// TestHandleEntry: the layout is that of the header, on a 64-bit system.
func TestHandleEntry(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 40, unsafe.Sizeof(handleEntry{}))
}
