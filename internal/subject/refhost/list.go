package refhost

import (
	"context"
	"fmt"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/hosts/mcpgo"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// List asks the server of a session. That it gets no answer does not end the session: the next request may get one.
func (h *host) List(ctx context.Context, session, what string) ([]string, error) {
	c := h.connectionOf(session)
	if c == nil {
		return nil, noSession(session)
	}
	ctx, done := h.whileAlive(ctx)
	defer done()
	return c.list(ctx, what)
}

// list returns the names of what a server offers.
func (c *connection) list(ctx context.Context, what string) (names []string, err error) {
	ctx, cancel := withLimit(ctx)
	defer cancel()
	answers := make(chan []string, 1) // one that comes too late is not waited for
	err = until(ctx, func() error {
		all, err := mcpgo.List(ctx, c.client, what)
		answers <- all
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-answers, nil
}

// listAtConnect is a mutant's: a host that offers its caller the tools of a server needs their list before the session is of use. Where
// it gets none it gives the session up, and with the error it drops the client: nobody ends the server.
func (h *host) listAtConnect(ctx context.Context, c *connection) error {
	if h.flaw != catalogue.DropsUnlisted {
		return nil
	}
	if _, err := c.list(ctx, driver.ListTools); err != nil {
		return fmt.Errorf("failed to list the tools: %w", err)
	}
	return nil
}
