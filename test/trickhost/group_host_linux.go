package trickhost

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// restarts leave something in their first life and nothing in the second.
var restarts = []Trick{
	{
		Name: "first-life", Group: 7,
		About: "leaves, at the end of its first life alone, a process that forks itself anew every 300 ms", Scenario: "restarted.yaml",
		Today: "leak L2 escaped",
		Want:  leak("L2").says("life 1 of the host").never("life 2 of the host"), flaw: same(flaw{stopped: inFirstLife(func(h *host) {
			h.help(&syscall.SysProcAttr{Setsid: true}, chain(200, `[ "$1" -gt 0 ] && sleep 0.3 && exec /bin/sh -c "$0" "$0" $(($1-1)) &`)...)
		})}),
	},
	{
		Name: "first-life-idle", Group: 7,
		About: "leaves, at the end of its first life alone, a process that does nothing", Scenario: "restarted.yaml",
		Want: leak("L2").says("life 1 of the host").never("life 2 of the host"), flaw: same(flaw{stopped: inFirstLife(func(h *host) {
			h.help(&syscall.SysProcAttr{Setsid: true}, childArgv("idle")...)
		})}),
	},
	{
		Name: "second-life", Group: 7,
		About: "leaves, at the end of its second life alone, a process that forks itself anew every 300 ms", Scenario: "restarted.yaml",
		Want: leak("L2").says("life 2 of the host").never("life 1 of the host"), flaw: same(flaw{stopped: func(h *host) {
			if !firstLife() {
				h.help(&syscall.SysProcAttr{Setsid: true}, chain(200, `[ "$1" -gt 0 ] && sleep 0.3 && exec /bin/sh -c "$0" "$0" $(($1-1)) &`)...)
			}
		}}),
	},
}

func inFirstLife(do func(h *host)) func(h *host) {
	return func(h *host) {
		if firstLife() {
			do(h)
		}
	}
}

// firstLife says, once in each life, whether this is the first one below this
// keeper.
func firstLife() bool {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", os.Getppid()))
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const start = 19 // of the fields behind the name: a number alone may have been another's
	if len(fields) <= start {
		return false
	}
	mark := filepath.Join(os.TempDir(), fmt.Sprintf("leakbench-trick-%d-%s", os.Getppid(), fields[start]))
	file, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		_ = os.Remove(mark)
		return false
	}
	file.Close()
	return true
}

// commands are not driven: they are given one server, or more.
var commands = []Trick{
	{
		Name: "command", Group: 11, About: "a command that does nothing wrong", Scenario: "command.yaml",
		Command: []string{"SELF", "trick-command", "{{server}}"}, Want: innocent(),
	},
	{
		Name: "timeout", Group: 11,
		About: "a command behind timeout(1), which passes SIGTERM on to its whole group", Scenario: "command.yaml",
		Today:   "leak L3 bystander",
		Command: []string{"timeout", "1000", "SELF", "trick-command", "{{server}}"}, Want: innocent(),
	},
	{
		Name: "kill-0", Group: 11, About: "a command that sends SIGTERM to its own group as it ends", Scenario: "command.yaml",
		Today:   "leak L3 bystander",
		Command: []string{"SELF", "trick-command", "kill-0", "{{server}}"}, Want: innocent(),
	},
	{
		Name: "driver-kill-0", Group: 11, About: "sends SIGTERM to its own group as it ends", Scenario: "sessions.yaml",
		Today: "leak L3 bystander",
		Want:  innocent(), flaw: same(flaw{stopped: func(*host) { killOwnGroup() }}),
	},
	{
		Name: "daemon", Group: 11, About: "a command that goes on in the background and exits with 0", Scenario: "command.yaml",
		Today:   "leak L2 escaped+orphan | leak L2 escaped+orphan (host-exited)",
		Command: []string{"SELF", "trick-command", "daemon", "{{server}}"}, Want: Want{Outcome: Inconclusive},
	},
	{
		Name: "two-connections", Group: 11,
		About: "a command with two connections to its server, both used to its end", Scenario: "command.yaml",
		Today:   "leak L1 duplicate",
		Command: []string{"SELF", "trick-command", "two", "{{server}}"}, Want: Want{Outcome: Inconclusive},
	},
	{
		Name: "two-declared", Group: 11,
		About: "the same, and its host file says that it launches two", Scenario: "command.yaml", HostFile: "launches: 2\n",
		Today:   "leak L1 duplicate",
		Command: []string{"SELF", "trick-command", "two", "{{server}}"}, Want: innocent(),
	},
	{
		Name: "timeout-file", Group: 11,
		About:    "a command behind timeout(1), in a host file",
		Scenario: "command.yaml", HostFile: "ladder: stdin close, 600ms, TERM, 300ms, KILL\n",
		Today:   "leak L3 bystander",
		Command: []string{"timeout", "1000", "SELF", "trick-command", "{{server}}"}, Want: innocent(),
	},
}

