package portable

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

// The states of a process (sys/proc.h). SRUN is every other one: it is the threads that run or sleep.
const (
	stopped = 4
	zombie  = 5
)

// list reads the whole table with one sysctl(3), and starts no process.
func list() ([]basic, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	rows := make([]basic, 0, len(all))
	for i := range all {
		rows = append(rows, basicOf(&all[i]))
	}
	return rows, nil
}

// look reads the row of one process. ErrGone: there is none.
func look(pid int) (basic, error) {
	// sysctl(3) answers with nothing where there is no such process: x/sys makes EIO of that.
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.ESRCH) || err == nil && int(info.Proc.P_pid) != pid {
		return basic{}, ErrGone
	}
	if err != nil {
		return basic{}, fmt.Errorf("kern.proc.pid: %w", err)
	}
	return basicOf(info), nil
}

// basicOf has the start in microseconds since 1970.
func basicOf(info *unix.KinfoProc) basic {
	begun := info.Proc.P_starttime
	b := basic{
		Identity: record.Identity{PID: int(info.Proc.P_pid), Start: uint64(begun.Sec)*1e6 + uint64(begun.Usec)},
		ppid:     int(info.Eproc.Ppid), comm: unix.ByteSliceToString(info.Proc.P_comm[:]), state: record.StateUnknown,
	}
	switch info.Proc.P_stat {
	case stopped:
		b.state = record.StateStopped
	case zombie:
		b.state = record.StateZombie
	}
	return b
}

func started(id record.Identity) time.Time { return time.UnixMicro(int64(id.Start)) }
