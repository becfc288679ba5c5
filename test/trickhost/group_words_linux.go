package trickhost

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// names are leaks that the bench finds and calls by a name, or gives a reason,
// that is not true.
var names = []Trick{
	{
		Name: "left-closed", Group: 13,
		About: "closes no server of a session that was closed: a later session of that name is another one", Scenario: "sessions.yaml",
		Today: "leak L1 abandoned+superseded",
		Want:  leak("L1").kinds("abandoned").findings(1), flaw: same(flaw{ends: leaves(closed)}),
	},
	{
		Name: "left-forgotten", Group: 13, About: "ends no server of a session that was forgotten", Scenario: "forgotten.yaml",
		Today: "leak L1 abandoned+superseded",
		Want:  leak("L1").kinds("abandoned").findings(1).never("superseded"), flaw: same(flaw{ends: leaves(forgotten)}),
	},
	{
		Name: "left-cancelled", Group: 13,
		About: "drops the connection when a call is cancelled and ends no server", Scenario: "cancelled.yaml",
		Today: "leak L1 superseded",
		Want:  leak("L1").kinds("abandoned").findings(1).never("superseded"),
		flaw:  same(flaw{failed: func(h *host, c *conn) { h.put(c.session, nil) }}),
	},
	{
		Name: "left-refused", Group: 13,
		About: "leaves a server whose list of tools fails, and fails the open", Scenario: "list-fails.yaml",
		Today: "leak L1 abandoned+superseded",
		Want:  leak("L1").findings(1).never("superseded", "duplicate"), flaw: same(flaw{accepts: wantsTools(0), ends: leaves(refused)}),
	},
	{
		Name: "left-done", Group: 13,
		About: "leaves the servers of jobs that were done long before their time limit", Scenario: "jobs-in-time.yaml",
		Today: "leak L1 abandoned",
		Want:  leak("L1").kinds("abandoned").findings(1).never("ran out of time", "timed out"), flaw: same(flaw{ends: leaves(done)}),
	},
	{
		Name: "left-first", Group: 13,
		About: "launches two servers for a connection and ends the second of them alone", Scenario: "sessions.yaml",
		Today: "leak L1 duplicate",
		Want:  leak("L1").never("kept both"),
		flaw: same(flaw{before: func(ctx context.Context, h *host, session string, s driver.Server) {
			if c, err := h.connect(ctx, session, s); err == nil {
				h.park(c)
			}
		}}),
	},
	{
		Name: "outlives", Group: 13,
		About: "ends neither the servers of closed sessions nor, as it stops, any: they outlive it", Scenario: "deaf-servers.yaml",
		Today: "leak L1+L2 abandoned+deaf+superseded",
		Want:  leak("L1", "L2").never("gone only with the host"),
		flaw:  same(flaw{ends: leaves(closed, stopping), attr: func(a *syscall.SysProcAttr) { a.Pdeathsig = 0 }}),
	},
	{
		Name: "own-session", Group: 13,
		About: "leaves, as it stops, a helper that it has put into a session of its own itself", Scenario: "sessions.yaml",
		Today: "leak L2 escaped",
		Want:  leak("L2").never("escaped"),
		flaw:  same(flaw{stopped: func(h *host) { h.help(&syscall.SysProcAttr{Setsid: true}, childArgv("idle")...) }}),
	},
	{
		Name: "worker-holds", Group: 13,
		About: "has a worker that writes to the servers, and leaves both when a session is closed", Scenario: "sessions.yaml",
		Today: "leak L1 eof-withheld",
		Want:  leak("L1").never("eof-withheld"), flaw: same(flaw{ends: func(h *host, c *conn, why ending) bool {
			if why != closed {
				return false
			}
			c.beside = h.helpWith(c.stdin, nil, childArgv("idle")...)
			c.closeStdin()
			return true
		}}),
	},
	{
		Name: "own-stdin", Group: 13, About: "leaves, as it stops, a helper that reads the host's own stdin", Scenario: "sessions.yaml",
		Today: "leak L2 helper",
		Want:  leak("L2").never("held by the bench"),
		flaw:  same(flaw{stopped: func(h *host) { h.helpWith(nil, os.Stdin, childArgv("until-eof")...) }}),
	},
	{
		Name: "traced", Group: 13, About: "leaves the servers of closed sessions and has them traced", Scenario: "sessions.yaml",
		Today: "leak L1 stopped",
		Want:  leak("L1").never("stopped by a signal"), flaw: same(flaw{ends: func(h *host, c *conn, why ending) bool {
			if why == closed {
				c.beside = h.help(nil, childArgv("tracer", strconv.Itoa(c.cmd.Process.Pid))...)
			}
			return why == closed
		}}),
	},
	{
		Name: "reaps-late", Group: 13,
		About: "waits for a server 2 s after its exit, where 1.5 s are allowed", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  leak("L4").kinds("late-reaped").never("never waited for", "never waits"), flaw: same(flaw{
			unwaited: waitsAfter(2 * time.Second), ends: waitsNot,
		}),
	},
	{
		Name: "reaps-later", Group: 13,
		About: "waits for a server 3 s after its exit, where 1.5 s are allowed and 1 s more is watched", Scenario: "sessions.yaml",
		Today: "clean | leak L4 late-reaped+zombie",
		Want:  leak("L4").never("never waited for"), flaw: same(flaw{
			unwaited: waitsAfter(3 * time.Second), ends: waitsNot,
		}),
	},
	{
		Name: "renamed", Group: 13,
		About: "leaves, as it stops, a helper whose thread has another name than its program", Scenario: "sessions.yaml",
		Today: "leak L2 helper",
		Want:  leak("L2").says("trick-child renamed"),
		flaw:  same(flaw{stopped: func(h *host) { h.help(&syscall.SysProcAttr{Setpgid: true}, childArgv("renamed")...) }}),
	},
	{
		Name: "stop-hangs", Group: 13,
		About: "ends its servers in each of its lives, and does not end itself", Scenario: "restarted-twice.yaml",
		Today: "leak L8 hung-stop",
		Want:  leak("L8").kinds("hung-stop").findings(1), flaw: same(flaw{stopped: func(*host) { select {} }}),
	},
	{
		Name: "probe-left", Group: 14, About: "leaves the probe of each connect, which had answered", Scenario: "sessions.yaml",
		Today: "leak L1 duplicate",
		Want:  leak("L1").never("one connect in flight"), flaw: same(flaw{opened: func(h *host, c *conn, _ driver.Server) {
			p, err := h.launch(c.session, c.argv, true)
			if err != nil {
				return
			}
			h.own(p)
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if p.initialize(ctx) == nil {
				_, _ = p.ask(ctx, "tools/list", map[string]any{})
			}
		}}),
	},
	{
		Name: "half-closed", Group: 14,
		About: "closes stdin when a session is closed and never goes on: the servers are deaf", Scenario: "deaf-servers.yaml",
		Today: "leak L1 not-escalated",
		Want:  leak("L1").kinds("not-escalated").findings(1).never("connection was dropped"),
		flaw: same(flaw{ends: func(_ *host, c *conn, why ending) bool {
			if why == closed {
				c.closeStdin()
			}
			return why == closed
		}}),
	},
	{
		Name: "term-only", Group: 14,
		About: "sends SIGTERM when a session is closed and does nothing else: the servers ignore it", Scenario: "deaf-servers.yaml",
		Today: "leak L1+L9 not-escalated+signal-first",
		Want:  leak("L1").may("L9").says("SIGTERM").never("connection was dropped"),
		flaw: same(flaw{ends: func(_ *host, c *conn, why ending) bool {
			if why == closed {
				c.signal(syscall.SIGTERM)
			}
			return why == closed
		}}),
	},
}

