package keeper

import (
	"os"
	"os/signal"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

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

// reapOne looks at a dead child before it reaps it: afterwards its identity
// could not be read any more.
func (k *process) reapOne(rows *proc.Table) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	pid := siginfoPID(&info)
	if err != nil || pid == 0 {
		return false
	}
	row, err := rows.One(pid)
	if err != nil {
		row = record.Process{Identity: record.Identity{PID: pid}}
	}
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, 0, nil); err != nil {
		return false
	}
	k.tellExit(row, syscall.WaitStatus(status))
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
