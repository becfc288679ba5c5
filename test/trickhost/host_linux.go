package trickhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// ending is why a session has ended.
type ending string

const (
	closed     ending = "closed"
	superseded ending = "superseded"
	refused    ending = "refused" // it could not be opened
	forgotten  ending = "forgotten"
	done       ending = "done"    // of a job
	cutOff     ending = "cut off" // of a job that failed
	stopping   ending = "stopping"
)

// flaw is what a trick changes about the healthy host. Each is called where the
// host comes past; nil changes nothing.
type flaw struct {
	retries  int                                                                 // of a connect that failed
	noGroup  bool                                                                // servers stay in the host's process group
	profile  map[string]any                                                      // keys of the hello's profile besides the usual ones
	attr     func(*syscall.SysProcAttr)                                          // of each launch
	files    func(h *host, stdin *os.File) []*os.File                            // that a launch inherits besides its stdio
	command  func(argv []string) []string                                        // what is launched for a server
	unwaited func(c *conn) bool                                                  // nobody waits for this server
	started  func(h *host)                                                       // before the hello
	before   func(ctx context.Context, h *host, session string, s driver.Server) // before the launch of a session's server
	accepts  func(ctx context.Context, c *conn) error                            // after the handshake: an error refuses the server
	opened   func(h *host, c *conn, s driver.Server)                             // the open is about to be answered
	called   func(h *host, c *conn)                                              // before a call is passed on
	failed   func(h *host, c *conn)                                              // after a call that failed
	ends     func(h *host, c *conn, why ending) bool                             // instead of the ladder; false: the ladder after all
	job      func(ctx context.Context, h *host, j driver.Job) error              // instead of a job
	stopped  func(h *host)                                                       // after all servers were ended
	silent   string                                                              // an operation that is never answered
}

// host is a small gateway that owns each server by its handle, ends it by the
// whole ladder when its session ends, and waits for its exit.
type host struct {
	flaw  flaw
	spawn chan func()

	mu       sync.Mutex
	sessions map[string]*conn
	servers  map[string]driver.Server // how each session's server is launched
	mine     map[*conn]bool           // everything that was launched and not ended
	helpers  []*helper
	parked   []any // keeps the garbage collector from closing what is left open
	count    int   // for tricks that do something at times
	over     bool
}

func newHost(f flaw) *host {
	h := &host{flaw: f, spawn: make(chan func()), sessions: map[string]*conn{}, servers: map[string]driver.Server{}, mine: map[*conn]bool{}}
	go h.spawner()
	return h
}

// spawner starts all processes on one thread that lives as long as the host:
// the kernel ties a parent death signal to the thread that forked.
func (h *host) spawner() {
	runtime.LockOSThread()
	if syscall.Gettid() == os.Getpid() {
		go h.spawner()
		select {} // keeps the main thread
	}
	for f := range h.spawn {
		f()
	}
}

func (h *host) onSpawner(start func() error) error {
	failed := make(chan error)
	h.spawn <- func() { failed <- start() }
	return <-failed
}

// run is the life of the host's process.
func (h *host) run(name string) int {
	log.SetPrefix(name + ": ")
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, os.Interrupt)
	if h.flaw.started != nil {
		h.flaw.started(h)
	}
	profile := &driver.Profile{
		Settle: driver.Duration(1500 * time.Millisecond), Confirm: driver.Duration(time.Second), Stop: driver.Duration(3 * time.Second),
		Ladder: fmt.Sprintf("stdin close, %v, TERM to the group, %v, KILL", afterEOF, afterTerm), Scale: "1/10",
	}
	served := make(chan error, 1)
	go func() {
		about := driver.Hello{Host: name, Version: "1", Profile: profile}
		served <- driver.Serve(context.Background(), os.Stdin, &hello{extra: h.flaw.profile}, about, h)
	}()
	select {
	case err := <-served:
		if errors.Is(err, driver.ErrBenchGone) {
			return 1
		}
	case <-terminated:
		_ = h.Stop(context.Background())
	}
	return 0
}

// hello is stdout. It adds to the first line's profile what driver.Hello has
// no field for.
type hello struct {
	extra map[string]any
	said  bool
}

func (w *hello) Write(line []byte) (int, error) {
	first := !w.said
	w.said = true
	if !first || w.extra == nil {
		return os.Stdout.Write(line)
	}
	var message struct {
		Hello map[string]any `json:"hello"`
	}
	if err := json.Unmarshal(line, &message); err != nil {
		return 0, err
	}
	profile, _ := message.Hello["profile"].(map[string]any)
	maps.Copy(profile, w.extra)
	text, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	if _, err := os.Stdout.Write(append(text, '\n')); err != nil {
		return 0, err
	}
	return len(line), nil
}

func (h *host) own(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mine[c] = true
}