func waitsAfter(d time.Duration) func(*conn) bool {
	return func(c *conn) bool {
		go func() {
			<-c.eof
			time.Sleep(d) // sleep-ok: it is the trick
			c.wait()
		}()
		return true
	}
}

func waitsNot(_ *host, c *conn, why ending) bool {
	c.closeStdin()
	if why == stopping {
		<-c.exited
	}
	return true
}

// leaves does nothing for servers whose sessions end so. The host kills them as
// it stops, unless that is among it.
func leaves(when ...ending) func(*host, *conn, ending) bool {
	return func(h *host, c *conn, why ending) bool {
		for _, w := range when {
			if w == why {
				h.park(c)
				return true
			}
		}
		return false
	}
}

// helpWith starts a helper that inherits a descriptor, or has the host's own
// stdin.
func (h *host) helpWith(extra, stdin *os.File, argv ...string) *helper {
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if extra != nil {
		cmd.ExtraFiles = []*os.File{extra}
	}
	if stdin != nil {
		cmd.Stdin = stdin
	}
	return h.begin(cmd)
}

// bench are hosts that the bench itself has trouble with.
var bench = []Trick{
	{
		Name: "naive-storm", Group: 15,
		About: "the reference host naive: its finding has one fingerprint, however busy the machine is", Scenario: "storm",
		Builtin: "naive", Want: leak("L1", "L4"),
	},
	{
		Name: "other-user", Group: 16,
		About: "launches its servers as another user, who can't reach the ledger", Scenario: "sessions.yaml", Root: true,
		Today: "inconclusive (host-failed) exit 4",
		Want:  Want{Outcome: Inconclusive}.code(3).says("user"),
		flaw:  same(flaw{attr: func(a *syscall.SysProcAttr) { a.Credential = &syscall.Credential{Uid: nobody, Gid: nobody} }}),
	},
	{
		Name: "other-user-host", Group: 16,
		About: "a command that becomes another user, who can't reach the ledger", Scenario: "command.yaml", Root: true,
		Command: []string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "SELF", "trick-command", "{{server}}"},
		Today:   "inconclusive (host-exited, host-never-launched)",
		Want:    Want{Outcome: Inconclusive}.code(3).says("user"),
	},
	{
		Name: "private-tmp", Group: 16,
		About: "a command with a /tmp of its own, where the ledger is not", Scenario: "command.yaml", Root: true,
		Command: []string{
			"unshare", "--mount", "sh", "-c", `mount -t tmpfs none /tmp && exec "$0" "$@"`,
			"SELF", "trick-command", "{{server}}",
		},
		Today: "inconclusive (host-exited, host-never-launched)",
		Want:  Want{Outcome: Inconclusive}.code(3).says("/tmp"),
	},
	{
		Name: "no-answer", Group: 16,
		About: "never answers a call: a step takes no longer than half a minute", Scenario: "one-call.yaml", Slow: true,
		Today: "inconclusive (no-answer, step-failed)",
		Want:  Want{Outcome: Inconclusive}.within(45 * time.Second).says("session a: call: no answer"), flaw: same(flaw{silent: "call"}),
	},
	{
		Name: "crossed-calls", Group: 16,
		About: "sends the calls of each of two sessions to the server of the other", Scenario: "idle.yaml",
		Today: "clean",
		Want:  Want{Outcome: Inconclusive}.says("which is a server of session"), flaw: same(flaw{called: (*host).swapSessions}),
	},
	{
		Name: "no-answer-to-jobs", Group: 16,
		About:    "still waits for the server of a job when the bench has stopped waiting: it has not given that up",
		Scenario: "job-connects.yaml", Slow: true,
		Today: "inconclusive (no-answer, step-failed)",
		Want:  Want{Outcome: Inconclusive}.within(60 * time.Second), flaw: same(flaw{}),
	},
}

// swapSessions gives the first two sessions each other's connections.
func (h *host) swapSessions(*conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	names := slices.Sorted(maps.Keys(h.sessions))
	if len(names) > 1 {
		a, b := names[0], names[1]
		h.sessions[a], h.sessions[b] = h.sessions[b], h.sessions[a]
	}
}

const nobody = 65534
