package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/stage/keeper"
	"github.com/leakbench/leakbench/internal/stage/runner"
	"github.com/leakbench/leakbench/internal/subject/checks"
)

const (
	// answerWithin is how long a server that is up may take to answer.
	answerWithin = 10 * time.Second
	// pingEvery is how often a server is made to write to a stdout that nobody reads any more.
	pingEvery = 250 * time.Millisecond
	// inCall is how long a call is given to get under way before stdin is closed.
	inCall = 300 * time.Millisecond
	// quietFor is how long nothing is asked before the server is ended.
	quietFor = 300 * time.Millisecond
	// lastWords is how long the exit of a server may take to be told.
	lastWords = time.Second
)

// Names of the checkpoints: what has been done to the server by then.
const (
	afterEOF    = "after stdin EOF"
	afterTerm   = "after SIGTERM"
	afterDirect = "after SIGTERM to the server itself"
	afterHangUp = "after stdout broke"
)

// notUp is the error of a server that could not be tested.
type notUp struct{ why string }

func (n *notUp) Error() string { return "the server did not come up: " + n.why }
func (n *notUp) Unwrap() error { return runner.ErrHost }

// errOver ends a check whose server did not get that far: what it has shown is in the file.
var errOver = errors.New("the check is over")

// play is the check, from the start of the server to its end.
func (x *exam) play(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-x.keeper.Done():
			cancel(keeper.ErrGone)
		case <-ctx.Done():
		}
	}()
	argv := x.Argv
	if x.Check.Name == checks.Shell {
		// The second command keeps the shell from becoming the server (exec), as real launchers stay.
		argv = append([]string{"sh", "-c", `"$@"; exit $?`, "sh"}, argv...)
	}
	if err := x.start(ctx, argv); err != nil {
		return err
	}
	stop := x.sample(ctx)
	defer stop()
	err := x.perform(ctx)
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

