//go:build !linux && unix

package keeper

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// reapForEver reaps the host. Without a subreaper nothing else comes home.
func (k *process) reapForEver() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	for range died {
		k.live.Lock()
		host := k.host
		k.live.Unlock()
		if host.PID == 0 {
			continue
		}
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(host.PID, &status, syscall.WNOHANG, nil); err != nil || pid != host.PID {
			continue
		}
		k.tellExit(record.Process{Identity: host}, exitOf(status))
		k.noteReaped()
	}
}
