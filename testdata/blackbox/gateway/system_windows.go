package main

import (
	"os"
	"syscall"
)

func byItself() *syscall.SysProcAttr { return nil }

// helps end a server that has not ended with its stdin.
var helps = []func(*os.Process){func(p *os.Process) { _ = p.Kill() }}

// leaveConsole makes this a process that CTRL_C does not reach.
func leaveConsole() { _, _, _ = syscall.NewLazyDLL("kernel32.dll").NewProc("FreeConsole").Call() }