// command is a host that is not driven.
func command(args []string) int {
	how := args[0]
	switch how {
	case "daemon":
		return daemon(args[1:])
	case "kill-0", "two":
		args = args[1:]
	}
	h := newHost(flaw{})
	stop := terminated()
	n := 1
	if how == "two" {
		n = 2
	}
	for range n {
		c, err := h.launch("", args, true)
		if err != nil {
			return 2
		}
		h.own(c)
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err = c.initialize(ctx)
		if err == nil {
			_, err = c.call(ctx, "echo", map[string]any{"text": "x"})
		}
		cancel()
		if err != nil {
			_ = h.Stop(context.Background())
			return 1
		}
	}
	<-stop
	_ = h.Stop(context.Background())
	if how == "kill-0" {
		killOwnGroup()
	}
	return 0
}

// schedules end and renew servers of open sessions by themselves.
var schedules = []Trick{
	{
		Name: "idle", Group: 12,
		About:    "ends servers in order that were idle for 500 ms, launches them again at the next call, and declares it",
		Scenario: "idle.yaml",
		Today:    "leak L3 cut-off",
		Want:     innocent(),
		flaw: same(flaw{
			profile: map[string]any{"idle": "500ms"}, called: revive,
			started: func(h *host) { go h.every(100*time.Millisecond, h.endIdle) },
		}),
	},
	{
		Name: "renewal", Group: 12,
		About: "ends each server in order after 600 ms, gives its session a new one, and declares it", Scenario: "idle.yaml",
		Today: "leak L3 cut-off",
		Want:  innocent(),
		flaw:  same(flaw{profile: map[string]any{"renewal": "600ms"}, started: func(h *host) { go h.every(600*time.Millisecond, h.renewAll) }}),
	},
	{
		Name: "unasked", Group: 12,
		About:    "launches another server for a session that is open and idle, ends it in order, and does not declare it",
		Scenario: "unasked.yaml",
		Today:    "clean",
		Want:     Want{Outcome: Inconclusive}.says("nobody had asked the host"),
		flaw: same(flaw{started: func(h *host) {
			go h.every(20*time.Millisecond, func() {
				for _, c := range h.others("") {
					if c.idle() > 1200*time.Millisecond && h.nth() == 1 {
						h.probe(c, "tools/list")
					}
				}
			})
		}}),
	},
	{
		Name: "idle-killed", Group: 12,
		About: "kills servers that were idle for 500 ms, and declares an idle time-out", Scenario: "idle.yaml",
		Want: leak("L3").may("L9"), flaw: same(flaw{profile: map[string]any{"idle": "500ms"}, called: revive, started: func(h *host) {
			go h.every(100*time.Millisecond, func() {
				for _, c := range h.others("") {
					if c.idle() > 500*time.Millisecond && !c.gone(0) {
						c.kill()
					}
				}
			})
		}}),
	},
}

func (h *host) every(d time.Duration, do func()) {
	for range time.Tick(d) {
		h.mu.Lock()
		over := h.over
		h.mu.Unlock()
		if over {
			return
		}
		do()
	}
}

func (c *conn) idle() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) > 0 {
		return 0
	}
	return time.Since(c.used)
}

func (h *host) endIdle() {
	for _, c := range h.others("") {
		if c.idle() > 500*time.Millisecond && !c.gone(0) {
			c.finish()
		}
	}
}

func (h *host) renewAll() {
	for _, c := range h.others("") {
		if c.idle() > 0 {
			h.renew(context.Background(), c, c.finish, func() {})
		}
	}
}
