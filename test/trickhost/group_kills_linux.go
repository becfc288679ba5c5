package trickhost

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// chain is a shell script that starts itself again, n times. It ends by itself
// should nobody end it. Each command line in it names the program that has started it.
func chain(n int, script string) []string {
	script = ": leakbench-trick; : '" + self() + "'; " + script
	return []string{"/bin/sh", "-c", script, script, strconv.Itoa(n)}
}

// liveKills end servers of live sessions by SIGKILL and hide it.
var liveKills = []Trick{
	{
		Name: "kill-replaced", Group: 3,
		About: "gives the other sessions new servers when one reconnects, and kills the old ones then", Scenario: "reconnect.yaml",
		Today: "clean",
		Want:  leak("L3"), flaw: same(flaw{before: func(ctx context.Context, h *host, session string, _ driver.Server) {
			if h.nth() <= reconnectOpens {
				return
			}
			for _, c := range h.others(session) {
				h.renew(ctx, c, func() {}, c.kill)
			}
		}}),
	},
	{
		Name: "kill-relaunched", Group: 3,
		About:    "kills the servers of the other sessions when one reconnects, and gives them new ones at once",
		Scenario: "reconnect.yaml",
		Want:     leak("L3"), flaw: same(flaw{before: func(ctx context.Context, h *host, session string, _ driver.Server) {
			if h.nth() <= reconnectOpens {
				return
			}
			for _, c := range h.others(session) {
				h.renew(ctx, c, c.kill, func() {})
			}
		}}),
	},
	{
		Name: "kill-one", Group: 3,
		About: "kills one live server when a session reconnects, and launches it again at the next call", Scenario: "reconnect.yaml",
		Want: leak("L3"), flaw: same(flaw{
			before: func(_ context.Context, h *host, session string, _ driver.Server) {
				if all := h.others(session); h.nth() == reconnectOpens+1 && len(all) > 0 {
					all[0].kill()
				}
			},
			called: revive,
		}),
	},
	{
		Name: "cron-kill", Group: 3,
		About: "kills the server of each second job in its call, and does the job again with another", Scenario: "jobs.yaml",
		Today: "clean",
		Want:  leak("L3"), flaw: same(flaw{job: killAndRetry}),
	},
	{
		Name: "thread-ends", Group: 3,
		About:    "lets the thread end that has launched the servers: they have SIGKILL as their parent death signal",
		Scenario: "sessions.yaml",
		Want:     leak("L3").kinds("killed").says("parent death signal", "thread that lives as long as the host").never("cleanup hit more"),
		flaw: same(flaw{called: revive, ends: func(h *host, c *conn, why ending) bool {
			h.finish(c)
			if why == closed && h.nth() == 3 {
				h.spawn <- func() { // a thread that a goroutine is locked to ends with it
					go h.spawner()
					runtime.Goexit()
				}
			}
			return true
		}}),
	},
	{
		Name: "revive", Group: 3, About: "launches a server that has crashed again at the next call", Scenario: "crash.yaml",
		Want: innocent(), flaw: same(flaw{called: revive}),
	},
}

// reconnectOpens is how many sessions reconnect.yaml opens before the first of
// them reconnects.
const reconnectOpens = 3

// renew gives a session a new server.
func (h *host) renew(ctx context.Context, c *conn, first, then func()) {
	h.mu.Lock()
	s := h.servers[c.session]
	h.mu.Unlock()
	first()
	next, err := h.connect(ctx, c.session, s)
	if err != nil {
		return
	}
	h.put(c.session, next)
	then()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mine, c)
}

// revive gives a session whose server has gone another one.
func revive(h *host, c *conn) {
	select {
	case <-c.eof:
		h.renew(context.Background(), c, func() {}, func() { h.finish(c) })
	default:
	}
}

func killAndRetry(ctx context.Context, h *host, j driver.Job) error {
	if h.nth()%2 == 0 {
		return h.job(ctx, j)
	}
	c, err := h.connect(ctx, j.Session, j.Server)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		_, err := c.call(ctx, j.Tool, j.Args)
		failed <- err
	}()
	select {
	case err := <-failed:
		return fmt.Errorf("the call of %s was over before it could be cut off: %w", j.Session, err)
	case <-time.After(100 * time.Millisecond):
	}
	c.kill()
	return h.job(ctx, j)
}
