package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

const (
	// within is how long the process that asks may take: it does three calls.
	within     = 10 * time.Second
	statusNone = 3 // of the process that asks: ErrNone
)

var (
	kernel         = windows.NewLazySystemDLL("kernel32.dll")
	setCtrlHandler = kernel.NewProc("SetConsoleCtrlHandler")
	attachConsole  = kernel.NewProc("AttachConsole")
	freeConsole    = kernel.NewProc("FreeConsole")
)

// Hear has this process, and what it starts, hear CTRL_C. One that was started in a process group of its own does not
// (CREATE_NEW_PROCESS_GROUP), and its children inherit that.
func Hear() error {
	if ok, _, err := setCtrlHandler.Call(0, 0); ok == 0 {
		return os.NewSyscallError("SetConsoleCtrlHandler", err)
	}
	return nil
}

// Interrupt sends CTRL_C to the console of a process, and so to each process that shares it: there is no way to send it to one of them
// (GenerateConsoleCtrlEvent). Only who is attached to a console can, and a process has one console at most. So this program is started once
// more, without one. Whoever calls this must hold a handle of the process: its pid is no other's then.
func Interrupt(ctx context.Context, pid int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, Arg, strconv.Itoa(pid))
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS}
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == statusNone:
		return ErrNone
	}
	return fmt.Errorf("failed to send CTRL_C: %w: %s", err, strings.TrimSpace(said.String()))
}

// Main is the process that asks.
func Main(args []string) int {
	pid := 0
	if len(args) == 1 {
		pid, _ = strconv.Atoi(args[0])
	}
	if pid <= 0 {
		fmt.Fprintln(os.Stderr, "leakbench "+Arg+" is started by leakbench run, not by hand")
		return 2
	}
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // it reaches this process, too
	_, _, _ = freeConsole.Call()
	if ok, _, err := attachConsole.Call(uintptr(pid)); ok == 0 {
		if errors.Is(err, windows.ERROR_INVALID_HANDLE) {
			return statusNone
		}
		fmt.Fprintln(os.Stderr, os.NewSyscallError("AttachConsole", err))
		return 1
	}
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_C_EVENT, 0); err != nil {
		fmt.Fprintln(os.Stderr, os.NewSyscallError("GenerateConsoleCtrlEvent", err))
		return 1
	}
	return 0
}
