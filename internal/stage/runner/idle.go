package runner

import (
	"context"
	"fmt"
)

// idleOpens is how many sessions may fail to open before it is said that the
// host launches nothing: what is wrong is how it is started, and the rest of
// the scenario would show nothing else, slowly.
const idleOpens = 3

// idle takes note of a session that should have opened and did not. It is an
// error once the host has launched no server at all for several of them.
func (r *run) idle(ctx context.Context, failed error) error {
	r.mu.Lock()
	r.unopened++
	give := r.unopened >= idleOpens && len(r.lives.Servers()) == 0
	r.mu.Unlock()
	if !give {
		return nil
	}
	return fmt.Errorf("%w: it has launched no server: %d sessions could not be opened, the last one with %q%s", ErrHost, idleOpens, failed.Error(), r.lastWords(ctx))
}