func (h *host) park(what any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parked = append(h.parked, what)
}

// current is the connection of a session, or nil.
func (h *host) current(session string) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[session]
}

// others are the connected sessions but one, in the order of their births.
func (h *host) others(session string) []*conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []*conn
	for name, c := range h.sessions {
		if name != session {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *conn) int { return a.born.Compare(b.born) })
	return all
}

// put makes c the session's connection and returns the one before.
func (h *host) put(session string, c *conn) *conn {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.sessions[session]
	if c == nil {
		delete(h.sessions, session)
	} else {
		h.sessions[session] = c
	}
	return old
}

// nth counts the calls of it.
func (h *host) nth() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count++
	return h.count
}

// end ends a server whose session has ended, in the trick's way or in order.
func (h *host) end(c *conn, why ending) {
	if h.flaw.ends != nil && h.flaw.ends(h, c, why) {
		return
	}
	h.finish(c)
}

func (h *host) finish(c *conn) {
	c.finish()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.mine, c)
}

// Open connects a session. The server of an earlier connection is ended first.
func (h *host) Open(ctx context.Context, session string, s driver.Server) error {
	if h.flaw.silent == "open" {
		select {}
	}
	if old := h.put(session, nil); old != nil {
		h.end(old, superseded)
	}
	var c *conn
	var err error
	for try := 0; try == 0 || err != nil && try <= h.flaw.retries && ctx.Err() == nil; try++ {
		if h.flaw.before != nil {
			h.flaw.before(ctx, h, session, s)
		}
		limited, cancel := context.WithTimeoutCause(ctx, 10*time.Second, errors.New("no connection within 10s"))
		c, err = h.connect(limited, session, s)
		cancel()
	}
	if err != nil {
		return err
	}
	h.mu.Lock()
	h.servers[session] = s
	h.mu.Unlock()
	if other := h.put(session, c); other != nil {
		h.end(other, superseded)
	}
	if h.flaw.opened != nil {
		h.flaw.opened(h, c, s)
	}
	return nil
}

// Call calls a tool.
func (h *host) Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error) {
	if h.flaw.silent == "call" {
		select {}
	}
	c := h.current(session)
	if c == nil {
		return nil, fmt.Errorf("no session %q", session)
	}
	if h.flaw.called != nil {
		h.flaw.called(h, c)
		if now := h.current(session); now != nil {
			c = now
		}
	}
	result, err := c.call(ctx, tool, args)
	if err != nil && h.flaw.failed != nil {
		h.flaw.failed(h, c)
	}
	return result, err
}

// Close ends a session in an orderly way.
func (h *host) Close(_ context.Context, session string) error { return h.drop(session, closed) }

// Forget ends a session that nobody closed.
func (h *host) Forget(_ context.Context, session string) error { return h.drop(session, forgotten) }

func (h *host) drop(session string, why ending) error {
	c := h.put(session, nil)
	if c == nil {
		return fmt.Errorf("no session %q", session)
	}
	h.end(c, why)
	return nil
}

// Reload moves one session after the other to its new server.
func (h *host) Reload(ctx context.Context, sessions []driver.SessionServer) error {
	return driver.ReloadInTurn(ctx, sessions, h.Open)
}

// Tick runs jobs in parallel, each with a connection of its own.
func (h *host) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	return driver.RunJobs(ctx, jobs, func(ctx context.Context, j driver.Job) error {
		if h.flaw.job != nil {
			return h.flaw.job(ctx, h, j)
		}
		return h.job(ctx, j)
	}), nil
}

func (h *host) job(ctx context.Context, j driver.Job) error {
	c, err := h.connect(ctx, j.Session, j.Server)
	if err != nil {
		return err
	}
	if j.TimeoutMS > 0 {
		limited, cancel := context.WithTimeout(ctx, time.Duration(j.TimeoutMS)*time.Millisecond)
		defer cancel()
		ctx = limited
	}
	if _, err = c.call(ctx, j.Tool, j.Args); err != nil {
		h.end(c, cutOff)
		return err
	}
	h.end(c, done)
	return nil
}

// Stop ends everything that the host has launched, side by side.
func (h *host) Stop(context.Context) error {
	h.mu.Lock()
	all := slices.Collect(maps.Keys(h.mine))
	helpers := h.helpers
	again := h.over
	h.over, h.helpers = true, nil
	clear(h.sessions)
	h.mu.Unlock()
	if again {
		return nil
	}
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() {
			if c.beside != nil {
				c.beside.end()
			}
			if h.flaw.ends == nil || !h.flaw.ends(h, c, stopping) {
				c.finish()
			}
		})
	}
	wg.Wait()
	for _, x := range helpers {
		x.end()
	}
	if h.flaw.stopped != nil {
		h.flaw.stopped(h)
	}
	return nil
}
