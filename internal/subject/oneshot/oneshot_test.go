//go:build unix

package oneshot

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// limit is how long anything here may take on a busy machine.
const limit = 20 * time.Second

// TestMain makes the test binary the scheduler, and the command that it runs.
func TestMain(m *testing.M) {
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	switch {
	case len(os.Args) > 1 && os.Args[1] == "scheduler":
		os.Exit(Main())
	case len(os.Args) > 2 && os.Args[1] == "command":
		os.Exit(command(os.Args[2]))
	}
	os.Exit(m.Run())
}

// command does what a server's name says, once it has said which process it is,
// in the folder of its job.
func command(name string) int {
	stopped := make(chan os.Signal, 1)
	signal.Notify(stopped, syscall.SIGTERM, syscall.SIGINT)
	wd, _ := os.Getwd()
	group, _ := syscall.Getpgid(0)
	fmt.Printf("%s: pid %d, group %d, in %s, env %q%q\n", name, os.Getpid(), group, filepath.Base(wd), os.Getenv("MARK"), os.Getenv(subject.OneshotEnv))
	text := fmt.Sprintf("%d %d", os.Getpid(), group)
	if os.WriteFile("begun.new", []byte(text), 0o600) != nil || os.Rename("begun.new", "begun") != nil {
		return 9
	}
	switch name {
	case "fails":
		return 3
	case "hangs":
		fmt.Printf("%s: got %v\n", name, <-stopped)
		return 0
	case "deaf":
		select {}
	}
	return 0
}

// lab is a scheduler, a process of its own.
type lab struct {
	*subject.Driver
	t   *testing.T
	cmd *exec.Cmd
	run string
	log string
}

func start(t *testing.T, spec subject.Spec) *lab {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	l := &lab{t: t, run: t.TempDir(), log: filepath.Join(t.TempDir(), "log")}
	spec.Argv, spec.Workdir, spec.Env = []string{self, "command", "{{server}}"}, "{{run}}", []string{"MARK=here"}
	params, err := json.Marshal(subject.OneshotParams{Host: spec, Self: self, Run: l.run})
	require.NoError(t, err)
	l.cmd = exec.CommandContext(t.Context(), self, "scheduler")
	l.cmd.Env = append(os.Environ(), subject.OneshotEnv+"="+string(params))
	log, err := os.Create(l.log)
	require.NoError(t, err)
	l.cmd.Stderr = log
	in, err := l.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := l.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, l.cmd.Start())
	require.NoError(t, log.Close())
	l.Driver = subject.Connect(out, in)
	return l
}

// end waits for the scheduler's exit.
func (l *lab) end() int {
	l.t.Helper()
	l.Close()
	<-l.Done()
	_ = l.cmd.Wait()
	return l.cmd.ProcessState.ExitCode()
}

func (l *lab) do(req driver.Request) driver.Response {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), limit)
	defer cancel()
	resp, err := l.Do(ctx, req)
	require.NoError(l.t, err)
	return resp
}

func (l *lab) said() string {
	text, err := os.ReadFile(l.log)
	require.NoError(l.t, err)
	return string(text)
}

func tick(timeout time.Duration, names ...string) driver.Request {
	req := driver.Request{Op: driver.OpTick}
	for _, name := range names {
		req.Jobs = append(req.Jobs, driver.Job{Session: name, Server: driver.Server{Name: name, Command: name}, TimeoutMS: timeout.Milliseconds()})
	}
	return req
}

func TestHello(t *testing.T) {
	t.Parallel()
	l := start(t, subject.Spec{Name: "check", Version: "7"})
	hello, err := l.Hello(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "check", hello.Host)
	assert.Equal(t, "7", hello.Version)
	assert.ElementsMatch(t, []string{driver.OpTick, driver.OpCancel, driver.OpStop}, hello.Ops)
	assert.Len(t, hello.NotApplicable, 7)
	assert.Equal(t, "this host does not offer open", l.do(driver.Request{Op: driver.OpOpen, Session: "s", Server: &driver.Server{}}).Error)
	assert.True(t, l.do(driver.Request{Op: driver.OpStop}).OK)
	assert.Equal(t, 0, l.end())
}

