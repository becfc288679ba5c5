package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// How long a control is watched. Controls run beside the play, so that only a very short run waits for one.
const (
	// controlAnswer is for the handshake of a server that has a machine of two hogged processors to itself, nearly.
	controlAnswer = 10 * time.Second
	// controlPlain is for the exit of a server that has announced no fault: one
	// that is still there then is broken, and the run says nothing.
	controlPlain = 10 * time.Second
	// controlFaulty is for one that has: it may exit late.
	controlFaulty = 2 * time.Second
	// controlDeaf is for one that has said that it ignores the end of stdin.
	controlDeaf = 300 * time.Millisecond
)

// ControlParams are what is tried.
type ControlParams struct {
	Self    string // the program that is also the fake server and the keeper
	Log     string // file for what the keeper itself says when something is wrong
	Run     string // the run whose servers they are
	Servers []scenarios.Server
	Done    func(record.Control) // takes the result of each server, from goroutines of their own
}

// controls are the servers of a run without the host: their own keeper, which
// sweeps what they leave, and their own ledger, which numbers them apart.
type controls struct {
	keeper *keeper.Keeper
	ledger *ledger.Ledger
	run    string

	mu      sync.Mutex
	changed chan struct{}
	seen    map[string]*controlled // by server id
}

type controlled struct {
	record.Control
	died bool
}

// TryControl launches each server once without the host, asks it, and takes its stdin away. What the server does then is not the host's
// doing.
func TryControl(ctx context.Context, p ControlParams) (err error) {
	dir, err := ledger.NewDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ledger.RemoveDir(dir)) }()
	c := &controls{run: p.Run + "-control", changed: make(chan struct{}), seen: map[string]*controlled{}}
	c.keeper, err = keeper.Start(ctx, keeper.Params{Self: p.Self, Dir: dir, Log: p.Log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.keeper.Close()) }()
	scripts, err := controlScripts(p.Servers)
	if err != nil {
		return err
	}
	c.ledger, err = ledger.Listen(ledger.Params{
		Dir: dir, Run: c.run, Scripts: scripts, OnEvent: c.note, Identify: proc.Identify, WaitGone: proc.WaitGone,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.ledger.Close()) }()
	var wg sync.WaitGroup
	errs := make([]error, len(p.Servers))
	for i, s := range p.Servers {
		wg.Go(func() {
			defer bug.Ends()
			var result record.Control
			if result, errs[i] = c.one(ctx, p.Self, s.Label, controlScript(s.Script)); errs[i] == nil {
				p.Done(result)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// controlScript is a script less what it has for some launches, or for some times of a moment, alone.
func controlScript(s fakeserver.Script) fakeserver.Script {
	s.Faults = slices.DeleteFunc(slices.Clone(s.Faults), fakeserver.Fault.Selective)
	return s
}

func controlScripts(servers []scenarios.Server) (map[string]json.RawMessage, error) {
	scripts := map[string]json.RawMessage{}
	for _, s := range servers {
		text, err := json.Marshal(controlScript(s.Script))
		if err != nil {
			return nil, err
		}
		scripts[s.Label] = text
	}
	return scripts, nil
}

// note takes in what the servers say of themselves.
func (c *controls) note(e record.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.seen[e.Server]
	if s == nil {
		s = &controlled{}
		c.seen[e.Server] = s
	}
	switch e.Kind {
	case record.RPC:
		s.Answered = s.Answered || e.RPC.Phase == record.PhaseAnswered
	case record.Faulted:
		s.Faults = append(s.Faults, *e.Fault)
	case record.SawEOF:
		s.SawEOF = true
	case record.Died:
		s.died = true
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// wait blocks until ok holds for the server, but not longer than limit says,
// which may change its mind as the server speaks. It reports whether ok holds.
func (c *controls) wait(ctx context.Context, server string, limit func(controlled) time.Duration, ok func(controlled) bool) bool {
	begun := time.Now()
	for {
		c.mu.Lock()
		var now controlled
		if s := c.seen[server]; s != nil {
			now = *s
		}
		changed := c.changed
		c.mu.Unlock()
		left := limit(now) - time.Since(begun)
		if ok(now) || left <= 0 {
			return ok(now)
		}
		timer := time.NewTimer(left)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
		timer.Stop()
	}
}

const handshake = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"leakbench-control","version":"1"}}}` + "\n"

const discovery = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{` +
	`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}` + "\n"

// one launches a server, asks it, and takes its stdin away.
func (c *controls) one(ctx context.Context, self, label string, script fakeserver.Script) (record.Control, error) {
	started, err := c.keeper.StartHost(ctx, keeper.HostParams{Argv: script.Argv(self, c.ledger.Path(), c.run, label, "")})
	if err != nil {
		return record.Control{}, fmt.Errorf("%s: %w", label, err)
	}
	drained := make(chan struct{})
	go func() {
		defer bug.Ends()
		defer close(drained)
		_, _ = io.Copy(io.Discard, started.Stdout)
	}()
	defer func() { started.Stdout.Close(); <-drained }()
	server := label + "#1"
	ask := handshake
	if script.Era == fakeserver.EraModern {
		ask = discovery
	}
	_, _ = io.WriteString(started.Stdin, ask) // one that does not read, or is dead, is seen to be
	c.wait(ctx, server, forAnswer, func(s controlled) bool { return s.Answered || s.died })
	closed := time.Now()
	started.Stdin.Close()
	exited := c.wait(ctx, server, controlTimeout, func(s controlled) bool { return s.died })
	after := time.Since(closed)
	if err := ctx.Err(); err != nil {
		return record.Control{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	result := record.Control{Label: label, After: record.Duration(after)}
	if s := c.seen[server]; s != nil {
		result.Answered, result.SawEOF, result.Faults = s.Answered, s.SawEOF, slices.Clone(s.Faults)
	}
	result.Exited = exited && result.SawEOF
	return result, nil
}

// forAnswer is how long a server may take for its handshake.
func forAnswer(s controlled) time.Duration {
	if len(s.Faults) > 0 {
		return controlFaulty
	}
	return controlAnswer
}

// controlTimeout is how long a server may take to exit after the end of its stdin.
func controlTimeout(s controlled) time.Duration {
	deaf := slices.ContainsFunc(s.Faults, func(f record.Fault) bool { return f.On == record.OnEOF && f.Passive })
	switch {
	case deaf:
		return controlDeaf
	case len(s.Faults) > 0:
		return controlFaulty
	}
	return controlPlain
}
