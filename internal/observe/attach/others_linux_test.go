package attach_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// partEnv says which part a copy of the test binary plays, as another user.
const partEnv = "LEAKBENCH_TEST_PART"

func TestMain(m *testing.M) {
	switch part := os.Getenv(partEnv); part {
	case "":
		dir, err := copied()
		if err != nil {
			panic(err)
		}
		code := m.Run()
		_ = os.RemoveAll(dir)
		os.Exit(code)
	case "secret": // a server that nobody may look into
		_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	case "wakes": // a server whose runtime is busy with itself
		go wakeItself()
		fmt.Println("ready")
		_, _ = io.Copy(io.Discard, os.Stdin)
	default:
		lookOnce(part)
	}
}

// wakeItself counts up an eventfd each time that a timer ticks.
func wakeItself() {
	timer, _ := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, 0)
	event, _ := unix.Eventfd(0, 0)
	tick := unix.NsecToTimespec(int64(2 * time.Millisecond))
	_ = unix.TimerfdSettime(timer, 0, &unix.ItimerSpec{Interval: tick, Value: tick}, nil)
	counter := make([]byte, 8)
	for {
		_, _ = unix.Read(timer, counter)
		_, _ = unix.Write(event, counter)
		_, _ = unix.Read(event, counter)
	}
}

// program is a copy of the test binary that any user may run. It is made before anything is started: a file that a process has open for
// writing can't be run, and each child of another test has it open for a moment.
var program string

func copied() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "attach"); err != nil {
		return "", err
	}
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "attach.test")
	// The mode of a new file depends on the umask, and nobody has to execute this one.
	return dir, errors.Join(os.Chmod(dir, 0o755), os.WriteFile(program, binary, 0o700), os.Chmod(program, 0o755))
}

// lookOnce watches a process until it has looked for holders, and prints the last look.
func lookOnce(pid string) {
	found, err := attach.Find(pid)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var last attach.Look
	err = attach.Run(ctx, attach.Params{
		Host: found[0].Identity, Every: 20 * time.Millisecond, Add: func(record.Event) error { return nil },
		OnLook: func(l attach.Look) {
			last = l
			young := func(p record.Process) bool { return l.Facts[p.Identity].Held.IsZero() || p.Comm == "bash" }
			if len(l.Census.Processes) > 0 && !slices.ContainsFunc(l.Census.Processes, young) {
				cancel()
			}
		},
	}, 0)
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range last.Census.Processes {
		_ = json.NewEncoder(os.Stdout).Encode(last.Facts[p.Identity].Evidence)
	}
}

// nobody is another user.
const nobody = 65534

// asNobody runs a copy of the test binary as another user.
func asNobody(t *testing.T, part string) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir, cmd.Env = "/", append(os.Environ(), partEnv+"="+part)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	return cmd
}

func looksOf(t *testing.T, cmd *exec.Cmd) (found []record.Evidence) {
	t.Helper()
	out, err := cmd.Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		var e record.Evidence
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		found = append(found, e)
	}
	return found
}

// TestAnotherUser: of another user's processes the table is seen, and each other column says why it is not.
func TestAnotherUser(t *testing.T) {
	t.Parallel()
	// No other test's cat runs the same command line, as what an earlier life of this host may have left would.
	host, _ := shell(t, `exec 9> >(exec cat - >/dev/null); echo ready; read -r`)
	found := looksOf(t, asNobody(t, fmt.Sprint(host.Process.Pid)))
	require.Len(t, found, 1)
	assert.Equal(t, "cat", found[0].Comm)
	assert.Positive(t, found[0].RSS)
	assert.NotEmpty(t, found[0].Cgroup)
	unseen := strings.Join(found[0].Unseen, "\n")
	for _, column := range []string{"descriptors", "exe", "syscall", "what it reads and writes"} {
		assert.Regexp(t, column+": (permission denied|operation not permitted)", unseen)
	}
}

// TestNotDumpable: a process of this user that is not dumpable can't be looked into. That the host holds its stdin can't be seen, and of
// another child it still can.
func TestNotDumpable(t *testing.T) {
	t.Parallel()
	host := asNobody(t, "secret")
	host.Path, host.Args = "/bin/bash", []string{"bash", "-c", `exec 9> >(exec cat -u >/dev/null) 8> >(exec -a secret ` + program + `); read -r`}
	in, err := host.StdinPipe()
	require.NoError(t, err)
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	t.Cleanup(func() { _ = in.Close(); _ = host.Process.Kill(); _ = host.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "ready\n", line)
	found := looksOf(t, asNobody(t, fmt.Sprint(host.Process.Pid)))
	require.Len(t, found, 2)
	cat := slices.IndexFunc(found, func(e record.Evidence) bool { return e.Comm == "cat" })
	require.GreaterOrEqual(t, cat, 0)
	assert.Empty(t, found[1-cat].Descriptors)
	assert.Contains(t, strings.Join(found[1-cat].Unseen, "\n"), "descriptors: permission denied")
	require.NotEmpty(t, found[cat].Descriptors)
	require.NotEmpty(t, found[cat].Descriptors[0].Holders)
	assert.Equal(t, host.Process.Pid, found[cat].Descriptors[0].Holders[0].PID)
	assert.False(t, found[cat].Descriptors[0].Known, "the other one may hold it, too")
}

// TestHiddenProcesses: where /proc hides what others run, nothing is said of whether there is such a process.
func TestHiddenProcesses(t *testing.T) {
	t.Parallel()
	host, _ := shell(t, `echo ready; read -r`)
	cmd := asNobody(t, fmt.Sprint(host.Process.Pid))
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups ` + program}
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Skipf("no proc can be mounted here: %v: %s", err, out)
	}
	assert.Contains(t, string(out), "this user may not see the process: /proc is mounted with hidepid")
}

// asksOnly is a call that asks whether there is such a process.
var asksOnly = regexp.MustCompile(`\bkill\(\d+, 0(\)| <unfinished \.\.\.>)`)

// TestNeverASignalNeverATrace: whoever is watched is neither signalled nor stopped.
func TestNeverASignalNeverATrace(t *testing.T) {
	t.Parallel()
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	host, _ := shell(t, `exec 9> >(exec cat >/dev/null); echo ready; read -r`)
	self, err := os.Executable()
	require.NoError(t, err)
	log := filepath.Join(t.TempDir(), "calls")
	cmd := exec.CommandContext(t.Context(), strace, "-f", "-o", log, "-e", "trace=kill,tkill,tgkill,ptrace,pidfd_send_signal,rt_sigqueueinfo", self)
	cmd.WaitDelay, cmd.Env = 10*time.Second, append(os.Environ(), "GODEBUG=asyncpreemptoff=1", partEnv+"="+fmt.Sprint(host.Process.Pid))
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("nothing can be traced here: %v", err)
	}
	require.Contains(t, string(out), `"comm":"cat"`)
	calls, err := os.ReadFile(log)
	require.NoError(t, err)
	for line := range strings.Lines(string(calls)) {
		rest := strings.Contains(line, " resumed>") // of a call whose line was cut in two by another thread's
		assert.True(t, rest || asksOnly.MatchString(line) || strings.Contains(line, "--- SIG") || strings.Contains(line, "+++ "), line)
	}
	_, err = proc.Identify(host.Process.Pid)
	require.NoError(t, err)
}
