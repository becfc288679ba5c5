package host

import (
	"context"
	"encoding/json"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/scenarios"
)

// Live is a run without a scenario: the caller launches servers as it likes, and says what must be alive when. It does one thing at
// a time.
type Live struct{ r *run }

// Begin begins one. The scenario of p has limits, and needs no servers or steps; the caller is not driven.
func Begin(ctx context.Context, p Params) (*Live, error) {
	r, err := newRun(p)
	if err != nil {
		return nil, err
	}
	if err = r.setUp(ctx); err == nil {
		err = r.attach(ctx)
	}
	if err == nil {
		err = r.lookAtStart(ctx)
	}
	if err != nil {
		return nil, r.TearDown(ctx, err, r.hangUp)
	}
	return &Live{r: r}, nil
}

// Server adds a server and returns its command line. Every launch of it is one of label.
func (l *Live) Server(label string, script fakeserver.Script) ([]string, error) {
	text, err := json.Marshal(script)
	if err != nil {
		return nil, err
	}
	l.r.Scenario.Servers = append(l.r.Scenario.Servers, scenarios.Server{Label: label, Script: script})
	l.r.labels = append(l.r.labels, label)
	l.r.ledger.Add(label, text)
	return script.Argv(l.r.Self, l.r.ledger.Path(), l.r.ID, label, ""), nil
}

// Alive is how many servers the ledger holds for alive.
func (l *Live) Alive() int { return len(l.r.alive()) }

// Launched is how many servers were launched.
func (l *Live) Launched() int { return under(l.r, func() int { return len(l.r.lives.Servers()) }) }

// Checkpoint waits until as many servers of each label are alive as live says, the newest ones, and reports whether
// that came true within the settle time.
func (l *Live) Checkpoint(ctx context.Context, name string, live map[string]int) (quiet bool, err error) {
	err = l.r.checkpoint(ctx, name, live)
	l.r.mu.Lock()
	defer l.r.mu.Unlock()
	checkpoints := l.r.lives.Checkpoints()
	if err != nil || len(checkpoints) == 0 {
		return false, err
	}
	return checkpoints[len(checkpoints)-1].Quiet, nil
}

// End tries the servers without the caller, ends what is left, and closes the file.
func (l *Live) End(ctx context.Context) error {
	var err error
	if l.Launched() > 0 {
		err = l.r.startControls(ctx)(true)
	}
	return l.r.TearDown(ctx, err, l.r.hangUp)
}
