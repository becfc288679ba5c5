package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// step frames what the bench does.
func (x *exam) step(s record.Step, do func() (detail string, err error)) error {
	end := x.begin(s)
	detail, err := do()
	end(detail, err)
	return err
}

// begin begins a step, which what it returns ends.
func (x *exam) begin(s record.Step) (end func(detail string, err error)) {
	x.steps++
	s.N = x.steps
	x.mu.Lock()
	x.asked = x.asked || s.Op.EndsHost()
	x.mu.Unlock()
	x.Emit(record.Event{Kind: record.StepBegun, Step: &s})
	begun := time.Now()
	return func(detail string, err error) {
		s.Took, s.OK = record.Duration(time.Since(begun)), err == nil
		if detail != "" {
			s.Detail = detail
		}
		if err != nil {
			s.Error = redact.Text(err.Error())
		}
		x.Emit(record.Event{Kind: record.StepEnded, Step: &s})
	}
}

// ask sends a request and writes down how that went. A server that is gone or silent ends the check.
func (x *exam) ask(ctx context.Context, op record.Op, within time.Duration, method string, params map[string]any) (json.RawMessage, error) {
	var result json.RawMessage
	err := x.step(record.Step{Op: op, Limit: record.Duration(within)}, func() (string, error) {
		var err error
		result, err = x.wire.ask(ctx, within, method, x.params(params))
		return detailOf(err), err
	})
	return result, err
}

func detailOf(err error) string {
	var refused *refusal
	switch {
	case err == nil:
		return ""
	case errors.As(err, &refused):
		return record.DetailRefused
	case errors.Is(err, errHungUp):
		return record.DetailClosed
	}
	return record.DetailSilent
}

// params adds what the era without initialize wants in each request.
func (x *exam) params(p map[string]any) map[string]any {
	if p == nil {
		p = map[string]any{}
	}
	if x.modern {
		p["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": struct{}{},
			"io.modelcontextprotocol/clientInfo": x.clientInfo(),
		}
	}
	return p
}

func (x *exam) clientInfo() map[string]any {
	return map[string]any{"name": "leakbench", "version": x.Tool.Version}
}

// handshake is the one of the server's era.
func (x *exam) handshake(ctx context.Context) error {
	result, err := x.ask(ctx, record.OpInitialize, x.Start, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": x.clientInfo(),
	})
	if isRefusal(err) {
		x.modern = true
		if again, failed := x.ask(ctx, record.OpInitialize, answerWithin, "server/discover", nil); failed == nil {
			result, err = again, nil
		}
	}
	if err != nil {
		return x.goneAtStart(ctx)
	}
	var said struct {
		ServerInfo struct{ Name, Version string } `json:"serverInfo"`
	}
	_ = json.Unmarshal(result, &said) // what it says of itself is not needed
	hello := record.Hello{Host: nameOf(said.ServerInfo.Name), Version: nameOf(said.ServerInfo.Version)}
	x.Emit(record.Event{Kind: record.HostReady, Hello: &hello})
	if !x.modern {
		_ = x.wire.say(message{Method: "notifications/initialized"}) // what does not read it does not answer either
	}
	return nil
}

// greet gets the server to work: the handshake, its tools, and the call that was asked for.
func (x *exam) greet(ctx context.Context) error {
	if err := x.handshake(ctx); err != nil {
		return err
	}
	if _, err := x.ask(ctx, record.OpList, answerWithin, "tools/list", nil); err != nil && !isRefusal(err) {
		return x.failed(ctx)
	}
	if x.Call != nil && x.Check.Name != eofCall {
		result, err := x.ask(ctx, record.OpCall, x.Start, "tools/call", x.call())
		if err != nil && !isRefusal(err) {
			return x.failed(ctx)
		}
		x.noteCall(result, err)
	}
	// What ends by itself now was not ended by what the bench does next.
	if err := patience.UntilChange(ctx, x.gone, quietFor); err != nil || x.exited() {
		return cmp.Or(err, errOver)
	}
	x.awaitReaping(ctx)
	if c, err := x.Loaded(ctx); err == nil {
		x.EmitCensus(record.CensusStarted, "", c)
	}
	return nil
}

// nameOf is a name that the server gives itself.
func nameOf(said string) string { return text.Clip(redact.Text(said), 100, "…") }

func isRefusal(err error) bool { return errors.As(err, new(*refusal)) }

// goneAtStart ends a check whose server has not answered its handshake: one that has exited could not be tested, and why it did is in
// its stderr. One that is there and does not answer is for the judge.
func (x *exam) goneAtStart(ctx context.Context) error {
	if err := patience.UntilChange(ctx, x.gone, lastWords); err != nil {
		return err
	}
	if !x.exited() {
		return errOver
	}
	x.mu.Lock()
	exit, words := *x.exit, x.words
	x.mu.Unlock()
	how := fmt.Sprintf("it exited with status %d", exit.Code)
	if exit.Signal != "" {
		how = "it was ended by " + exit.Signal
	}
	if words != "" {
		words = record.StderrFollows + words
	}
	return notUp(fmt.Sprintf("%s before it answered initialize%s", how, words))
}

// failed ends a check whose server stopped answering: the judge says what that means.
func (x *exam) failed(ctx context.Context) error {
	return cmp.Or(patience.UntilChange(ctx, x.gone, lastWords), errOver)
}

func (x *exam) call() map[string]any {
	args := x.Call.Args
	if args == nil {
		args = json.RawMessage("{}")
	}
	return map[string]any{"name": x.Call.Tool, "arguments": args}
}

// noteCall says that the tool of the user's choice did not do what it was called for.
func (x *exam) noteCall(result json.RawMessage, err error) {
	var said struct {
		IsError bool `json:"isError"`
		Content []struct{ Text string }
	}
	_ = json.Unmarshal(result, &said) // of no result, nothing
	why := ""
	switch {
	case err != nil:
		why = err.Error()
	case said.IsError && len(said.Content) > 0:
		why = said.Content[0].Text
	case said.IsError:
		why = "it said no more"
	}
	if why != "" {
		x.Doubt(record.DoubtStepFailed, "the call of %s failed, so that what the tool starts may not have been there: %s",
			x.Call.Tool, quote([]byte(why)))
	}
}

func (x *exam) closeStdin() { x.closeStdinFor(x.Grace) }

// closeStdinFor closes stdin, for a server that has some time to exit then.
func (x *exam) closeStdinFor(grace time.Duration) {
	_ = x.step(record.Step{Op: record.OpEOF, Grace: record.Duration(grace)}, func() (string, error) { return "", x.wire.in.Close() })
}

func (x *exam) term(ctx context.Context, detail string, to ...record.Identity) error {
	return x.step(record.Step{Op: record.OpTerm, Detail: detail}, func() (string, error) {
		var failed error
		for _, id := range to {
			failed = errors.Join(failed, x.Keeper.Signal(ctx, id, "SIGTERM"))
		}
		return "", failed
	})
}
