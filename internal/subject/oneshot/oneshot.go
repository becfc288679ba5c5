// Package oneshot runs a host that is a command for each job: a health check, a list, a print mode. It is what a
// scheduler would be: it starts the commands of a tick side by side, gives each its time, and waits for its exit.
// Nothing may remain of a command then.
package oneshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/subject"
)

// killAfter is how long a command may take to end after its stop signal, where its host file does not say so.
const killAfter = 5 * time.Second

// Main is the process. Its status is 0 after a stop, 1 when the bench is gone.
func Main() int {
	var p subject.OneshotParams
	if err := json.Unmarshal([]byte(os.Getenv(subject.OneshotEnv)), &p); err != nil {
		fmt.Fprintln(os.Stderr, "the scheduler of a oneshot host is started by leakbench run, not by hand")
		return 2
	}
	hello := driver.Hello{
		Host: p.Host.Name, Version: p.Host.Version, NotApplicable: map[string]string{},
		Ops: []string{driver.OpTick, driver.OpCancel, driver.OpStop},
	}
	for _, op := range driver.Ops {
		if !slices.Contains(hello.Ops, op) {
			hello.NotApplicable[op] = "a oneshot host is a command for each job: it has no session that lasts"
		}
	}
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, &scheduler{p: p}); err != nil {
		return 1
	}
	return 0
}

// scheduler has jobs, and no session that lasts: the other operations are not offered.
type scheduler struct {
	driver.Handler

	p    subject.OneshotParams
	jobs atomic.Int64
}

// Stop has nothing to do: each tick waits for its commands.
func (s *scheduler) Stop(context.Context) error { return nil }

// Tick runs the command once for each job.
func (s *scheduler) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	return driver.RunJobs(ctx, jobs, s.job), nil
}

// job runs the command. What it prints goes to the host's log. It gets a process group of its own (on Windows a
// console), as from a shell or a scheduler, and SIGTERM (or the host file's signal) when its time is over or the bench cancels it.
func (s *scheduler) job(ctx context.Context, j driver.Job) error {
	number := s.jobs.Add(1)
	dir := filepath.Join(s.p.Run, fmt.Sprintf("job-%d", number))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	tmp := filepath.Join(s.p.Tmp, strconv.FormatInt(number, 10))
	p, err := s.p.Host.Prepare(subject.Setting{Self: s.p.Self, Run: dir, Tmp: tmp, Servers: []driver.Server{j.Server}})
	if err != nil {
		return err
	}
	if j.TimeoutMS > 0 {
		var cancel context.CancelFunc
		limit := time.Duration(j.TimeoutMS) * time.Millisecond
		ctx, cancel = context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within %s", duration.Text(limit)))
		defer cancel()
	}
	// One that hangs is left to the bench: it outlives its job.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	leave := context.AfterFunc(ctx, end)
	var unasked error // read once the command has ended
	cmd := s.command(life, p, func(process *os.Process) error {
		err := ask(process, cmp.Or(j.Signal, s.p.Host.Stop.Signal))
		if err != nil && !errors.Is(err, os.ErrProcessDone) {
			unasked = errors.Join(err, process.Kill())
		}
		return err
	})
	if err := cmd.Start(); err != nil {
		end()
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait(); end() }() // one that hangs is waited for until somebody ends it
	within := cmp.Or(s.p.Host.Job.D(), subject.JobWithin)
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case err = <-ended:
	case <-late.C:
		if !leave() { // it is being ended
			err = <-ended
			break
		}
		return &driver.Hung{PID: cmd.Process.Pid, Within: within}
	}
	if unasked != nil {
		return &driver.Unasked{Why: unasked}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// command is a command that is asked to end when its life is over, and killed where it takes too long.
func (s *scheduler) command(life context.Context, p subject.Prepared, ask func(*os.Process) error) *exec.Cmd {
	cmd := exec.CommandContext(life, p.Argv[0], p.Argv[1:]...)
	cmd.Dir = p.Workdir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, subject.OneshotEnv+"=") }), p.Env...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr // files: nobody who holds them keeps Wait from returning
	cmd.SysProcAttr = byItself()
	cmd.Cancel = func() error { return ask(cmd.Process) }
	cmd.WaitDelay = cmp.Or(s.p.Host.Profile.Stop.D(), killAfter)
	return cmd
}
