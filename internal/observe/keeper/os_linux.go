package keeper

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// CanLimitFiles says that HostParams.Files works here.
const CanLimitFiles = true

// limitFiles lowers what a process that has just been started may have open. Both limits are lowered: a program in Go
// raises the lower one to the upper one when it starts, which may have been before or may come after this.
func limitFiles(pid, n int) error {
	if n == 0 {
		return nil
	}
	limit := unix.Rlimit{Cur: uint64(n), Max: uint64(n)}
	return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil)
}

// ownGroup has a process lead a group, and the kernel kill it when the thread that started it ends.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// spawn starts the host, or what makes a place for it, in a process group of its own, in the run's cgroup where there is one.
func (k *process) spawn(path string, argv []string, attr *os.ProcAttr, place record.Place) (pid int, err error) {
	attr.Sys = ownGroup()
	placed(place, attr.Sys)
	if k.intoCgroup(attr.Sys); k.group != nil {
		if pid, err = startProcess(path, argv, attr); err == nil {
			return pid, nil
		}
		// clone3 into a cgroup can be refused where making the cgroup was not
		// (no-internal-process rule, delegation): the sweep works without.
		attr.Sys.UseCgroupFD = false
		removeCgroup(k.group)
		k.group = nil
	}
	return startProcess(path, argv, attr)
}

// ownSession has it lead a session likewise.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// intoCgroup has a process start in the run's cgroup, where there is one.
func (k *process) intoCgroup(attr *syscall.SysProcAttr) {
	if k.group != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, int(k.group.Fd())
	}
}

// reapForEver reaps the host and whatever came home, and says how each ended.
// The keeper waits for its children nowhere else, so no exit can be stolen.
func (k *process) reapForEver() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	rows := proc.NewTable()
	for {
		for k.reapOne(rows) {
		}
		<-died
	}
}

// reapOne looks at a dead child before it reaps it: afterwards its identity could not be read any more. Nor may it be reaped
// before whoever has started it knows it: a host may end at once.
func (k *process) reapOne(rows *proc.Table) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	pid := siginfoPID(&info)
	if err != nil || pid == 0 {
		return false
	}
	k.live.Lock()
	row, err := rows.One(pid)
	if err != nil {
		row = record.Process{Identity: record.Identity{PID: pid}}
	}
	var status unix.WaitStatus
	_, err = unix.Wait4(pid, &status, 0, nil)
	k.live.Unlock()
	if err != nil {
		return false
	}
	k.tellExit(row, exitOf(syscall.WaitStatus(status)))
	k.noteReaped()
	return true
}

// siginfoPID is si_pid, which x/sys keeps unexported: it follows the three ints
// of the siginfo_t's head, at the next multiple of a pointer (sigaction(2)).
func siginfoPID(info *unix.Siginfo) int {
	const head, word = 12, unsafe.Sizeof(uintptr(0))
	offset := (head + word - 1) / word * word
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), offset)))
}

// reapOrphan waits for a child that came home to the bench, and that nobody else waits for.
func reapOrphan(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }
