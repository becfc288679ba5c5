//go:build unix

package ledger_test

import (
	"os"
	"syscall"
)

func alive(p *os.Process) error { return p.Signal(syscall.Signal(0)) }
