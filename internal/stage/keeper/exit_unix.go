//go:build unix

package keeper

import (
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

// stopSignal keeps a process from starting others before it is killed.
const stopSignal = syscall.SIGSTOP

func exitOf(status syscall.WaitStatus) record.Exit {
	if status.Signaled() {
		return record.Exit{Code: -1, Signal: proc.SignalName(status.Signal())}
	}
	return record.Exit{Code: status.ExitStatus()}
}
