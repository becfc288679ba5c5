//go:build !linux && unix

package keeper

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
)

func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func (k *process) intoCgroup(*syscall.SysProcAttr) {}

func (k *process) spawn(path string, argv []string, attr *os.ProcAttr, _ record.Place) (pid int, err error) {
	attr.Sys = ownGroup()
	return startProcess(path, argv, attr)
}

// reapForEver reaps what the keeper itself has started: the host, bystanders and twins. Without a subreaper nothing else comes home.
func (k *process) reapForEver() {
	died := make(chan os.Signal, 1)
	signal.Notify(died, syscall.SIGCHLD)
	reaped := map[record.Identity]bool{}
	for range died {
		for _, id := range k.children(reaped) {
			group := k.groupOf(id)
			var status syscall.WaitStatus
			if pid, err := syscall.Wait4(id.PID, &status, syscall.WNOHANG, nil); err != nil || pid != id.PID {
				continue
			}
			reaped[id] = true
			k.tellExit(record.Process{Identity: id, PGID: group}, exitOf(status))
			k.noteReaped()
		}
	}
}

// groupOf is the process group in which the keeper has started a process. The kernel of macOS does not tell the group of a zombie:
// getpgid(2) fails with ESRCH.
func (k *process) groupOf(id record.Identity) int {
	k.live.Lock()
	defer k.live.Unlock()
	if k.others[id] == isHosts {
		return k.host.PID
	}
	return id.PID
}

// children are the processes that the keeper has started, but for those that were waited for.
func (k *process) children(reaped map[record.Identity]bool) (ids []record.Identity) {
	k.live.Lock()
	defer k.live.Unlock()
	if k.host.PID != 0 && !reaped[k.host] {
		ids = append(ids, k.host)
	}
	for id := range k.others {
		if !reaped[id] {
			ids = append(ids, id)
		}
	}
	return ids
}
