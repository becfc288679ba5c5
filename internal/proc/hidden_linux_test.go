package proc_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/proc"
)

// TestHiddenIsNotGone is about a process of this user's own that /proc does not show for a while: it lives, and is known again as
// soon as it is shown. Without CAP_SYS_PTRACE, hidepid hides what is not dumpable.
func TestHiddenIsNotGone(t *testing.T) {
	t.Parallel()
	for option, shows := range map[string]string{"hidepid=1": "operation not permitted", "hidepid=2": "no such file or directory"} {
		t.Run(option, func(t *testing.T) {
			t.Parallel()
			said, err := inOwnSpace(t, "hider", option).CombinedOutput()
			if strings.HasPrefix(string(said), "no /proc of its own") {
				require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "%s", said)
				t.Skipf("%s", said)
			}
			require.NoError(t, err, "%s", said)
			assert.Equal(t, []string{
				"/proc: " + shows, "gone: false", "identified: false, gone: false", "listed: false",
				"shown, identified: true", "ended, gone: true",
			}, strings.Split(strings.TrimSpace(string(said)), "\n"))
		})
	}
}

// program is this one, which lies in a folder that nobody else may enter.
const program = "/proc/self/exe"

// inOwnSpace runs a fake as root of a user namespace, which is nobody outside: the group 0 sees everything under hidepid.
func inOwnSpace(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	const nobody = 65534
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.WaitDelay = patience
	uid, gid := os.Getuid(), os.Getgid()
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	attr.Credential = &syscall.Credential{NoSetGroups: true}
	if uid == 0 {
		uid, gid = nobody, nobody
		self, err := os.Executable()
		require.NoError(t, err)
		require.NoError(t, os.Chmod(self, 0o755)) // for nobody: under a umask of 077 it is root's alone
		attr.GidMappingsEnableSetgroups, attr.Credential.NoSetGroups = true, false
	}
	attr.UidMappings, attr.GidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}, []syscall.SysProcIDMap{{HostID: gid, Size: 1}}
	cmd.SysProcAttr = attr
	return cmd
}

// hider mounts a /proc, and goes on without the right to look at everything.
func hider(args []string) {
	runtime.LockOSThread()
	err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
	if err == nil {
		err = unix.Mount("proc", "/proc", "proc", 0, args[0])
	}
	if err != nil {
		fmt.Println("no /proc of its own:", err)
		return
	}
	must(unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_PTRACE, 0, 0, 0))
	must(syscall.Exec(program, []string{program, "hidden"}, os.Environ()))
}

func hidden([]string) {
	cmd := exec.Command(program, "secret")
	in, err := cmd.StdinPipe()
	must(err)
	out, err := cmd.StdoutPipe()
	must(err)
	must(cmd.Start())
	lines := bufio.NewScanner(out)
	lines.Scan()
	id, err := proc.Identify(cmd.Process.Pid)
	must(err)
	fmt.Fprintln(in, "hide")
	lines.Scan()
	_, err = os.ReadFile(fmt.Sprintf("/proc/%d/stat", id.PID))
	var errno syscall.Errno
	if errors.As(err, &errno) || errors.Is(err, fs.ErrNotExist) {
		fmt.Println("/proc:", errno)
	}
	fmt.Println("gone:", proc.Gone(id))
	_, err = proc.Identify(id.PID)
	fmt.Printf("identified: %t, gone: %t\n", err == nil, errors.Is(err, proc.ErrGone))
	rows, err := proc.NewTable().Below(os.Getpid())
	must(err)
	fmt.Println("listed:", len(rows) > 0)
	fmt.Fprintln(in, "show")
	again, _ := proc.Identify(id.PID)
	fmt.Println("shown, identified:", again == id)
	must(cmd.Process.Kill())
	_ = cmd.Wait()
	fmt.Println("ended, gone:", proc.Gone(id))
}

// secret is dumpable or not, as it is told.
func secret([]string) {
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		dumpable := uintptr(0)
		if lines.Text() == "show" {
			dumpable = 1
		}
		must(unix.Prctl(unix.PR_SET_DUMPABLE, dumpable, 0, 0, 0))
		fmt.Println("done")
	}
}
