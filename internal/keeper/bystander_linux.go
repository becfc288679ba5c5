package keeper

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
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
	if k.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, int(k.group.dir.Fd())
	}
	p, err := os.StartProcess(self, []string{self, "bystander"}, attr)
	if err != nil {
		leash.Close()
		fmt.Fprintln(os.Stderr, "keeper: no bystander:", err)
		return nil
	}
	k.leash = append(k.leash, leash)
	pid := p.Pid
	_ = p.Release()
	row, err := proc.NewTable().One(pid)
	if err != nil {
		fmt.Fprintln(os.Stderr, "keeper: no bystander:", err)
		return nil
	}
	k.others = append(k.others, row.Identity)
	return &row
}

// Bystander is the process in the host's group. It does nothing until it is
// ended: by the keeper, with the keeper, or by somebody who takes too much.
func Bystander() int {
	_, _ = io.Copy(io.Discard, os.Stdin) // the keeper holds the other end
	return 0
}
