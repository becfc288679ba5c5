//go:build !linux && unix

package refhost

import (
	"os/exec"
	"syscall"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// strays finds nothing: there is no subreaper here to which they would come.
type strays struct{}

func newStrays(catalogue.Flaw) *strays { return &strays{} }

// start can't have the server die with the host: no kernel but Linux does that.
func (*strays) start(cmd *exec.Cmd, _ bool) error { return cmd.Start() }

func (*strays) connected(*exec.Cmd) {}

func (*strays) wait(cmd *exec.Cmd) { _ = cmd.Wait() }

func (*strays) of(*exec.Cmd) []child { return nil }

func (*strays) signal([]child, syscall.Signal) {}
