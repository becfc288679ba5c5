package keeper

import (
	"errors"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
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
	if k.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(k.group.Fd())
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

// CanStandBy says that HostParams.Bystander works here.
const CanStandBy = true

// startBystander puts a process of the keeper's own into the host's group. It catches no signal, so that whoever
// signals the group ends it. The host may be gone already, and its group with it: then there is nobody to stand by.
func (k *process) startBystander(host record.Identity) (*record.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	attr := &os.ProcAttr{Env: os.Environ(), Files: []*os.File{in}, Sys: ownGroup()}
	attr.Sys.Pgid = host.PID
	row, err := k.startOther(inHostGroup, self, []string{self, bystanderCommand}, attr)
	if err != nil {
		leash.Close()
		return nil, err
	}
	k.leash = append(k.leash, leash)
	return row, nil
}

// startTwin starts a process that is none of the host's, away from its group
// and session: only who looks for its command line finds it.
func (k *process) startTwin(c HostParams) (*record.Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("no command")
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	attr := &os.ProcAttr{Env: c.Env, Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	k.live.Lock() // the reaper must not take it for the host's
	defer k.live.Unlock()
	return k.startOther(isTwin, c.Argv[0], c.Argv, attr)
}

// startOther starts a process that is none of the host's. The caller holds live.
func (k *process) startOther(as standing, path string, argv []string, attr *os.ProcAttr) (*record.Process, error) {
	if k.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(k.group.Fd())
	}
	pid, err := startProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	row, err := k.table.One(pid)
	if err != nil {
		// What nobody knows would be taken for the host's. It is reaped here: the reaper waits for live.
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
		return nil, err
	}
	// A process in the middle of execve(2) has its new memory and no arguments
	// yet: fs/exec.c wakes the parent of a vfork before it sets arg_start.
	row.Args = slices.Clone(argv)
	k.others[row.Identity] = as
	return &row, nil
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
