package trickhost

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// childLife is how long a child of a trick lives at the most, should everything
// else fail to end it.
const childLife = 3 * time.Minute

// child is the process of something that a host starts besides servers:
// `trick trick-child KIND ARGS...`.
func child(args []string) int {
	if len(args) == 0 {
		return 2
	}
	time.AfterFunc(childLife, func() { os.Exit(3) })
	kind, rest := args[0], args[1:]
	switch kind {
	case "idle": // until SIGTERM
		select {}
	case "until-eof":
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	case "launcher": // stays when its server has ended
		pass(rest)
		select {}
	case "wrapper": // ends with its server
		pass(rest)
		return 0
	case "brief": // lives for so many milliseconds
		ms, _ := strconv.Atoi(rest[0])
		time.Sleep(time.Duration(ms) * time.Millisecond) // sleep-ok: that is what it is for
		return 0
	case "fork": // so many times
		n, _ := strconv.Atoi(rest[0])
		return forkOn(n)
	case "renamed":
		_ = os.WriteFile("/proc/self/comm", []byte("MainThread"), 0)
		select {}
	case "tracer":
		pid, _ := strconv.Atoi(rest[0])
		runtime.LockOSThread()
		if syscall.PtraceAttach(pid) != nil {
			return 1
		}
		select {}
	case "outer": // a host with a worker below it, which does everything
		return outer(rest)
	}
	return 2
}

// pass runs a command with the launcher's own stdio and waits for it.
func pass(argv []string) {
	signal.Ignore(syscall.SIGPIPE)
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.WaitDelay = time.Second
	if cmd.Start() != nil {
		return
	}
	os.Stdin.Close() // the end of it is the server's alone to see
	os.Stdout.Close()
	_ = cmd.Wait()
}

// outer runs a host as a child and passes SIGTERM on.
func outer(argv []string) int {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if cmd.Start() != nil {
		return 2
	}
	os.Stdin.Close()
	go func() {
		for range terminated {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}()
	_ = cmd.Wait()
	return cmd.ProcessState.ExitCode()
}

func self() string {
	path, err := os.Executable()
	if err != nil {
		return "/proc/self/exe"
	}
	return path
}

// childArgv is the command line of a child of that kind.
func childArgv(kind string, args ...string) []string {
	return append([]string{self(), "trick-child", kind}, args...)
}

// helper is a child that is no server.
type helper struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

// help starts a child beside the servers.
func (h *host) help(attr *syscall.SysProcAttr, argv ...string) *helper {
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	if attr == nil {
		attr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	}
	cmd.SysProcAttr = attr
	return h.begin(cmd)
}

func (h *host) begin(cmd *exec.Cmd) *helper {
	x := &helper{cmd: cmd, exited: make(chan struct{})}
	if h.onSpawner(cmd.Start) != nil {
		close(x.exited)
		return x
	}
	go func() {
		_ = cmd.Wait()
		close(x.exited)
	}()
	return x
}

// keep has a helper ended with the host.
func (h *host) keep(x *helper) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.helpers = append(h.helpers, x)
}

// end kills a helper and waits for it.
func (x *helper) end() {
	select {
	case <-x.exited:
		return
	default:
	}
	_ = x.cmd.Process.Kill()
	<-x.exited
}

// terminated tells of the first SIGTERM.
func terminated() <-chan os.Signal {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGTERM)
	return c
}

// killOwnGroup sends SIGTERM to whoever is in this process's group, and
// survives it.
func killOwnGroup() {
	signal.Ignore(syscall.SIGTERM)
	_ = syscall.Kill(0, syscall.SIGTERM)
}

// daemon starts the command again in a session of its own, waits until that
// has had time to connect, and exits.
func daemon(args []string) int {
	argv := append([]string{self(), Prefix + "command"}, args...)
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if cmd.Start() != nil {
		return 2
	}
	time.Sleep(500 * time.Millisecond) // sleep-ok: it is the trick
	return 0
}

// below turns this process into what stands above a host: a parent, or a shell.
func below(what, name string) int {
	argv := []string{self(), name, "inner"}
	if what == "worker" {
		return outer(argv)
	}
	_ = syscall.Exec("/bin/sh", append([]string{"sh", "-c", `"$0" "$@"; exit $?`}, argv...), os.Environ())
	return 2
}
