package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
)

// stranger is another user than this one, with a folder and a copy of this program that it may use.
func stranger(t *testing.T) (program, dir string, user *syscall.Credential) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may start processes of another user")
	}
	own := uint32(10_000 + os.Getpid()%50_000) //nolint:gosec // of this test alone: a limit counts what others of the same user run
	user = &syscall.Credential{Uid: own, Gid: own}
	base, err := os.MkdirTemp("", "stranger-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program, dir = filepath.Join(base, "leakbench"), filepath.Join(base, "home")
	self, err := os.Executable()
	require.NoError(t, err)
	text, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, files.Program(program, text))
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chown(dir, int(user.Uid), int(user.Gid)))
	require.NoError(t, os.Chmod(base, 0o755)) //nolint:gosec // another user is to use it
	return program, dir, user
}

// TestTooFewProcesses: the limit counts the processes and threads of a user, and does not hold for root. How many a run needs depends on
// the processors, and how many the user has on the Go runtime of the program: both are taken from what the program says.
func TestTooFewProcesses(t *testing.T) {
	t.Parallel()
	program, dir, user := stranger(t)
	as := func(limit int, command string) (int, string) {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", fmt.Sprintf(`ulimit -u %d && exec "$LB" %s`, limit, command))
		cmd.Env = []string{"LB=" + program, "HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GOMAXPROCS=" + os.Getenv("GOMAXPROCS")}
		cmd.Dir = dir
		cmd.WaitDelay = time.Second
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: user}
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run()
		return cmd.ProcessState.ExitCode(), out.String()
	}
	refused := func(limit int) (has, needs int) {
		code, said := as(limit, "run storm --progress none")
		require.Equal(t, exitUsage, code, said)
		assert.Equal(t, 2, strings.Count(said, "\n"), said)
		assert.Regexp(t, `leakbench: this user may have \d+ processes and threads and has \d+, and a run needs \d+ more: nothing was run`, said)
		assert.Contains(t, said, "hint: ulimit -u")
		may := 0
		_, err := fmt.Sscanf(said, "leakbench: this user may have %d processes and threads and has %d, and a run needs %d more:", &may, &has, &needs)
		require.NoError(t, err, said)
		assert.Equal(t, limit, may, said)
		assert.Positive(t, has, said)
		code, said = as(limit, "doctor")
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, said, "missing  processes")
		return has, needs
	}
	_, needs := refused(60)
	_, again := refused(needs / 4) // it hardly starts
	assert.Equal(t, needs, again, "it depends on the machine alone")
	has, _ := refused(needs) // enough for a run, and not beside the bench itself
	assert.NoDirExists(t, filepath.Join(dir, ".leakbench"))
	code, said := as(2*(has+needs), "run shutdown --progress none")
	assert.Equal(t, exitClean, code, said)
}

// TestNoProcNoDev: in namespaces in which they are not there, or another's.
func TestNoProcNoDev(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("without the race detector")
	}
	if code, said := limited(t, "unshare -Urmpf true"); code != 0 {
		t.Skip("no namespaces here: " + said)
	}
	for name, c := range map[string]struct{ unshare, before, found, do string }{
		"no proc":      {"-Urm", "mount -t tmpfs none /proc", "/proc is not mounted, so no process can be seen", "mount -t proc"},
		"another proc": {"-Urpf", "true", "no process of a run can be seen: /proc is that of another pid namespace: ", "mount -t proc"},
		"no dev":       {"-Urm", "mount -t tmpfs none /dev", "no process can be started without the null device: ", "mount a /dev"},
	} {
		for _, command := range []string{`run storm --out "$OUT/none"`, `doctor --out "$OUT"`} {
			code, said := limited(t, "unshare "+c.unshare+" bash -c '"+c.before+` && "$LB" `+command+`; code=$?; ls "$OUT"; exit $code'`)
			assert.Equal(t, exitUsage, code, "%s: %s: %s", name, command, said)
			assert.Contains(t, said, c.found, name)
			assert.Contains(t, said, c.do, name)
			assert.NotContains(t, said, "bug of leakbench")
			if strings.HasPrefix(command, "run") {
				assert.Equal(t, 2, strings.Count(said, "\n"), said)
				assert.Contains(t, said, ": nothing was run\nhint: ", name)
			}
		}
	}
}

// TestTooFewDescriptors: nothing else is blamed for them, and the kernel is known all the same.
func TestTooFewDescriptors(t *testing.T) {
	t.Parallel()
	const others = "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; " // which whoever runs the tests may have left open
	// The runtime of Go holds up to seven before main begins: three streams, two files of a cgroup v1, epoll and its eventfd. It ends a
	// program that can't have them. 8 may be just enough to begin with, if no two files are read at the same time.
	for _, few := range []int{8, 12} {
		limit := strconv.Itoa(few)
		code, said := limited(t, others+"ulimit -n "+limit+`; "$LB" run storm --out "$OUT/none"`)
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, said, "leakbench: this process may have "+limit+" open files, and a run needs 64: nothing was run\nhint: ulimit -n")
		code, said = limited(t, others+"ulimit -n "+limit+`; "$LB" doctor --out "$OUT"`)
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, said, "ulimit -n 1024")
		if few == 12 { // with less it can't look
			assert.Regexp(t, `kernel [0-9]+\.`, said)
		}
		assert.NotContains(t, said, "unix_diag")
		assert.NotContains(t, said, "/dev")
		code, said = limited(t, others+"ulimit -n "+limit+`; "$LB" attach $$ --for 1s`)
		assert.NotContains(t, said, "bug of leakbench")
		if code == exitInconclusive {
			continue
		}
		assert.Equal(t, exitUsage, code, said)
		assert.Contains(t, said, "hint: ulimit -n")
	}
}

// TestAFullDisk: 2 says that nothing ran, so it is not the answer of a disk that is full after the first of some runs.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	if raced {
		t.Skip("without the race detector")
	}
	if code, said := limited(t, "unshare -Urm true"); code != 0 {
		t.Skip("no namespaces here: " + said)
	}
	for _, c := range []struct {
		size, command string
		code          int
	}{
		{"500k", "run shutdown cron hang -j 1 --progress none", exitUsage},
		{"1400k", "run shutdown cron hang -j 1 --progress none", exitInconclusive},
		{"1400k", "gate shutdown cron hang -j 1 --progress none", exitInconclusive},
		{"500k", "score --hosts exact --scenarios shutdown,cron,hang -j 1", exitUsage},
		{"1400k", "score --hosts exact --scenarios shutdown,cron,hang -j 1", exitInconclusive},
	} {
		t.Run(c.size+" "+strings.Fields(c.command)[0], func(t *testing.T) {
			t.Parallel()
			code, said := limited(t, `unshare -Urm bash -c 'mount -t tmpfs -o size=`+c.size+` none "$OUT" && cd "$OUT" && "$LB" `+c.command+"'")
			assert.Equal(t, c.code, code, said)
			assert.Contains(t, said, "no space left on device")
			flag := map[bool]string{true: "--dir", false: "--out"}[strings.HasPrefix(c.command, "score")]
			assert.Contains(t, said, "hint: choose another folder with "+flag)
		})
	}
}
