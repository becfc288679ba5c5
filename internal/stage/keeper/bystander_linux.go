package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

// startBystander puts a process of the keeper's own into the host's group. It
// catches no signal, so that whoever signals the group ends it. The host may be
// gone already, and its group with it: then there is nobody to stand by.
func (k *process) startBystander(host record.Identity) *record.Process {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "keeper: no bystander:", err)
		return nil
	}
	in, leash, err := os.Pipe()
	if err != nil {
		fmt.Fprintln(os.Stderr, "keeper: no bystander:", err)
		return nil
	}
	defer in.Close()
	attr := &os.ProcAttr{Env: os.Environ(), Files: []*os.File{in}, Sys: &syscall.SysProcAttr{Setpgid: true, Pgid: host.PID, Pdeathsig: syscall.SIGKILL}}
	row, err := k.startOther(inHostGroup, self, []string{self, "bystander"}, attr)
	if err != nil {
		leash.Close()
		fmt.Fprintln(os.Stderr, "keeper: no bystander:", err)
		return nil
	}
	k.leash = append(k.leash, leash)
	return row
}

// startTwin starts a process that is none of the host's, away from its group
// and session: only who looks for its command line finds it.
func (k *process) startTwin(c command) (*record.Process, error) {
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

// startOther starts a process that is none of the host's. The caller holds
// live.
func (k *process) startOther(as standing, path string, argv []string, attr *os.ProcAttr) (*record.Process, error) {
	if k.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(k.group.dir.Fd())
	}
	p, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	pid := p.Pid
	_ = p.Release()
	row, err := proc.NewTable().One(pid)
	if err != nil {
		return nil, err
	}
	// A process in the middle of execve(2) has its new memory and no arguments
	// yet: fs/exec.c wakes the parent of a vfork before it sets arg_start.
	row.Args = slices.Clone(argv)
	k.others[row.Identity] = as
	return &row, nil
}

// Bystander is the process in the host's group. It does nothing until it is
// ended: by the keeper, with the keeper, or by somebody who takes too much.
func Bystander() int {
	_, _ = io.Copy(io.Discard, os.Stdin) // the keeper holds the other end
	return 0
}
