package host

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// reload moves all open sessions of a label to new servers.
func (r *run) reload(ctx context.Context, s scenarios.Step, step record.Step) error {
	open := r.openSessions(s.Label)
	if len(open) == 0 {
		r.skip(step, "no session of "+s.Label+" is open")
		return nil
	}
	step, begun := r.begin(step), time.Now()
	var moves []driver.SessionServer
	for _, name := range open {
		r.session(name, s.Label, record.SessionOpening, false, record.WhyReload)
		moves = append(moves, driver.SessionServer{Session: name, Server: r.server(s.Label, name)})
	}
	before := r.alive()
	failed, fatal := r.do(ctx, driver.Request{Op: driver.OpReload, Sessions: moves}, s.Timeout)
	for _, m := range moves {
		if failed == nil || fatal == nil && r.moved(m.Session, before) {
			r.session(m.Session, s.Label, record.SessionOpen, false, record.WhyReload)
		} else if fatal == nil {
			r.session(m.Session, s.Label, record.SessionEnded, false, record.WhyNoReload)
		}
	}
	r.end(step, begun, failed)
	return fatal
}

// moved says that a session has a server that works and was not there before: a reload that failed for another one has moved this one.
func (r *run) moved(session string, before []history.Server) bool {
	r.ledger.Drain()
	return slices.ContainsFunc(r.alive(), func(s history.Server) bool {
		old := slices.ContainsFunc(before, func(o history.Server) bool { return o.ID == s.ID })
		return s.Session == session && working(&s) && s.Broken < 0 && !old
	})
}

func (r *run) openSessions(label string) []string {
	open := r.sessionsThat(func(s *session) bool { return s.label == label && s.state == record.SessionOpen })
	return slices.Sorted(maps.Keys(open))
}
