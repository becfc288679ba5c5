package trickhost

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// slow ends servers much later than it may: no load of the machine excuses it.
var slow = []Trick{
	{
		Name: "late-5s", Group: 1,
		About: "ends the server of a closed session 5 s late, where 1.5 s are allowed", Scenario: "sessions.yaml", Busy: true,
		Today: "clean",
		Want:  leak("L1").orDoubt(), flaw: same(flaw{ends: endsLate(5 * time.Second)}),
	},
	{
		Name: "late-20s", Group: 1,
		About:    "ends the server of a closed session 20 s late, where 15 s are allowed",
		Scenario: "sessions.yaml", Busy: true, Slow: true,
		Today: "clean",
		Want:  leak("L1").orDoubt(),
		flaw:  same(flaw{ends: endsLate(20 * time.Second), profile: map[string]any{"settle": "15s", "confirm": "10s"}}),
	},
	{
		Name: "own-load", Group: 1,
		About: "closes stdin only, of servers that spin then, and kills them 5 s later", Scenario: "spin-on-eof.yaml",
		Today: "clean",
		Want:  leak("L1").orDoubt(), flaw: same(flaw{ends: func(h *host, c *conn, why ending) bool {
			c.closeStdin()
			return endsLate(5*time.Second)(h, c, why)
		}}),
	},
}

func endsLate(by time.Duration) func(*host, *conn, ending) bool {
	return func(h *host, c *conn, why ending) bool {
		if why == stopping {
			return false
		}
		time.AfterFunc(by, func() { h.finish(c) })
		return true
	}
}

// unseen break a law where the bench has not looked, and called it kept.
var unseen = []Trick{
	{
		Name: "kill-after-pause", Group: 6,
		About: "waits 400 ms when a session ends and kills its server, without the end of stdin or a signal", Scenario: "sessions.yaml",
		Today: "clean",
		Want:  warned("L9").kinds("killed-unasked"), flaw: same(flaw{ends: func(_ *host, c *conn, _ ending) bool {
			time.Sleep(400 * time.Millisecond) // sleep-ok: it is the trick
			c.kill()
			return true
		}}),
	},
	{
		Name: "fds", Group: 6, About: "leaks descriptors", Scenario: "cycles.yaml",
		Want: warned("L5"), flaw: same(flaw{opened: leakPipes}),
	},
	{
		Name: "fds-worker", Group: 6,
		About: "leaks descriptors in a worker that does everything", Scenario: "cycles.yaml", below: "worker",
		Today: "clean",
		Want:  warned("L5"), flaw: same(flaw{opened: leakPipes}),
	},
	{
		Name: "fds-shell", Group: 6, About: "leaks descriptors, below sh -c", Scenario: "cycles.yaml", below: "shell",
		Today: "clean",
		Want:  warned("L5"), flaw: same(flaw{opened: leakPipes}),
	},
	{
		Name: "memory", Group: 6, About: "grows", Scenario: "cycles.yaml",
		Want: warned("L6"), flaw: same(flaw{opened: hoard}),
	},
	{
		Name: "memory-worker", Group: 6, About: "grows in a worker that does everything", Scenario: "cycles.yaml", below: "worker",
		Today: "clean",
		Want:  warned("L6"), flaw: same(flaw{opened: hoard}),
	},
	{
		Name: "memory-shell", Group: 6, About: "grows, below sh -c", Scenario: "cycles.yaml", below: "shell",
		Today: "clean",
		Want:  warned("L6"), flaw: same(flaw{opened: hoard}),
	},
	{
		Name: "below-worker", Group: 6,
		About: "does everything in a worker, and nothing wrong", Scenario: "cycles.yaml", below: "worker",
		Want: innocent(), flaw: same(flaw{}),
	},
	{
		Name: "below-shell", Group: 6, About: "lives below sh -c, and does nothing wrong", Scenario: "cycles.yaml", below: "shell",
		Want: innocent(), flaw: same(flaw{}),
	},
}

func leakPipes(h *host, _ *conn, _ driver.Server) {
	for range 2 {
		r, w, err := os.Pipe()
		if err == nil {
			h.park([]*os.File{r, w})
		}
	}
}

func hoard(h *host, _ *conn, _ driver.Server) {
	kept := make([]byte, 3<<20)
	for i := range kept {
		kept[i] = byte(i) // memory that was never written to is not resident
	}
	h.park(kept)
}

