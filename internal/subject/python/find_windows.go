package python

import (
	"context"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/winjob"
)

// names are what a Python may be called. py.exe would stand between who starts it and the program: it comes last.
var names = []string{"python", "python3", "py"}

// Find is the path of the first Python that starts, or "".
// A python.exe in the folder of the Microsoft Store may be a stub that starts none.

var Find = sync.OnceValue(find)

func find() string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil && starts(ctx, path) {
			return path
		}
	}
	return ""
}

// starts says that a program runs a line of Python. What it starts for that ends with it.
func starts(ctx context.Context, path string) bool {
	job, err := winjob.New(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(job) }()
	cmd := exec.CommandContext(ctx, path, "-c", "")
	cmd.Cancel = func() error { return windows.TerminateJobObject(job, 1) }
	cmd.WaitDelay = 2 * time.Second
	return winjob.Start(cmd, job) == nil && cmd.Wait() == nil
}
