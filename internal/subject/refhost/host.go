package refhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// host is a gateway: named sessions, each on a server of its own.
type host struct {
	learn   *snapshot
	dispose disposer
	spawner *spawner
	flaw    catalogue.Flaw
	redial  *redialer // nil: a session whose server is gone stays lost until it is opened again

	life    context.Context // ends when the host stops
	endLife context.CancelCauseFunc
	stop    sync.Once
	// gate is held for reading while a server is started, so that a stop finds each one either finished or refused.
	gate sync.RWMutex

	mu       sync.Mutex
	sessions map[string]*connection
	entries  map[string]*entry // of a host that shares, by their command lines
	givenUp  map[string]bool   // what a mutant does not open any more
}

var errStopping = errors.New("the host is stopping")

func newHost(d design, flaw catalogue.Flaw) *host {
	h := &host{
		learn: d.learn, dispose: d.own(), spawner: newSpawner(), flaw: flaw, sessions: map[string]*connection{}, givenUp: map[string]bool{},
	}
	if d.shares && flaw != catalogue.NeverShares {
		h.entries = map[string]*entry{}
	}
	if d.redials && flaw != catalogue.NeverReconnects {
		h.redial = &redialer{}
	}
	h.life, h.endLife = context.WithCancelCause(context.Background())
	log.SetPrefix(d.name + ": ")
	return h
}

// whileAlive is ctx, ended also by the host's stop.
func (h *host) whileAlive(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(h.life, func() { cancel(errStopping) })
	return ctx, func() { unhook(); cancel(nil) }
}

func (h *host) take(session string) *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.sessions[session]
	delete(h.sessions, session)
	return c
}

// keep makes c the session's connection. The last one wins; the one before it is superseded.
func (h *host) keep(session string, c *connection) error {
	h.mu.Lock()
	before := h.sessions[session]
	stopped := h.life.Err() != nil
	if !stopped {
		h.sessions[session] = c
	}
	h.mu.Unlock()
	if stopped {
		h.dispose.ended(c, cutOff)
		return errStopping
	}
	if before != nil && !before.entry {
		h.dispose.ended(before, superseded)
	}
	return nil
}

// Open connects a session. One that is connected is reconnected: the old
// connection has ended, whatever the disposer makes of that.
func (h *host) Open(ctx context.Context, session string, s driver.Server) error {
	ctx, done := h.whileAlive(ctx)
	defer done()
	if h.redial != nil {
		h.redial.servers.Store(session, s)
	}
	over, err := h.redial.turn(ctx, session)
	if err != nil {
		return err
	}
	defer over()
	return h.open(ctx, session, s)
}

func (h *host) open(ctx context.Context, session string, s driver.Server) error {
	retries := initialRetries
	if old := h.take(session); old != nil {
		if !old.entry {
			h.dispose.ended(old, superseded)
		}
		retries = reconnects
	}
	c, err := h.connect(ctx, session, s, retries)
	if h.flaw == catalogue.NeverTriesLate && h.gaveUp(session, err) && err == nil {
		h.dispose.ended(c, failed)
		err = errGivenUp
	}
	if err != nil {
		return err
	}
	return h.keep(session, c)
}

// gaveUp reports, for a mutant, whether a session could not be opened now or at any time before.
func (h *host) gaveUp(session string, err error) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.givenUp[session] = h.givenUp[session] || err != nil
	return h.givenUp[session]
}