// manners end servers with a signal and the end of stdin at the same moment.
var manners = []Trick{
	{
		Name: "term-then-eof", Group: 10, About: "sends SIGTERM and closes stdin 1 ms later", Scenario: "polite.yaml",
		Today: "clean L9 signal-first",
		Want:  warned("L9").kinds("signal-first").findings(1).servers(10), flaw: same(flaw{ends: func(_ *host, c *conn, _ ending) bool {
			c.signal(syscall.SIGTERM)
			pause(time.Millisecond)
			return false
		}}),
	},
	{
		Name: "term-then-eof-300us", Group: 10, About: "sends SIGTERM and closes stdin 0.3 ms later", Scenario: "polite.yaml",
		Today: "clean L9 signal-first",
		Want:  warned("L9").kinds("signal-first").findings(1).servers(10), flaw: same(flaw{ends: func(_ *host, c *conn, _ ending) bool {
			c.signal(syscall.SIGTERM)
			pause(300 * time.Microsecond)
			return false
		}}),
	},
	{
		Name: "eof-then-term", Group: 10,
		About: "closes stdin and sends SIGTERM 0.5 ms later: no time in between", Scenario: "polite.yaml",
		Today: "clean",
		Want:  warned("L9").findings(1).servers(10), flaw: same(flaw{ends: func(_ *host, c *conn, _ ending) bool {
			c.closeStdin()
			pause(500 * time.Microsecond)
			c.signal(syscall.SIGTERM)
			return false
		}}),
	},
}

func pause(d time.Duration) { time.Sleep(d) } // sleep-ok: the order of two events is what is tried

// gaveUp refuse a server by themselves, and end it by a signal.
var gaveUp = []Trick{
	{
		Name: "refuse-term", Group: 9,
		About: "refuses a server whose list of tools fails, and ends it by SIGTERM", Scenario: "list-fails.yaml",
		Today: "clean L9 signal-first | leak L3 terminated",
		Want:  warned().may("L9"), flaw: same(flaw{accepts: wantsTools(0), ends: refusedBy(syscall.SIGTERM)}),
	},
	{
		Name: "refuse-kill", Group: 9, About: "refuses a server whose list of tools fails, and kills it", Scenario: "list-fails.yaml",
		Today: "leak L3 killed | leak L3+L9 killed+killed-unasked",
		Want:  warned().may("L9"), flaw: same(flaw{accepts: wantsTools(0), ends: refusedBy(syscall.SIGKILL)}),
	},
	{
		Name: "refuse-eof", Group: 9,
		About: "refuses a server whose list of tools fails, and ends it in order", Scenario: "list-fails.yaml",
		Want: innocent(), flaw: same(flaw{accepts: wantsTools(0)}),
	},
	{
		Name: "limit-term", Group: 9,
		About: "gives a connect up after 500 ms, and ends the server by SIGTERM", Scenario: "list-slow.yaml",
		Today: "clean L9 signal-first | leak L3 terminated | leak L3+L9 signal-first+terminated",
		Want:  warned().may("L9"), flaw: same(flaw{accepts: wantsTools(500 * time.Millisecond), ends: refusedBy(syscall.SIGTERM)}),
	},
	{
		Name: "limit-kill", Group: 9, About: "gives a connect up after 500 ms, and kills the server", Scenario: "list-slow.yaml",
		Today: "clean | leak L3 killed",
		Want:  warned().may("L9"), flaw: same(flaw{accepts: wantsTools(500 * time.Millisecond), ends: refusedBy(syscall.SIGKILL)}),
	},
}

func wantsTools(within time.Duration) func(context.Context, *conn) error {
	return func(ctx context.Context, c *conn) error {
		if within > 0 {
			limited, cancel := context.WithTimeoutCause(ctx, within, errors.New("no list of tools in time"))
			defer cancel()
			ctx = limited
		}
		_, err := c.ask(ctx, "tools/list", map[string]any{})
		return err
	}
}

func refusedBy(sig syscall.Signal) func(*host, *conn, ending) bool {
	return func(_ *host, c *conn, why ending) bool {
		if why == refused {
			c.signal(sig)
			c.gone(afterTerm)
		}
		return false
	}
}

