//go:build !linux && !windows

package refhost

import (
	"os"

	"github.com/shirou/gopsutil/v3/process"
)

// childrenOfMainThread is empty: there are no such files on this system.
func childrenOfMainThread() []child { return nil }

// childrenOfAllThreads looks through all processes for those whose parent this is.
func childrenOfAllThreads() []child {
	processes, err := process.Processes()
	if err != nil {
		return nil
	}
	var all []child
	for _, p := range processes {
		if c, ok := childOf(p); ok {
			all = append(all, c)
		}
	}
	return all
}

// childOf identifies p, if it is a child of this process.
func childOf(p *process.Process) (child, bool) {
	parent, err := p.Ppid()
	if err != nil || int(parent) != os.Getpid() {
		return child{}, false
	}
	created, err := p.CreateTime()
	return child{int(p.Pid), uint64(created)}, err == nil
}

// alive reports whether c is still this host's child and has not exited.
func (c child) alive() bool {
	p, err := process.NewProcess(int32(c.pid))
	if err != nil {
		return false
	}
	now, ok := childOf(p)
	if !ok || now != c {
		return false
	}
	status, err := p.Status()
	return err != nil || len(status) == 0 || status[0] != process.Zombie
}

func onMainThread() bool { return false }
