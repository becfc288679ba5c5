package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
)

// readerMark has this test binary read its stdin until that ends, and live until it is ended.
const readerMark = "LEAKBENCH_TEST_READER"

const patience, pause = 30 * time.Second, 5 * time.Millisecond

func TestMain(m *testing.M) {
	if os.Getenv(readerMark) != "" {
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
		<-time.After(patience)
		return
	}
	os.Exit(m.Run())
}

// reader starts a process that reads its stdin, and returns the end to write to.
func reader(t *testing.T) (record.Identity, *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	require.NoError(t, err)
	return reads(t, in, out), out
}

// duplex is a named pipe that both ends read and write, as node.exe makes them.
func duplex(t *testing.T, name string) (in, out *os.File) {
	t.Helper()
	path, err := windows.UTF16PtrFromString(`\\.\pipe\` + name)
	require.NoError(t, err)
	const any = windows.PIPE_UNLIMITED_INSTANCES
	server, err := windows.CreateNamedPipe(path, windows.PIPE_ACCESS_DUPLEX, windows.PIPE_TYPE_BYTE, any, 4096, 4096, 0, nil)
	require.NoError(t, err)
	client, err := windows.CreateFile(path, windows.GENERIC_READ|windows.GENERIC_WRITE, 0, nil, windows.OPEN_EXISTING, 0, 0)
	require.NoError(t, err)
	return os.NewFile(uintptr(client), "client"), os.NewFile(uintptr(server), "server")
}

// reads starts a process that reads in until that ends.
func reads(t *testing.T, in, out *os.File) record.Identity {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.WaitDelay = patience
	cmd.Stdin = in
	cmd.Env = append(os.Environ(), readerMark+"=1")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	require.NoError(t, in.Close())
	t.Cleanup(func() { _, _, _ = out.Close(), cmd.Process.Kill(), cmd.Wait() })
	_, err = bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	id, err := Identify(cmd.Process.Pid)
	require.NoError(t, err)
	return id
}

// TestWhoHoldsADuplexPipe: the process itself, which could write to its end, holds none of the other. Nor does who has the name by now.
func TestWhoHoldsADuplexPipe(t *testing.T) {
	t.Parallel()
	const name = "leakbench-test-duplex"
	in, out := duplex(t, name)
	id := reads(t, in, out)
	stdin := Examine([]record.Identity{id})[0].Descriptors[0]
	require.Len(t, stdin.Holders, 1, "%+v", stdin)
	assert.Equal(t, Self(), stdin.Holders[0].Identity)
	assert.Equal(t, int(out.Fd()), stdin.Holders[0].FD)

	secondIn, secondOut := duplex(t, name)
	second := reads(t, secondIn, secondOut)
	e := Examine([]record.Identity{second})[0]
	if strings.Contains(strings.Join(e.Unseen, "\n"), "several pipes have its name") { // Wine, which has nothing but the name
		assert.False(t, e.Descriptors[0].Known)
		assert.Empty(t, e.Descriptors[0].Holders)
		return
	}
	assert.True(t, e.Descriptors[0].Known, "%v", e.Unseen)
	require.Len(t, e.Descriptors[0].Holders, 1)
	assert.Equal(t, int(secondOut.Fd()), e.Descriptors[0].Holders[0].FD)
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
	e = Examine([]record.Identity{id})[0]
	require.Len(t, e.Descriptors, 3, "%v", e.Unseen)
	assert.True(t, e.Descriptors[0].Known)
	assert.Empty(t, e.Descriptors[0].Holders)
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

// TestWhichJob: the evidence names who has a job that a process is in, or jobs that it is not in, and how one may leave them.
func TestWhichJob(t *testing.T) {
	t.Parallel()
	id, _ := reader(t)
	holder, _ := reader(t)
	outside, _ := reader(t)
	assert.Equal(t, "no job that a process of the host has a handle of", describeJobs(nil, nil))
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
	who := fmt.Sprintf("(pid %d)", holder.PID)
	e := Examine([]record.Identity{id, outside})
	assert.Equal(t, "a job of "+e[0].Comm+" "+who, e[0].Job)
	assert.Equal(t, "none of the jobs of "+e[0].Comm+" "+who, e[1].Job)

	for flag, says := range map[uint32]string{
		windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK: ", which lets go of what is started in there (silent breakaway)",
		windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK:        ", which lets go of what asks for it (breakaway)",
	} {
		var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
		limits.BasicLimitInformation.LimitFlags = flag
		at, size := uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))
		_, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, at, size)
		require.NoError(t, err)
		read := limitFlags(job)
		assert.Contains(t, []uint32{flag, 0}, read, "Wine does not tell the limits of a job")
		e = Examine([]record.Identity{id, outside})
		assert.True(t, strings.HasSuffix(e[0].Job, leaving(read)), e[0].Job)
		assert.True(t, strings.HasSuffix(e[1].Job, leaving(read)), e[1].Job)
		owner := jobs{record.Process{Identity: holder, Comm: "host.exe"}, flag}
		assert.Equal(t, "a job of host.exe "+who+says, describeJobs([]jobs{owner}, nil))
		assert.Equal(t, "none of the jobs of host.exe "+who+says, describeJobs(nil, []jobs{owner}))
	}
}

// TestHandleEntry: the layout is that of the header, on a 64-bit system.
func TestHandleEntry(t *testing.T) {
	t.Parallel()
	assert.EqualValues(t, 40, unsafe.Sizeof(handleEntry{}))
}