// probes are launched beside a session's server, or kept for the next one.
var probes = []Trick{
	{
		Name: "probe-after", Group: 8,
		About: "launches a second server when a session is connected, lists its tools and ends it in order", Scenario: "sessions.yaml",
		Today: "leak L1+L3 cut-off+duplicate+missing | leak L1+L3 duplicate+missing",
		Want:  innocent(), flaw: same(flaw{opened: func(h *host, c *conn, _ driver.Server) { h.probe(c, "tools/list") }}),
	},
	{
		Name: "list-then-lazy", Group: 8,
		About:    "lists the tools of a session's server as it is opened, ends it in order, and launches another at the first call",
		Scenario: "sessions.yaml", Today: "leak L3 cut-off",
		Want: innocent(), flaw: same(flaw{called: revive, opened: func(h *host, c *conn, _ driver.Server) {
			_, _ = c.ask(context.Background(), "tools/list", map[string]any{})
			h.finish(c)
		}}),
	},
	{
		Name: "probe-in-call", Group: 8,
		About: "checks a session's health with a second server before each call, and ends it in order", Scenario: "sessions.yaml",
		Today: "leak L1+L3 cut-off+duplicate",
		Want:  innocent(), flaw: same(flaw{called: func(h *host, c *conn) { h.probe(c, "tools/list") }}),
	},
	{
		Name: "probe-term", Group: 8,
		About:    "checks a session's health with a second server before each call, and ends it by SIGTERM alone",
		Scenario: "sessions.yaml", Today: "leak L1+L3+L9 duplicate+terminated+signal-first",
		Want: warned("L9").kinds("signal-first"), flaw: same(flaw{called: func(h *host, c *conn) {
			p, err := h.connect(context.Background(), c.session, driver.Server{Command: c.argv[0], Args: c.argv[1:]})
			if err != nil {
				return
			}
			_, _ = p.ask(context.Background(), "tools/list", map[string]any{})
			p.signal(syscall.SIGTERM)
			p.gone(afterEOF)
			h.finish(p)
		}}),
	},
	{
		Name: "probe-discover", Group: 8,
		About: "asks a server of its own for the era before each connect, and ends it in order", Scenario: "second-refused.yaml",
		Today: "inconclusive (step-failed)",
		Want:  innocent(), flaw: same(flaw{before: func(_ context.Context, h *host, session string, s driver.Server) {
			h.probe(&conn{session: session, argv: append([]string{s.Command}, s.Args...)}, "server/discover")
		}}),
	},
	{
		Name: "probe-storm", Group: 8,
		About: "asks a server of its own for the era before each connect, in a storm of reconnects", Scenario: "storm",
		Want: innocent().within(30 * time.Second),
		flaw: same(flaw{retries: 4, before: func(_ context.Context, h *host, session string, s driver.Server) {
			h.probe(&conn{session: session, argv: append([]string{s.Command}, s.Args...)}, "server/discover")
		}}),
	},
	{
		Name: "spare", Group: 8, About: "keeps one spare server, connected, as its profile says", Scenario: "sessions.yaml",
		Today: "leak L1 duplicate",
		Want:  innocent(), flaw: same(flaw{profile: map[string]any{"spare": 1}, opened: keepSpare}),
	},
	{
		Name: "spare-undeclared", Group: 8, About: "keeps one spare server, connected, and does not say so", Scenario: "sessions.yaml",
		Want: leak("L1"), flaw: same(flaw{opened: keepSpare}),
	},
	{
		Name: "cache", Group: 8,
		About:    "keeps the server of each session that was closed for 2 s, as its profile says, and gives no other session it",
		Scenario: "sessions.yaml", Today: "leak L1 late",
		Want: innocent(), flaw: same(flaw{profile: map[string]any{"resident": 6}, ends: func(h *host, c *conn, why ending) bool {
			if why == closed {
				time.AfterFunc(2*time.Second, func() { h.finish(c) })
			}
			return why == closed
		}}),
	},
}

// probe launches a server, asks it one thing and ends it in order.
func (h *host) probe(c *conn, method string) {
	p, err := h.launch(c.session, c.argv, true)
	if err != nil {
		return
	}
	h.own(p)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if method == "server/discover" || p.initialize(ctx) == nil {
		_, _ = p.ask(ctx, method, map[string]any{})
	}
	h.finish(p)
}

func keepSpare(h *host, c *conn, _ driver.Server) {
	if h.nth() > 1 {
		return
	}
	if p, err := h.launch(c.session, c.argv, true); err == nil {
		h.own(p)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = p.initialize(ctx)
	}
}
