//go:build unix

package install

import (
	"context"
	"os/exec"
	"path/filepath"
	"syscall"
)

// hints are commands that bring a runtime.
var hints = map[string]string{
	"python": "apt-get install python3 python3-venv, or brew install python",
	"node":   "apt-get install nodejs npm, or brew install node",
	"rust":   "install Rust with rustup, or apt-get install cargo",
}

// pythonNeeds are the modules that installPython needs.
const pythonNeeds = "venv, ensurepip"

func started(argv []string) []string { return argv }

// environment makes a virtual environment, and returns what runs its pip.
func environment(ctx context.Context, p Params, dir string) ([]string, error) {
	return []string{filepath.Join(dir, "bin", "python"), "-m", "pip"}, p.run(ctx, dir, python, "-m", "venv", dir)
}

// run runs a program in a process group of its own, which is killed as a whole: npm and pip start others.
func run(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}
