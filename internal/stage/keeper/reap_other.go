//go:build !linux && unix

package keeper

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
)

// reapForEver reaps the host. Without a subreaper nothing else comes home.
func (k *process) reapForEver() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	for range died {
		host := k.hostIdentity()
		if host.PID == 0 {
			continue
		}
		var status syscall.WaitStatus
		if pid, err := syscall.Wait4(host.PID, &status, syscall.WNOHANG, nil); err != nil || pid != host.PID {
			continue
		}
		k.say(reply{Exited: &Exited{Process: record.Process{Identity: host}, Exit: exitOf(status), Host: true, Asked: k.wasAsked(host)}})
		select {
		case k.reaped <- struct{}{}:
		default:
		}
	}
}
