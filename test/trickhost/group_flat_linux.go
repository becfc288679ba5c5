package trickhost

import (
	"context"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// nonServers leave, below a living host, what is no server, or have it there
// for a reason.
var nonServers = []Trick{
	{
		Name: "launcher-left", Group: 2,
		About: "ends each server and leaves its launcher, until the host stops", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  leak("L1"), flaw: same(flaw{command: throughLauncher, ends: leaveLauncher}),
	},
	{
		Name: "shell-left", Group: 2,
		About: "ends each server and leaves the shell that it was launched by, which has become sleep(1)", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  leak("L1"), flaw: same(flaw{ends: leaveLauncher, command: func(argv []string) []string {
			return append([]string{"/bin/sh", "-c", `"$@"; exec </dev/null >/dev/null sleep 180`, "leakbench-trick;"}, argv...)
		}}),
	},
	{
		Name: "helper-left", Group: 2,
		About: "starts a helper for each session and ends it with the host only", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  leak("L1"),
		flaw:  same(flaw{opened: func(h *host, _ *conn, _ driver.Server) { h.keep(h.help(nil, childArgv("idle")...)) }}),
	},
	{
		Name: "unledgered", Group: 2,
		About:    "launches a second server for each session, without the ledger's arguments, and ends it with the host only",
		Scenario: "sessions.yaml",
		Today:    "clean",
		Want:     leak("L1"), flaw: same(flaw{opened: func(h *host, c *conn, _ driver.Server) {
			if extra, err := h.launch(c.session, childArgv("until-eof"), true); err == nil {
				h.own(extra)
			}
		}}),
	},
	{
		Name: "launcher-apart", Group: 2,
		About: "launches each server through a shell in a session of its own, and kills the shell alone", Scenario: "sessions.yaml",
		Today: "leak L1 abandoned+escaped",
		Want: leak("L1").says("the host ended the launcher, not the server behind it").
			never("No signal to the launched process group reaches it"),
		flaw: same(flaw{attr: apart, command: throughShell, ends: killLauncher}),
	},
	{
		Name: "worker", Group: 2, About: "has a helper of its own, from its start to its end", Scenario: "sessions.yaml",
		Want: innocent(), flaw: same(flaw{started: func(h *host) { h.keep(h.help(nil, childArgv("idle")...)) }}),
	},
	{
		Name: "worker-undying", Group: 2,
		About: "has a helper of its own that no parent death signal ends, from its start to its end", Scenario: "sessions.yaml",
		Want: innocent(),
		flaw: same(flaw{started: func(h *host) { h.keep(h.help(&syscall.SysProcAttr{Setsid: true}, childArgv("idle")...)) }}),
	},
	{
		Name: "wrapper", Group: 2, About: "launches each server through a launcher that ends with it", Scenario: "sessions.yaml",
		Want: innocent(), flaw: same(flaw{command: func(argv []string) []string { return childArgv("wrapper", argv...) }}),
	},
	{
		Name: "helper-ended", Group: 2,
		About: "starts a helper for each session and ends it with the session", Scenario: "sessions.yaml",
		Want: innocent(), flaw: func() flaw {
			mine := map[*conn]*helper{}
			return flaw{
				opened: func(h *host, c *conn, _ driver.Server) {
					x := h.help(nil, childArgv("idle")...)
					h.mu.Lock()
					defer h.mu.Unlock()
					mine[c] = x
				},
				ends: func(h *host, c *conn, _ ending) bool {
					h.mu.Lock()
					x := mine[c]
					h.mu.Unlock()
					if x != nil {
						x.end()
					}
					return false
				},
			}
		},
	},
}

// apart gives what it launches a session of its own, as start_new_session of Python and detached of Node do.
func apart(attr *syscall.SysProcAttr) { attr.Setpgid, attr.Setsid = false, true }

func throughShell(argv []string) []string {
	return append([]string{"/bin/sh", "-c", `"$@"; exit $?`, "leakbench-trick"}, argv...)
}

func killLauncher(_ *host, c *conn, _ ending) bool {
	_ = c.cmd.Process.Kill()
	<-c.exited
	return true
}

func throughLauncher(argv []string) []string { return childArgv("launcher", argv...) }

func leaveLauncher(_ *host, c *conn, why ending) bool {
	c.closeStdin()
	select {
	case <-c.eof:
	case <-time.After(afterEOF):
	}
	if why == stopping {
		c.kill()
	}
	return true
}

// ghosts are launched for sessions that have ended, and gone again before
// anybody looks.
var ghosts = []Trick{
	{
		Name: "ghost", Group: 5,
		About: "launches a server for each session 300 ms after it was closed, and ends it in order at once", Scenario: "ghosts.yaml",
		Today: "clean",
		Want:  leak("L1").orDoubt(), flaw: same(flaw{ends: ghostly(true)}),
	},
	{
		Name: "ghost-kept", Group: 5, About: "launches a server for each session 300 ms after it was closed, and keeps it",
		Scenario: "ghosts.yaml",
		Today:    "leak L1 abandoned",
		Want:     leak("L1").kinds("ghost"), flaw: same(flaw{ends: ghostKept}),
	},
	{
		Name: "ghost-mute", Group: 5, About: "the same, without a handshake", Scenario: "ghosts.yaml",
		Today: "clean",
		Want:  leak("L1").orDoubt(), flaw: same(flaw{ends: ghostly(false)}),
	},
}

func ghostKept(h *host, c *conn, why ending) bool {
	h.finish(c)
	if why == closed {
		time.AfterFunc(300*time.Millisecond, func() {
			if again, err := h.launch(c.session, c.argv, true); err == nil {
				h.own(again)
				_ = again.initialize(context.Background())
			}
		})
	}
	return true
}

func ghostly(handshake bool) func(*host, *conn, ending) bool {
	return func(h *host, c *conn, why ending) bool {
		h.finish(c)
		if why != closed {
			return true
		}
		time.AfterFunc(300*time.Millisecond, func() {
			again, err := h.launch(c.session, c.argv, true)
			if err != nil {
				return
			}
			h.own(again)
			if handshake {
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				defer cancel()
				_ = again.initialize(ctx)
			}
			h.finish(again)
		})
		return true
	}
}

// sweeps leave what is never there when somebody looks, or all the time another.
var sweeps = []Trick{
	{
		Name: "refork-slow", Group: 4,
		About: "leaves, as it stops, a process that forks itself anew every 50 ms", Scenario: "sessions.yaml",
		Today: "clean | leak L2 escaped",
		Want:  leak("L2").orDoubt(),
		flaw:  same(flaw{stopped: func(h *host) { h.help(&syscall.SysProcAttr{Setsid: true}, slowReforker(400)...) }}),
	},
	{
		Name: "refork", Group: 4,
		About: "leaves, as it stops, a process that forks itself anew all the time", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  leak("L2").orDoubt(),
		flaw:  same(flaw{stopped: func(h *host) { h.help(&syscall.SysProcAttr{Setsid: true}, reforker(6000)...) }}),
	},
	{
		Name: "refork-fast", Group: 4,
		About: "leaves, as it stops, a process that forks itself anew without a pause", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  leak("L2").orDoubt(),
		flaw:  same(flaw{stopped: func(h *host) { h.help(&syscall.SysProcAttr{Setsid: true}, childArgv("fork", "100000")...) }}),
	},
	{
		Name: "burst", Group: 4,
		About:    "leaves, as it stops, a process that starts others one after the other and is gone before the settle time is over",
		Scenario: "sessions.yaml",
		Want:     innocent().orDoubt(), flaw: same(flaw{stopped: func(h *host) {
			h.help(&syscall.SysProcAttr{Setsid: true}, "/bin/sh", "-c",
				`i=0; while [ $i -lt 20 ]; do sleep 0.02; i=$((i+1)); done`, "leakbench-trick")
		}}),
	},
}

// reforker is a chain of n processes, each of which starts the next and exits.
func reforker(n int) []string {
	return chain(n, `[ "$1" -gt 0 ] && exec /bin/sh -c "$0" "$0" $(($1-1)) &`)
}

// forkOn forks this process again and again: each child goes on and its parent
// exits. Nothing but system calls may be made in a child of a Go program that
// was forked and did not execute anything.
//
//go:norace
func forkOn(n int) int {
	for range n {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		if errno != 0 || pid != 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	return 0
}

func slowReforker(n int) []string {
	return chain(n, `[ "$1" -gt 0 ] && sleep 0.05 && exec /bin/sh -c "$0" "$0" $(($1-1)) &`)
}