// connect tries, and tries again with growing pauses.
func (h *host) connect(ctx context.Context, session string, s driver.Server, retries int) (*connection, error) {
	pause := backoffStart
	for attempt := 0; ; attempt++ {
		c, err := h.attempt(ctx, session, s)
		if err == nil {
			return h.connectOver(ctx, c, session, s), nil
		}
		log.Printf("session %s, attempt %d: %v", session, attempt+1, err)
		if attempt == retries || ctx.Err() != nil {
			return nil, fmt.Errorf("attempt %d: %w", attempt+1, err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w (after %d attempts, the last: %w)", context.Cause(ctx), attempt+1, err)
		}
		pause = min(2*pause, backoffMost)
	}
}

// connectOver is a mutant's: it drops a connection that works and makes another, without a pause.
func (h *host) connectOver(ctx context.Context, c *connection, session string, s driver.Server) *connection {
	if h.flaw != catalogue.ConnectsTwice {
		return c
	}
	for range tooOften {
		if next, err := h.attempt(ctx, session, s); err == nil {
			h.dispose.ended(c, failed)
			c = next
		}
	}
	return c
}

// attempt starts one server and shakes hands with it. One that fails leaves
// its server to the disposer, as any end of a session does.
func (h *host) attempt(ctx context.Context, session string, s driver.Server) (*connection, error) {
	c, err := h.start(session, s) //nolint:contextcheck // a server outlives the request that launched it
	if err != nil {
		return nil, err
	}
	if _, asked := ctx.Deadline(); !asked {
		limited, cancel := context.WithTimeoutCause(ctx, connectTimeout, fmt.Errorf("no connection within %s", duration.Text(connectTimeout)))
		defer cancel()
		ctx = limited
	}
	if err := c.initialize(ctx); err != nil {
		h.dispose.ended(c, failed)
		return nil, err
	}
	h.dispose.connected(c)
	if err := h.listAtConnect(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// start launches a server and learns, in this host's way, what it launched.
func (h *host) start(session string, s driver.Server) (*connection, error) {
	h.gate.RLock()
	defer h.gate.RUnlock()
	if h.life.Err() != nil {
		return nil, errStopping
	}
	var c *connection
	learned, err := h.learn.learn(func() (err error) {
		c, err = launch(h.spawner, session, s, h.dispose.start)
		return err
	})
	if err != nil {
		return nil, err
	}
	c.learned = learned
	h.dispose.started(c)
	return c, nil
}

// Call calls a tool.
func (h *host) Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error) {
	ctx, done := h.whileAlive(ctx)
	defer done()
	call := func(c *connection) (json.RawMessage, error) { return c.call(ctx, tool, args) }
	c := h.connectionOf(session)
	text, err := json.RawMessage(nil), noSession(session)
	if c != nil {
		text, err = call(c)
	}
	if err != nil && h.redial != nil {
		return h.callAgain(ctx, session, c, err, call)
	}
	return text, err
}

// Close ends a session in an orderly way.
func (h *host) Close(_ context.Context, session string) error {
	err := h.end(session, orderly)
	if err == nil && h.flaw == catalogue.CloseLingers {
		<-time.After(closeLinger)
	}
	return err
}

// Forget ends a session that nobody closed.
func (h *host) Forget(_ context.Context, session string) error { return h.end(session, forgotten) }

func (h *host) end(session string, why ending) error {
	c := h.take(session)
	if h.redial != nil {
		h.redial.servers.Delete(session)
	}
	if c == nil {
		return noSession(session)
	}
	switch {
	case !c.entry:
		h.dispose.ended(c, why)
	case h.flaw == catalogue.JobOfSession && c.first == session:
		h.dispose.ended(c, cutOff)
	}
	return nil
}

func noSession(session string) error { return fmt.Errorf("no session %q", session) }

// Reload moves one session after the other to its new server.
func (h *host) Reload(ctx context.Context, sessions []driver.SessionServer) error {
	return driver.ReloadInTurn(ctx, sessions, h.Open)
}

// Tick runs jobs in parallel, each with a connection of its own.
func (h *host) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	results := driver.RunJobs(ctx, jobs, h.job)
	h.dispose.tickEnded()
	return results, nil
}

func (h *host) job(ctx context.Context, j driver.Job) error {
	ctx, done := h.whileAlive(ctx)
	defer done()
	c, err := h.connect(ctx, j.Session, j.Server, initialRetries)
	if err != nil {
		return err
	}
	if limit := time.Duration(j.TimeoutMS) * time.Millisecond; limit > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the job's call took longer than %s", duration.Text(limit)))
		defer cancel()
		ctx = limited
	}
	_, err = c.call(ctx, j.Tool, j.Args)
	if err != nil {
		h.dispose.ended(c, cutOff)
		return err
	}
	h.dispose.ended(c, orderly)
	return nil
}

// Stop ends the host: what is being connected is broken off, the sessions that are connected are the disposer's.
func (h *host) Stop(context.Context) error {
	h.stop.Do(func() {
		h.gate.Lock()
		h.mu.Lock()
		h.endLife(errStopping)
		h.gate.Unlock()
		current := slices.Collect(maps.Values(h.sessions))
		clear(h.sessions)
		h.mu.Unlock()
		h.dispose.shutdown(current)
		if h.flaw == catalogue.StopHangs {
			select {}
		}
	})
	return nil
}