func (x *exam) perform(ctx context.Context) error {
	if x.Check.Name == checks.EOFStart {
		x.closeStdin()
		_, err := x.checkpoint(ctx, afterEOF)
		return err
	}
	if err := x.greet(ctx); err != nil {
		return err
	}
	switch x.Check.Name {
	case checks.EOFCall:
		return x.playCall(ctx)
	case checks.SIGTERM:
		return x.playTerm(ctx)
	case checks.EPIPE:
		return x.playHangUp(ctx)
	case checks.Shell:
		return x.playShell(ctx)
	case checks.Idle:
		if err := x.playIdle(ctx); err != nil {
			return err
		}
	}
	x.closeStdin()
	_, err := x.checkpoint(ctx, afterEOF)
	return err
}

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
	x.emit(record.Event{Kind: record.StepBegun, Step: &s})
	begun := time.Now()
	return func(detail string, err error) {
		s.Took, s.OK = record.Duration(time.Since(begun)), err == nil
		if detail != "" {
			s.Detail = detail
		}
		if err != nil {
			s.Error = redact.Text(err.Error())
		}
		x.emit(record.Event{Kind: record.StepEnded, Step: &s})
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

// greet gets the server to work: the handshake, its tools, and the call that was asked for.
func (x *exam) greet(ctx context.Context) error {
	result, err := x.ask(ctx, record.OpInitialize, x.Start, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": struct{}{}, "clientInfo": x.clientInfo(),
	})
	var refused *refusal
	if errors.As(err, &refused) {
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
	hello := record.Hello{Host: redact.Text(said.ServerInfo.Name), Version: redact.Text(said.ServerInfo.Version)}
	x.emit(record.Event{Kind: record.HostReady, Hello: &hello})
	if !x.modern {
		_ = x.wire.say(message{Method: "notifications/initialized"}) // what does not read it does not answer either
	}
	if _, err := x.ask(ctx, record.OpList, answerWithin, "tools/list", nil); err != nil && !isRefusal(err) {
		return x.failed(ctx)
	}
	if x.Call != nil && x.Check.Name != checks.EOFCall {
		result, err := x.ask(ctx, record.OpCall, x.Start, "tools/call", x.call())
		if err != nil && !isRefusal(err) {
			return x.failed(ctx)
		}
		x.noteCall(result, err)
	}
	// What ends by itself now was not ended by what the bench does next.
	select {
	case <-x.gone:
		return errOver
	case <-time.After(quietFor):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c, err := x.census(ctx); err == nil {
		x.emitCensus(record.CensusStarted, "", c)
	}
	return nil
}

func isRefusal(err error) bool { return errors.As(err, new(*refusal)) }

// goneAtStart ends a check whose server has not answered its handshake: one that has exited could not be tested, and why it did is in
// its stderr. One that is there and does not answer is for the judge.
func (x *exam) goneAtStart(ctx context.Context) error {
	select {
	case <-x.gone:
	case <-time.After(lastWords):
	case <-ctx.Done():
		return context.Cause(ctx)
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
	return &notUp{fmt.Sprintf("%s before it answered initialize%s", how, words)}
}

// failed ends a check whose server stopped answering: the judge says what that means.
func (x *exam) failed(ctx context.Context) error {
	select {
	case <-x.gone:
	case <-time.After(lastWords):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return errOver
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
		x.doubt(record.DoubtStepFailed, "the call of %s failed, so that what the tool starts may not have been there: %s", x.Call.Tool, quote([]byte(why)))
	}
}

func (x *exam) closeStdin() {
	_ = x.step(record.Step{Op: record.OpEOF}, func() (string, error) { return "", x.wire.in.Close() })
}

func (x *exam) term(ctx context.Context, detail string, to ...record.Identity) error {
	return x.step(record.Step{Op: record.OpTerm, Detail: detail}, func() (string, error) {
		var failed error
		for _, id := range to {
			failed = errors.Join(failed, x.keeper.Signal(ctx, id, "SIGTERM"))
		}
		return "", failed
	})
}

// playCall closes stdin while a request is under way: a call, or the list of tools, which is sent in the same moment.
func (x *exam) playCall(ctx context.Context) error {
	op, method, params, moment := record.OpList, "tools/list", map[string]any(nil), time.Duration(0)
	if x.Call != nil {
		op, method, params, moment = record.OpCall, "tools/call", x.call(), inCall
	}
	end := x.begin(record.Step{Op: op, Expect: record.ExpectAny})
	wait, err := x.wire.begin(method, x.params(params))
	if err != nil {
		end(detailOf(err), err)
		return x.failed(ctx)
	}
	brief, cancel := context.WithTimeoutCause(ctx, moment, errSilent)
	_, early := wait(brief)
	cancel()
	if moment > 0 && !errors.Is(early, errSilent) {
		end("", nil)
		x.doubt(record.DoubtNoCancel, "the call of %s was over before stdin was closed: name a tool that takes longer", x.Call.Tool)
		return errOver
	}
	x.closeStdin()
	patient, cancel := context.WithTimeoutCause(ctx, x.Grace, errSilent)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, err := wait(patient)
		end(detailOf(err), err)
	}()
	_, err = x.checkpoint(ctx, afterEOF)
	cancel()
	<-over
	return err
}

// playTerm sends SIGTERM to the process that was started, as most clients do. Where that does not end it all, what stands behind a
// launcher gets the signal itself, and then stdin EOF: how far a host has to go is seen.
func (x *exam) playTerm(ctx context.Context) error {
	c, err := x.census(ctx)
	if err != nil {
		return err
	}
	servers := behind(x.evidence(ctx, c), x.host)
	if err := x.term(ctx, "", x.host); err != nil {
		return err
	}
	gone, err := x.checkpoint(ctx, afterTerm)
	if gone || err != nil {
		return err
	}
	x.tryPing(ctx)
	if len(servers) > 0 {
		_ = x.term(ctx, record.DetailServer, servers...) // one that is gone needs no signal
		if gone, err = x.checkpoint(ctx, afterDirect); gone || err != nil {
			return err
		}
	}
	x.closeStdin()
	_, err = x.checkpoint(ctx, afterEOF)
	return err
}

// tryPing says whether the server is still there, and serves.
func (x *exam) tryPing(ctx context.Context) {
	_ = x.step(record.Step{Op: record.OpPing, Expect: record.ExpectAny, Limit: record.Duration(answerWithin / 5)}, func() (string, error) {
		_, err := x.wire.ask(ctx, answerWithin/5, x.ping(), x.params(nil))
		return detailOf(err), err
	})
}

// ping is a request that each server answers.
func (x *exam) ping() string {
	if x.modern {
		return "tools/list"
	}
	return "ping"
}

// playHangUp breaks stdout, and has the server write to it.
func (x *exam) playHangUp(ctx context.Context) error {
	_ = x.step(record.Step{Op: record.OpHangUp}, func() (string, error) { x.wire.hangUp(); return "", nil })
	brief, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for rest(brief, pingEvery) == nil {
			if _, err := x.wire.begin(x.ping(), x.params(nil)); err != nil {
				return
			}
		}
	}()
	gone, err := x.checkpoint(ctx, afterHangUp)
	cancel()
	<-over
	if gone || err != nil {
		return err
	}
	x.closeStdin()
	_, err = x.checkpoint(ctx, afterEOF)
	return err
}

// playShell ends the shell in front of the server, which does not pass the signal on, and then closes stdin.
func (x *exam) playShell(ctx context.Context) error {
	if err := x.term(ctx, record.DetailShell, x.host); err != nil {
		return err
	}
	select {
	case <-x.gone:
	case <-time.After(x.Grace):
		x.doubt(record.DoubtNoCancel, "the shell in front of the server did not exit on SIGTERM")
		return errOver
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	x.tryPing(ctx)
	x.closeStdin()
	_, err := x.checkpoint(ctx, afterEOF)
	return err
}

// playIdle asks nothing for a while, and then whether the server still answers.
func (x *exam) playIdle(ctx context.Context) error {
	err := x.step(record.Step{Op: record.OpIdle, Limit: record.Duration(x.Idle)}, func() (string, error) {
		select {
		case <-x.gone:
			return "", errors.New("it exited")
		case <-time.After(x.Idle):
			return "", nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	})
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return errOver
	}
	if _, err := x.ask(ctx, record.OpPing, answerWithin, x.ping(), nil); err != nil && !isRefusal(err) {
		return x.failed(ctx)
	}
	return nil
}
