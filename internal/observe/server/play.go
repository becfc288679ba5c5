package server

import (
	"context"
	"errors"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
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
	// lastWords is how long the keeper may take to report the exit of a server.
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
func notUp(why string) error { return &observe.Untestable{Why: "the server did not come up: " + why} }

// errOver ends a check whose server did not get that far: what it has shown is in the file.
var errOver = errors.New("the check is over")

// play is the check, from the start of the server to its end.
func (x *exam) play(ctx context.Context) error {
	ctx, cancel := x.WhileKept(ctx)
	defer cancel()
	argv := x.Argv
	if x.Check.Name == Shell {
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
	if x.Check.Name == eofStart {
		// One that comes up late reads the end of its stdin late.
		within := x.Start + x.Grace
		x.closeStdinFor(within)
		_, err := x.checkpointWithin(ctx, afterEOF, within)
		return err
	}
	if err := x.greet(ctx); err != nil {
		return err
	}
	switch x.Check.Name {
	case eofCall:
		return x.playCall(ctx)
	case SIGTERM:
		return x.playTerm(ctx)
	case epipe:
		return x.playHangUp(ctx)
	case Shell:
		return x.playShell(ctx)
	case Idle:
		if err := x.playIdle(ctx); err != nil {
			return err
		}
	}
	x.closeStdin()
	_, err := x.checkpoint(ctx, afterEOF)
	return err
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
		x.Doubt(record.DoubtNoCancel, "the call of %s was over before stdin was closed: name a tool that takes longer", x.Call.Tool)
		return errOver
	}
	x.closeStdin()
	patient, cancel := context.WithTimeoutCause(ctx, x.Grace, errSilent)
	defer cancel()
	over := make(chan struct{})
	go func() {
		defer bug.Ends()
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
	c, err := x.Loaded(ctx)
	if err != nil {
		return err
	}
	found, err := x.Evidence(ctx, alive(c))
	if err != nil {
		return err
	}
	servers := behind(found, x.host)
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
		defer bug.Ends()
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
	if err := patience.UntilChange(ctx, x.gone, x.Grace); err != nil {
		return err
	}
	if !x.exited() {
		x.Doubt(record.DoubtNoCancel, "the shell in front of the server did not exit on SIGTERM")
		return errOver
	}
	x.tryPing(ctx)
	x.closeStdin()
	_, err := x.checkpoint(ctx, afterEOF)
	return err
}

// playIdle asks nothing for a while, and then whether the server still answers.
func (x *exam) playIdle(ctx context.Context) error {
	err := x.step(record.Step{Op: record.OpIdle, Limit: record.Duration(x.Idle)}, func() (string, error) {
		err := patience.UntilChange(ctx, x.gone, x.Idle)
		if err == nil && x.exited() {
			err = errors.New("it exited")
		}
		return "", err
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
	x.awaitReaping(ctx)
	return nil
}
