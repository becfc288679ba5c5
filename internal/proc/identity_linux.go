package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

// ErrGone says that a process has ended: it has no row any more, it is a
// zombie where a living one is asked for, or its pid belongs to another.
var ErrGone = errors.New("the process has ended")

// Identify returns the identity of the process that has the pid now, zombies included. Start is field 22 of its stat,
// in clock ticks of 10 ms since boot: two processes share an identity only if the kernel hands out every pid there is
// within one tick. ErrGone: there is none.
func Identify(pid int) (record.Identity, error) {
	var s stat
	if pid <= 0 {
		return record.Identity{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if err := newReader().patiently(pid, &s); err != nil {
		return record.Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return s.identity(), nil
}

// check is nil while the process lives.
func check(id record.Identity) error {
	var s stat
	if id.PID <= 0 {
		return ErrGone
	}
	if err := newReader().patiently(id.PID, &s); err != nil {
		return err
	}
	if s.identity() != id || s.ended() {
		return ErrGone
	}
	return nil
}

// Adopt makes this process the child subreaper of everything below it: what is
// orphaned there comes home to it, and has to be waited for (prctl(2)).
func Adopt() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("failed to become a child subreaper: %w", err)
	}
	return nil
}

// CensusName names how the process table is read.
const CensusName = "procfs"

// Weak says in sentences what can't be seen or done on this machine.
func Weak() []string {
	var weak []string
	says := func(err error, format string) {
		if err != nil {
			weak = append(weak, fmt.Sprintf(format, err))
		}
	}
	_, err := Identify(os.Getpid())
	says(err, "no process can be seen: /proc can't be read (%v)")
	says(TryProc(), "what the census sees may be others' processes: %v")
	if _, err := Identify(1); err != nil {
		weak = append(weak, "processes of other users are hidden (/proc is mounted with hidepid): one that changes its user leaves the census")
	}
	says(TryPidfd(), "signals go by pid right after the identity was checked, and deaths are polled for: no pidfd (%v; needs Linux 5.3)")
	says(TrySockDiag(), "who holds the other end of a socketpair can't be seen: no sock_diag for unix sockets (%v)")
	// proc(5): /proc/PID/fd and wchan need PTRACE_MODE_READ, syscall needs
	// PTRACE_MODE_ATTACH, which Yama's scope 2 and 3 refuse even to a parent.
	if _, err := os.ReadDir("/proc/1/fd"); errors.Is(err, fs.ErrPermission) {
		weak = append(weak,
			"of a process that changed its user it can't be seen what it is blocked in, nor its descriptors and who holds their other ends "+
				"(no permission for those of another user)")
	}
	if scope, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil && len(scope) > 0 && scope[0] >= '2' && os.Getuid() != 0 {
		weak = append(weak, "which system call a survivor is blocked in can't be seen: kernel.yama.ptrace_scope is "+string(scope[:1]))
	}
	return weak
}

// TryProc says why /proc does not show the processes of this one's own pid namespace.
func TryProc() error {
	self, err := os.Readlink("/proc/self")
	if err == nil && self != strconv.Itoa(os.Getpid()) {
		err = fmt.Errorf("/proc is that of another pid namespace: this process is %d, and %s there", os.Getpid(), self)
	}
	return err
}

// TryPidfd says why there are no handles of processes.
func TryPidfd() error {
	fd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

// maxAncestors bounds how far Newborn climbs.
const maxAncestors = 32

// Newborn is the process that was given a pid last, where it lives and is below root. It costs some 20 us, a fraction
// of a census: what forks and exits all the time can be met by it. The number stands in /proc/loadavg (proc(5)).
func Newborn(root int) (record.Identity, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return record.Identity{}, false
	}
	fields := bytes.Fields(text)
	pid, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil {
		return record.Identity{}, false
	}
	r := newReader()
	var newborn stat
	if r.stat(pid, &newborn) != nil || newborn.ended() {
		return record.Identity{}, false
	}
	ancestor := newborn
	for range maxAncestors {
		if ancestor.ppid == root {
			return newborn.identity(), true
		}
		if ancestor.ppid == 0 || r.stat(ancestor.ppid, &ancestor) != nil {
			break
		}
	}
	return record.Identity{}, false
}

// HasEnv says that a process was started with a variable, as "NAME=value", in
// its environment. It is false where that can't be read.
func HasEnv(id record.Identity, variable string) bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(id.PID) + "/environ")
	if err != nil || Gone(id) {
		return false
	}
	return bytes.Contains(append([]byte{0}, text...), []byte("\x00"+variable+"\x00"))
}

// Kernel is the version of the system's kernel, or "" where it does not say.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}
