package server

import (
	"context"
	"slices"
	"sync"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
)

// door keeps the checks that need an answer to initialize, until the first of them has one. One that waits in vain has waited for all.
type door struct {
	first string // the check that goes through at once
	once  sync.Once
	open  chan struct{}

	silent bool // the server has answered nothing; it is set before the door opens
}

func newDoor(checks []server.Check) *door {
	d := &door{open: make(chan struct{})}
	if i := slices.IndexFunc(checks, server.Check.Greets); i >= 0 {
		d.first = checks[i].Name
	}
	return d
}

// enter waits until a check may be played. The error says why it is not.
func (d *door) enter(ctx context.Context, c server.Check) error {
	if !c.Greets() || c.Name == d.first {
		return nil
	}
	select {
	case <-d.open:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if d.silent {
		return &fit.NotApplicable{Why: "the server had not answered initialize in the check " + d.first}
	}
	return nil
}

// see opens the door for a server that answers.
func (d *door) see(e record.Event) {
	if e.Kind == record.HostReady {
		d.once.Do(func() { close(d.open) })
	}
}

// leave opens it, whatever has come of the first check.
func (d *door) leave(c server.Check, j *verdict.Judged) {
	if c.Name != d.first {
		return
	}
	d.once.Do(func() {
		d.silent = j != nil && slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool { return f.Kind == "silent" })
		close(d.open)
	})
}
