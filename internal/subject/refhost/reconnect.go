package refhost

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// redialer connects a session anew when a call finds that its server is gone. What becomes of the old server is the disposer's business,
// as with each connection that is superseded.
type redialer struct {
	servers sync.Map // session -> driver.Server, of the sessions that are open
	turns   sync.Map // session -> chan struct{}, which holds one while the session is being connected
}

// turn waits until nobody else connects a session. A nil redialer lets everybody.
func (r *redialer) turn(ctx context.Context, session string) (done func(), err error) {
	if r == nil {
		return func() {}, nil
	}
	turn, _ := r.turns.LoadOrStore(session, make(chan struct{}, 1))
	select {
	case turn.(chan struct{}) <- struct{}{}:
		return func() { <-turn.(chan struct{}) }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// toolCall calls a tool on a connection.
type toolCall func(*connection) (json.RawMessage, error)

// callAgain is a call that failed, on a new connection if that was the reason.
func (h *host) callAgain(ctx context.Context, session string, on *connection, failed error, call toolCall) (json.RawMessage, error) {
	s, open := h.redial.servers.Load(session)
	if !open || ctx.Err() != nil || on != nil && !lost(failed) {
		return nil, failed
	}
	c, err := h.reconnect(ctx, session, on, s.(driver.Server))
	if err != nil {
		return nil, errors.Join(failed, err)
	}
	return call(c)
}

// reconnect returns the connection that a session has instead of the one which is lost: another call may have made it.
func (h *host) reconnect(ctx context.Context, session string, lost *connection, s driver.Server) (*connection, error) {
	done, err := h.redial.turn(ctx, session)
	if err != nil {
		return nil, err
	}
	defer done()
	if c := h.connectionOf(session); c != nil && c != lost {
		return c, nil
	}
	if err := h.open(ctx, session, s); err != nil {
		return nil, err
	}
	if c := h.connectionOf(session); c != nil {
		return c, nil
	}
	return nil, noSession(session) // closed meanwhile
}

func (h *host) connectionOf(session string) *connection {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[session]
}

// lost says of the error of a call that there is no server any more to answer one.
func lost(err error) bool {
	return errors.Is(err, transport.ErrTransportClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed)
}

// endLate ends a superseded server long after its session has got another one, as a mutant does.
func (f *flawed) endLate(c *connection) {
	time.AfterFunc(catalogue.LateBy, func() { f.exact.ended(c, superseded) })
}
