package keeper

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

// CanLimitFiles says that HostParams.Files works here.
const CanLimitFiles = true

// limitFiles lowers what a process that has just been started may have open.
// Both limits are lowered: a program in Go raises the lower one to the upper
// one when it starts, which may have been before or may come after this.
func limitFiles(pid, n int) error {
	limit := unix.Rlimit{Cur: uint64(n), Max: uint64(n)}
	return unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil)
}

// spawn starts the host, or what makes a place for it, in a process group of its own, in the run's cgroup
// where there is one. The kernel kills it when the keeper dies.
func (k *process) spawn(path string, argv []string, attr *os.ProcAttr, place record.Place) (*os.Process, error) {
	attr.Sys = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	placed(place, attr.Sys)
	if k.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(k.group.dir.Fd())
		if p, err := os.StartProcess(path, argv, attr); err == nil {
			return p, nil
		}
		// clone3 into a cgroup can be refused where making the cgroup was not
		// (no-internal-process rule, delegation): the sweep works without.
		attr.Sys.UseCgroupFD = false
		k.group.remove()
		k.group = nil
	}
	return os.StartProcess(path, argv, attr)
}
