//go:build unix

package main

import (
	"os"
	"syscall"
)

func byItself() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// helps end a server that has not ended with its stdin.
var helps = []func(*os.Process){
	func(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) },
	func(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) },
}

func leaveConsole() {}
