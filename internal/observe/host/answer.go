package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// maxUnanswered is how many closes a host may leave without an answer before the bench asks it nothing more.
const maxUnanswered = 2

var errNoAnswer = errors.New("no answer from the host")

// stepLimit is how long the bench waits for the answer to a step: longer than half a minute only where a time limit
// of the scenario or of the host's profile is longer, or the step keeps a server busy for longer.
func (r *run) stepLimit(timeout record.Duration, busy time.Duration) time.Duration {
	limit := max(answerWait, 2*timeout.D(), r.limits.Close.D()+callSlack, r.limits.Confirm.D()+callSlack)
	if timeout == 0 && busy > 0 {
		limit = max(limit, busy+callSlack)
	}
	return limit
}

// mayYetOpen says of an open that was not answered that the host may still be at it: nobody has asked it to give up.
func mayYetOpen(s scenarios.Step, failed error) bool {
	return errors.Is(failed, errNoAnswer) && s.Timeout == 0 && !s.Cancel
}

// sleeps is how long a call of the tool sleep takes; 0 of any other.
func sleeps(tool string, args map[string]any) time.Duration {
	if tool != "sleep" {
		return 0
	}
	switch ms := args["ms"].(type) {
	case int:
		return time.Duration(ms) * time.Millisecond
	case float64:
		return time.Duration(ms) * time.Millisecond
	}
	return 0
}

// untilAnswer bounds the wait for an answer.
func (r *run) untilAnswer(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("%w within %s", errNoAnswer, duration.Text(limit)))
}

// countUnanswered takes note of a step that had to work and was not answered: no
// later one can succeed. Of closes there may be one, which L8 tells of.
func (r *run) countUnanswered(s record.Step, err error) {
	if !errors.Is(err, errNoAnswer) || !s.MustWork() || s.Limit > 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unanswered++
	if s.Op != record.OpClose && s.Op != record.OpForget {
		r.unanswered = maxUnanswered
	}
}

// hasGivenUp says that the host is asked nothing more: what is there is looked at, and the host is stopped.
func (r *run) hasGivenUp() bool {
	return under(r, func() bool { return r.unanswered >= maxUnanswered })
}
