package install

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/windows"

	theirs "github.com/leakbench/leakbench/internal/subject/python"
	"github.com/leakbench/leakbench/internal/winjob"
)

// hints are commands that bring a runtime.
var hints = map[string]string{
	"python": "winget install Python.Python.3.13, or python.org",
	"node":   "winget install OpenJS.NodeJS.LTS, or nodejs.org",
	"rust":   "winget install Rustlang.Rustup, or rustup.rs",
}

// pythonNeeds are the modules that installPython needs.
const pythonNeeds = "venv, pip"

// started is how a program of a command line is started on Windows.
func started(argv []string) []string {
	switch argv[0] {
	case python:
		return append([]string{cmp.Or(theirs.Find(), python)}, argv[1:]...)
	case npm: // a .cmd file, whose arguments cmd.exe would read
		if found, err := exec.LookPath(npm); err == nil {
			script := filepath.Join(filepath.Dir(found), "node_modules", "npm", "bin", "npm-cli.js")
			if _, err := os.Stat(script); err == nil {
				return append([]string{"node", script}, argv[1:]...)
			}
		}
	}
	return argv
}

// environment makes a virtual environment, and returns what runs its pip. The pip is that of the interpreter: a copy takes ten seconds, and
// the programs that it would install beside itself name a folder that is renamed later.
func environment(ctx context.Context, p Params, dir string) ([]string, error) {
	if err := p.run(ctx, dir, python, "-m", "venv", "--without-pip", dir); err != nil {
		return nil, err
	}
	return []string{python, "-m", "pip", "--python", filepath.Join(dir, "Scripts", "python.exe")}, nil
}

// run runs a program in a job, which ends as a whole: npm and pip start others.
func run(cmd *exec.Cmd) error {
	job, err := winjob.New(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(job) }()
	cmd.Cancel = func() error { return windows.TerminateJobObject(job, 1) }
	if err := winjob.Start(cmd, job); err != nil {
		return err
	}
	program, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(cmd.Process.Pid))
	if err != nil {
		return errors.Join(err, windows.TerminateJobObject(job, 1), cmd.Wait())
	}
	defer func() { _ = windows.CloseHandle(program) }()
	over := make(chan struct{})
	go func() { // what is left may hold the pipes: its console, for one
		defer close(over)
		_, _ = windows.WaitForSingleObject(program, windows.INFINITE)
		_ = windows.TerminateJobObject(job, 1)
	}()
	err = cmd.Wait()
	<-over
	return err
}
