package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// startHost starts the host with the two fds that came with the command. The
// reaper waits for it, as for everything else below the keeper.
func (k *process) startHost(c HostParams) (host, bystander *record.Process, err error) {
	files, ok := k.in.take(2)
	if !ok {
		return nil, nil, errors.New("no stdio came with the command")
	}
	defer files[0].Close()
	defer files[1].Close()
	if len(c.Argv) == 0 {
		return nil, nil, errors.New("no command")
	}
	path, err := exec.LookPath(c.Argv[0])
	if err != nil {
		return nil, nil, err
	}
	stderr, err := k.stderrPipe(c.Stderr)
	if err != nil {
		return nil, nil, err
	}
	defer stderr.Close()
	env := c.Env
	if run := os.Getenv(runEnv); env == nil {
		env = os.Environ()
	} else if run != "" {
		env = append(env, runEnv+"="+run)
	}
	attr := &os.ProcAttr{Dir: c.Dir, Env: env, Files: []*os.File{files[0], files[1], stderr}}
	// Until the host's identity is known the reaper must not take it for a stranger that came home.
	k.live.Lock()
	defer k.live.Unlock()
	k.placement = nil
	start := k.startPlain
	if c.Place != "" {
		start = k.startPlaced
	}
	row, err := start(path, c, attr)
	if err != nil {
		return nil, nil, err
	}
	k.host = row.Identity
	if c.Bystander {
		if bystander, err = k.startBystander(row.Identity); err != nil {
			fmt.Fprintln(os.Stderr, "keeper: no bystander:", err)
		}
	}
	return row, bystander, nil
}

// startPlain starts the host right below the keeper. The caller holds live.
func (k *process) startPlain(path string, c HostParams, attr *os.ProcAttr) (*record.Process, error) {
	pid, err := k.spawn(path, c.Argv, attr, "")
	if errors.Is(err, syscall.ENOEXEC) {
		return nil, fmt.Errorf("%s is not a program: a script begins with a line such as #!/bin/sh", c.Argv[0])
	}
	if err != nil {
		return nil, fmt.Errorf("failed to start %s: %w", c.Argv[0], err)
	}
	row, err := k.table.One(pid)
	if err != nil {
		return nil, fmt.Errorf("failed to identify the host: %w", err)
	}
	if err := limitFiles(pid, c.Files); err != nil {
		_ = proc.Signal(row.Identity, syscall.SIGKILL)
		return nil, fmt.Errorf("failed to limit the host's open files: %w", err)
	}
	return &row, nil
}

// startProcess starts a process that somebody else waits for.
func startProcess(path string, argv []string, attr *os.ProcAttr) (pid int, err error) {
	p, err := os.StartProcess(path, argv, attr)
	if err != nil {
		return 0, err
	}
	pid = p.Pid
	return pid, p.Release()
}

// Bystander is a process that is none of the host's: in its group, or with the pid of one that has died. It catches
// no signal and does nothing until it is ended: by the keeper, with the keeper, or by somebody who takes too much.
func Bystander() int {
	_, _ = io.Copy(io.Discard, os.Stdin) // who started it holds the other end
	return 0
}

// stderrPipe returns the write end of a pipe that is drained into a file, up to the cap and into nothing after that:
// a host may flood its stderr, and must never block on it.
func (k *process) stderrPipe(path string) (*os.File, error) {
	if path == "" {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		log.Close()
		return nil, err
	}
	l := newStderrLog(r, log)
	k.live.Lock()
	k.stderr = l
	k.live.Unlock()
	go bug.Guarded(l.drain)()
	return w, nil
}
