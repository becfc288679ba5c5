package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

// list asks the host for a list. No session begins or ends with it, as with a call.
func (r *run) list(ctx context.Context, s scenarios.Step, step record.Step) error {
	step.Detail, step.Limit = s.Listed(), s.Timeout
	step, begun := r.begin(step), time.Now()
	req := driver.Request{Op: driver.OpList, Session: s.Session, What: s.Listed()}
	defer r.asRequest(s, step.Label)()
	if s.Timeout > 0 && !s.Cancel {
		return r.limitedCall(ctx, req, step, begun)
	}
	failed, fatal := r.doOrCancel(ctx, req, s, &step)
	r.end(step, begun, failed)
	return fatal
}

// leaveOutLists leaves out the lists that a driver does not offer: the host may ask for them by itself.
func (r *run) leaveOutLists() error {
	s, why := fit.WithoutLists(r.Scenario, r.hello)
	if why != "" {
		return &fit.NotApplicable{Why: why}
	}
	r.Scenario = s
	return nil
}

// unlisted is the error of a scenario about lists, played with a host that was not asked for any and did not ask for any by itself.
func (r *run) unlisted() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	servers := r.lives.Servers()
	asked := slices.ContainsFunc(servers, func(s *history.Server) bool { return len(s.Lists) > 0 })
	worked := slices.ContainsFunc(servers, func(s *history.Server) bool { return s.Established != history.Never })
	if !r.Scenario.Unlisted() || asked || !worked {
		return nil
	}
	return &fit.NotApplicable{Why: fmt.Sprintf("%s: it asks no server for its lists by itself, and cannot be asked to", record.OpList)}
}