// TestCommandsOfATick: each has a folder and a group of its own, the environment
// of the host file without the scheduler's, and its exit is the job's.
func TestCommandsOfATick(t *testing.T) {
	t.Parallel()
	l := start(t, subject.Spec{Name: "check"})
	resp := l.do(tick(0, "works", "fails"))
	assert.Equal(t, []driver.JobResult{{Session: "works", OK: true}, {Session: "fails", Error: "exit status 3"}}, resp.Jobs)
	assert.True(t, l.do(tick(0, "works")).Jobs[0].OK)
	for _, job := range []string{"job-1", "job-2", "job-3"} {
		text, err := os.ReadFile(filepath.Join(l.run, job, "begun"))
		require.NoError(t, err)
		pid, group, _ := strings.Cut(string(text), " ")
		assert.Equal(t, pid, group)
	}
	assert.Contains(t, l.said(), `in job-3, env "here"""`)
	assert.Equal(t, 1, l.end(), "the bench is gone")
}

// TestTimeLimit: a command whose time is over gets the host file's signal, and is
// killed where that does not end it.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	l := start(t, subject.Spec{Name: "check", Stop: subject.Stop{Signal: "SIGINT"}, Profile: record.Profile{Stop: record.Duration(300 * time.Millisecond)}})
	resp := l.do(tick(time.Second, "hangs", "deaf"))
	for _, job := range resp.Jobs {
		assert.Equal(t, "not done within 1 s", job.Error, job.Session)
	}
	assert.Contains(t, l.said(), "hangs: got interrupt")
	for _, job := range []string{"job-1", "job-2"} {
		text, err := os.ReadFile(filepath.Join(l.run, job, "begun"))
		require.NoError(t, err)
		var pid int
		_, err = fmt.Sscan(string(text), &pid)
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "%s is waited for", job)
	}
	l.end()
}

func TestWhatCannotBeStarted(t *testing.T) {
	t.Parallel()
	l := start(t, subject.Spec{Name: "check"})
	require.NoError(t, os.Mkdir(filepath.Join(l.run, "job-1"), 0o700))
	assert.Contains(t, l.do(tick(0, "works")).Jobs[0].Error, "file exists")
	l.end()
}

func TestNotByHand(t *testing.T) {
	t.Setenv(subject.OneshotEnv, "")
	assert.Equal(t, 2, Main())
}

// TestSignals: a job says how it is cut off; where it does not, that is SIGTERM. Ctrl-C reaches what the command has started, too.
func TestSignals(t *testing.T) {
	t.Parallel()
	for signal, want := range map[string]string{"": "got terminated", "SIGKILL": "", "SIGTERM": "got terminated", driver.CtrlC: "got interrupt"} {
		t.Run(cmp.Or(signal, "none"), func(t *testing.T) {
			t.Parallel()
			l := start(t, subject.Spec{Name: "check"})
			req := tick(0, "hangs")
			req.Jobs[0].Signal = signal
			pending, err := l.Begin(req)
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Join(l.run, "job-1", "begun"))
				return err == nil
			}, limit, 5*time.Millisecond)
			assert.True(t, l.do(driver.Request{Op: driver.OpCancel, Session: "hangs"}).OK)
			resp, err := pending.Wait(t.Context())
			require.NoError(t, err)
			assert.Equal(t, driver.ErrCancelled.Error(), resp.Jobs[0].Error)
			if want == "" {
				assert.NotContains(t, l.said(), "hangs: got")
			} else {
				assert.Contains(t, l.said(), "hangs: "+want)
			}
			l.end()
		})
	}
}
