package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// againPause is between two calls of a client whose gateway has just lost the server behind it.
const againPause = 100 * time.Millisecond

// askAgain asks again what must work and a gateway could not do since the server that all clients share had ended, or refused: a
// client's call or connect is how it learns of that, and the next one is what shows whether it recovers. It is given the time that
// a close may take. One that has not replaced its server by then is not waited for again.
func (r *run) askAgain(ctx context.Context, req driver.Request, s scenarios.Step, step record.Step, failed, fatal error) (err, ends error) {
	if !step.MustWork() || s.Cancel || failed == nil || fatal != nil {
		return failed, fatal
	}
	limited, cancel := context.WithTimeout(ctx, max(r.limits.Close.D(), r.limits.Settle.D()))
	defer cancel()
	for failed != nil && r.meetsBroken(step.Label) && !errors.Is(failed, errNoAnswer) {
		if patience.UntilChange(limited, r.newsChan(), againPause) != nil {
			r.locked(func() { r.unreplaced[step.Label] = true })
			break
		}
		if failed, fatal = r.do(ctx, req, step.Limit); fatal != nil {
			return failed, fatal
		}
	}
	if ctx.Err() != nil {
		return failed, context.Cause(ctx)
	}
	return failed, nil
}

// meetsBroken says that a call of a shared server may just have met one that is broken, in a gateway that may yet replace it.
func (r *run) meetsBroken(label string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sharing != record.Shared || r.unreplaced[label] || r.host.end {
		return false
	}
	all := r.lives.Servers()
	for _, s := range slices.Backward(all) {
		if s.Life == len(r.lives.Hosts()) && s.Label == label {
			return !s.Alive() || s.Broken >= 0 || s.Established < 0
		}
	}
	return false
}

// stillUnreplaced says that a gateway had the time to replace a label's broken server, and has not done so by now.
func (r *run) stillUnreplaced(label string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unreplaced[label] && !slices.ContainsFunc(r.lives.Alive(), func(s *history.Server) bool {
		return s.Life == len(r.lives.Hosts()) && s.Label == label && s.Broken < 0
	})
}
