package keeper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/console"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/winjob"
)

const (
	// stopSignal is the one that ends a process: there is none that stops it.
	stopSignal = syscall.SIGKILL
	// sweptStatus is the exit status of what a sweep has ended: as of a shell, of a process that SIGKILL has.
	sweptStatus = 128 + 9
	// What ends by an exception has a status from here on (NTSTATUS).
	exceptional = 0xc0000000
)

// byItself says that a twin has ended with this status and was not terminated. Whoever terminates a process chooses its status: taskkill,
// Go and Node give it 1, Python the number of a signal, .NET -1. A twin has few of its own: that of a panic and of a wrong command line, 2,
// and those from 70 to 79 (package fakeserver). One that somebody terminated with 0, or with one of these, is a doubt.
func byItself(status uint32) bool {
	return status == 0 || status == 2 || status >= 70 && status < 80 || status >= exceptional && status < math.MaxUint32
}

// detached keeps the keeper, and what it starts, away from the terminal: a ^C is for the bench alone. Nor do windows open where there
// is no terminal.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW}
}

// spawn starts the host in its job: it runs only once it is in there. It shares the keeper's console, which nobody sees and which nobody
// else has: CTRL_C there is for the host. In a process group of its own it would not hear it.
func (k *process) spawn(path string, argv []string, attr *os.ProcAttr, _ record.Place) (pid int, err error) {
	attr.Sys = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED}
	p, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = p.Release() }()
	const access = windows.PROCESS_SET_QUOTA | windows.PROCESS_TERMINATE | windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.SYNCHRONIZE
	handle, err := windows.OpenProcess(access, false, uint32(p.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(k.inner, handle)
	}
	if err == nil {
		err = winjob.Resume(p.Pid)
	}
	if err == nil {
		err = k.waitFor(handle, p.Pid)
	}
	if err != nil {
		return 0, errors.Join(fmt.Errorf("failed to put it into its job: %w", err), p.Kill())
	}
	return p.Pid, nil
}

// asks is how a process is asked to end, by the name that proc has for that: nil for other names.
func asks(name string) func(record.Identity) error {
	if name != proc.Asks {
		return nil
	}
	return func(id record.Identity) error {
		h, err := proc.Open(id, 0)
		if err != nil {
			return err
		}
		defer func() { _ = windows.CloseHandle(h) }()
		if err := console.Interrupt(context.Background(), id.PID); err != nil {
			_, gone := proc.Identify(id.PID)
			return errors.Join(err, gone)
		}
		return nil
	}
}

// waitFor tells the exit of a process that the keeper has started.
func (k *process) waitFor(handle windows.Handle, pid int) error {
	id, err := proc.Identify(pid)
	if err != nil {
		return err
	}
	row := record.Process{Identity: id, FDs: -1}
	go func() {
		defer bug.Ends()
		defer func() { _ = windows.CloseHandle(handle) }()
		if _, err := windows.WaitForSingleObject(handle, windows.INFINITE); err != nil {
			return
		}
		k.live.Lock() // until whoever has started it knows it
		asked, twin := k.asked[id] || k.swept, k.others[id] == isTwin
		k.live.Unlock()
		exit := exitOf(handle)
		switch {
		case asked && exit.Code == sweptStatus || twin && !byItself(uint32(exit.Code)):
			exit = record.Exit{Code: -1, Signal: "SIGKILL"}
		case asked && uint32(exit.Code) == uint32(windows.STATUS_CONTROL_C_EXIT):
			exit = record.Exit{Code: -1, Signal: proc.Asks}
		}
		k.tellExit(row, exit)
		k.noteReaped()
	}()
	return nil
}

// CanStandBy says that HostParams.Bystander works here. It does not: no process can signal a group, only who has the same console.
const CanStandBy = false

// startBystander is for systems with process groups.
func (k *process) startBystander(record.Identity) (*record.Process, error) {
	return nil, errors.ErrUnsupported
}

// startBeside starts a twin outside of the host's job: only who looks for its command line, or its image, finds it.
func (k *process) startBeside(argv []string, attr *os.ProcAttr) (*record.Process, error) {
	p, err := os.StartProcess(argv[0], argv, attr)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Release() }()
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(p.Pid))
	if err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	if err := k.waitFor(handle, p.Pid); err != nil {
		return nil, err
	}
	row, err := k.table.One(p.Pid)
	if err != nil {
		return nil, err
	}
	row.Args = argv
	k.others[row.Identity] = isTwin
	return &row, nil
}

// send writes a command, with handles of the files that are the keeper's own.
func (k *Keeper) send(c command, files []*os.File) error {
	for _, f := range files {
		h, err := k.give(f)
		if err != nil {
			return fmt.Errorf("failed to hand a pipe over: %w", err)
		}
		c.Handles = append(c.Handles, h)
	}
	return tell(k.conn, c)
}

// give makes a handle of a file in the keeper's process.
func (k *Keeper) give(f *os.File) (uintptr, error) {
	to, err := windows.OpenProcess(windows.PROCESS_DUP_HANDLE, false, uint32(k.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	defer func() { _ = windows.CloseHandle(to) }()
	var there windows.Handle
	err = windows.DuplicateHandle(windows.CurrentProcess(), windows.Handle(f.Fd()), to, &there, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return uintptr(there), err
}

// fdReader reads a stream and has the handles that were given with the last line.
type fdReader struct {
	conn    *socket.Conn
	handles []uintptr
}

func (r *fdReader) Read(p []byte) (int, error) { return r.conn.Read(p) }

func (r *fdReader) receive(c command) { r.handles = c.Handles }

func (r *fdReader) take(n int) ([]*os.File, bool) {
	if len(r.handles) < n {
		return nil, false
	}
	files := make([]*os.File, n)
	for i, h := range r.handles[:n] {
		files[i] = os.NewFile(h, "host-stdio")
	}
	r.handles = r.handles[n:]
	return files, true
}

func endure() {}
