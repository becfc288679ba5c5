package subject_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/subject"
)

const greeting = `{"hello":{"protocol":1,"host":"odd","ops":["open","stop","dance"],"not_applicable":{"tick":"no jobs","dance":"?"}}}`

// odd is a driver that does what the test says, over real pipes.
type odd struct {
	*subject.Driver
	t   *testing.T
	in  *lines.Reader // what the bench writes
	out *os.File
}

func newOdd(t *testing.T, said ...string) *odd {
	t.Helper()
	theirIn, ourIn, err := os.Pipe()
	require.NoError(t, err)
	ourOut, theirOut, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, theirIn.SetReadDeadline(time.Now().Add(patience)))
	o := &odd{Driver: subject.Connect(ourOut, ourIn), t: t, in: lines.New(theirIn, driver.MaxLine), out: theirOut}
	t.Cleanup(func() {
		o.Close()
		theirIn.Close()
		theirOut.Close()
		<-o.Done()
	})
	o.say(said...)
	return o
}

func (o *odd) say(lines ...string) {
	o.t.Helper()
	for _, line := range lines {
		_, err := io.WriteString(o.out, line+"\n")
		require.NoError(o.t, err)
	}
}

// hear reads the next request.
func (o *odd) hear() driver.Request {
	o.t.Helper()
	line, err := o.in.Next()
	require.NoError(o.t, err)
	var r driver.Request
	require.NoError(o.t, json.Unmarshal(line, &r))
	return r
}

func (o *odd) greet() *odd {
	o.t.Helper()
	o.say(greeting)
	_, err := o.Hello(o.ctx())
	require.NoError(o.t, err)
	return o
}

func (o *odd) ctx() context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	o.t.Cleanup(cancel)
	return ctx
}

// ask sends a request that the driver gets to see.
func (o *odd) ask() *subject.Pending {
	o.t.Helper()
	p, err := o.Begin(driver.Request{Op: driver.OpOpen, Session: "s"})
	require.NoError(o.t, err)
	require.Equal(o.t, p.ID, o.hear().ID)
	return p
}

func TestHello(t *testing.T) {
	t.Parallel()
	o := newOdd(t, greeting)
	hello, err := o.Hello(o.ctx())
	require.NoError(t, err)
	assert.Equal(t, "odd", hello.Host)
	assert.Equal(t, []string{"open", "stop"}, hello.Ops, "ops that this version knows")
	assert.Equal(t, map[string]string{"tick": "no jobs"}, hello.NotApplicable)

	for _, c := range []struct{ line, want string }{
		{`{"hello":{"protocol":2,"host":"new"}}`, "speaks version 2"},
		{`{"hello":{}}`, "speaks version 0"},
		{`{"hello":"hi"}`, "not an answer"},
		{`{"id":1,"ok":true}`, "never made"},
		{`{"error":"no config"}`, `reported: "no config"`},
		{`null`, "never made"},
	} {
		o := newOdd(t, c.line)
		_, err := o.Hello(o.ctx())
		require.ErrorContains(t, err, c.want)
		assert.NotContains(t, err.Error(), "\x1b", "nothing of it reaches a terminal raw")
	}
}

// TestWordsBeforeTheHello: what a library prints when it is imported is passed over, and told where no hello follows.
func TestWordsBeforeTheHello(t *testing.T) {
	t.Parallel()
	o := newOdd(t, "\xff\x1b[2JStarting up...", "INFO telemetry is on", greeting)
	hello, err := o.Hello(o.ctx())
	require.NoError(t, err)
	assert.Equal(t, "odd", hello.Host)
	p := o.ask()
	o.say("INFO telemetry is on")
	_, err = p.Wait(o.ctx())
	require.ErrorContains(t, err, "not an answer", "after the hello it may be half of one")

	o = newOdd(t, "\xff\x1b[2JStarting up...", "Listening on 8000")
	ctx, cancel := context.WithTimeoutCause(o.ctx(), 3*time.Second, errors.New("took too long"))
	defer cancel()
	_, err = o.Hello(ctx)
	require.EqualError(t, err, `no hello from the driver: took too long; its stdout began with "\xff\x1b[2JStarting up..."`)
}

// TestUnknownServers: what a later version may say of servers changes no verdict of this one.
func TestUnknownServers(t *testing.T) {
	t.Parallel()
	for said, read := range map[string]string{"per-request": driver.PerRequest, "per-day": ""} {
		o := newOdd(t, `{"hello":{"protocol":1,"host":"odd","profile":{"settle":"1s","servers":"`+said+`"}}}`)
		hello, err := o.Hello(o.ctx())
		require.NoError(t, err)
		assert.Equal(t, &driver.Profile{Settle: driver.Duration(time.Second), Servers: read}, hello.Profile)
	}
}

func TestHelloThatIsTooLong(t *testing.T) {
	t.Parallel()
	o := newOdd(t, `{"hello":{"protocol":1,"host":"`+strings.Repeat("é", 500)+`"}}`)
	hello, err := o.Hello(o.ctx())
	require.NoError(t, err)
	assert.Less(t, len(hello.Host), 210)
	assert.True(t, strings.HasSuffix(hello.Host, "é..."))

	o = newOdd(t)
	go func() { _, _ = io.WriteString(o.out, strings.Repeat("y", driver.MaxLine+2)+"\n") }()
	_, err = o.Hello(o.ctx())
	require.ErrorIs(t, err, driver.ErrLineTooLong)
}

func TestNoHello(t *testing.T) {
	t.Parallel()
	o := newOdd(t)
	ctx, cancel := context.WithTimeoutCause(o.ctx(), time.Millisecond, errors.New("took too long"))
	defer cancel()
	_, err := o.Hello(ctx)
	require.EqualError(t, err, "no hello from the driver: took too long")

	o = newOdd(t)
	o.out.Close()
	_, err = o.Hello(o.ctx())
	require.EqualError(t, err, "no hello from the driver: the driver has ended: its stdout is closed")
}

func TestAnswersFindTheirRequests(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	a, b := o.ask(), o.ask()
	require.NotEqual(t, a.ID, b.ID)
	o.say(fmt.Sprintf(`{"id":%d,"ok":true,"result":"two"}`, b.ID), "", fmt.Sprintf(`{"id":%d,"error":"one"}`, a.ID))
	respA, err := a.Wait(o.ctx())
	require.NoError(t, err, "a refusal is an answer")
	assert.Equal(t, "one", respA.Error)
	respB, err := b.Wait(o.ctx())
	require.NoError(t, err)
	assert.JSONEq(t, `"two"`, string(respB.Result))
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			resp, err := o.Do(o.ctx(), driver.Request{Op: driver.OpCall, Tool: fmt.Sprint(i)})
			if assert.NoError(t, err) {
				assert.Equal(t, fmt.Sprint(i), string(resp.Result))
			}
		})
	}
	for range 200 {
		r := o.hear()
		o.say(fmt.Sprintf(`{"id":%d,"ok":true,"result":%s}`, r.ID, r.Tool))
	}
	wg.Wait()
}

// TestNonsense fails what is open, with the line in the error, and the
// conversation goes on.
func TestNonsense(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ line, want string }{
		"a log line":       {"2026/01/02 connected", `wrote a line that is not an answer (its stdout is for the protocol alone, logs go to stderr): "2026/01/02 connected"`},
		"an unknown id":    {`{"id":99,"ok":true}`, `never made: "{\"id\":99`},
		"a negative id":    {`{"id":-1,"ok":true}`, "never made"},
		"a second hello":   {greeting, "said hello twice"},
		"a complaint":      {`{"error":"what?\u001b[1m"}`, `reported: "what?\x1b[1m"`},
		"a wrong type":     {`{"id":"1"}`, "not an answer"},
		"a long line":      {strings.Repeat("z", 70_000), "(70000 bytes)"},
		"deep nesting":     {strings.Repeat("[", 20_000), "not an answer"},
		"an escape":        {"\x1b]0;title\x07", `\x1b]0;title\a`},
		"an array":         {`[{"id":1,"ok":true}]`, "not an answer"},
		"half an answer":   {`{"id":1,"ok":tr`, "not an answer"},
		"two on one line":  {`{"id":1,"ok":true}{"id":1,"ok":true}`, "not an answer"},
		"an answer to nil": {`{}`, "never made"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOdd(t).greet()
			p := o.ask()
			go o.say(c.line)
			_, err := p.Wait(o.ctx())
			require.ErrorContains(t, err, "open: ")
			require.ErrorContains(t, err, c.want)
			assert.Less(t, len(err.Error()), 1000)
			assert.NotContains(t, err.Error(), "\x1b")
			o.say(fmt.Sprintf(`{"id":%d,"ok":true}`, p.ID)) // late, and no mistake
			next := o.ask()
			o.say(fmt.Sprintf(`{"id":%d,"ok":true}`, next.ID))
			resp, err := next.Wait(o.ctx())
			require.NoError(t, err)
			assert.True(t, resp.OK)
		})
	}
}

// TestNonsenseInBetween: with nothing open, the next request tells.
func TestNonsenseInBetween(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	p := o.ask()
	answer := fmt.Sprintf(`{"id":%d,"ok":true}`, p.ID)
	o.say(answer, answer)
	_, err := p.Wait(o.ctx())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		p, err = o.Begin(driver.Request{Op: driver.OpStop})
		return err != nil
	}, patience, time.Millisecond)
	require.ErrorContains(t, err, fmt.Sprintf("answered request %d twice", 1))
	_, err = o.Begin(driver.Request{Op: driver.OpStop})
	require.NoError(t, err, "said once")
}

func TestLineThatIsTooLong(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	p := o.ask()
	go func() { // nobody reads it to its end
		_, _ = fmt.Fprintf(o.out, "%s\n{\"id\":%d,\"ok\":true}\n", strings.Repeat("z", driver.MaxLine+10), p.ID+1)
	}()
	_, err := p.Wait(o.ctx())
	require.ErrorIs(t, err, driver.ErrLineTooLong)
}

// TestRefusals are made to say something, and not at length.
func TestRefusals(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	p := o.ask()
	o.say(fmt.Sprintf(`{"id":%d}`, p.ID))
	resp, err := p.Wait(o.ctx())
	require.NoError(t, err)
	assert.Equal(t, "the driver says that it failed, and not why", resp.Error)
	p = o.ask()
	long := strings.Repeat("e", 10_000)
	o.say(fmt.Sprintf(`{"id":%d,"error":%q,"jobs":[{"session":"j","error":%q}]}`, p.ID, long, long))
	resp, err = p.Wait(o.ctx())
	require.NoError(t, err)
	assert.Less(t, len(resp.Error), 4100)
	assert.Less(t, len(resp.Jobs[0].Error), 4100)
}

// TestEnd: the driver's end fails what is open and what comes later, with its
// last words.
func TestEnd(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	p := o.ask()
	_, err := io.WriteString(o.out, "panic: oh no")
	require.NoError(t, err)
	o.out.Close()
	<-o.Done()
	_, err = p.Wait(o.ctx())
	require.ErrorContains(t, err, "panic: oh no")
	_, err = o.Do(o.ctx(), driver.Request{Op: driver.OpStop})
	require.EqualError(t, err, `stop: the driver has ended: its stdout is closed; its last line was "panic: oh no"`)
}

func TestClose(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	p := o.ask()
	o.Close()
	o.Close()
	_, err := p.Wait(o.ctx())
	require.ErrorContains(t, err, "closed")
	_, err = o.Begin(driver.Request{Op: driver.OpStop})
	require.ErrorContains(t, err, "closed")
	_, err = o.in.Next()
	require.ErrorIs(t, err, io.EOF, "the driver sees the end of its stdin")
	<-o.Done()
}

// TestWaitHasALimit: a request stays sent when nobody waits for it any more.
func TestWaitHasALimit(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	p := o.ask()
	ctx, cancel := context.WithCancelCause(o.ctx())
	cancel(errors.New("lost patience"))
	_, err := p.Wait(ctx)
	require.EqualError(t, err, "open: lost patience")
	o.say(fmt.Sprintf(`{"id":%d,"ok":true}`, p.ID))
	resp, err := p.Wait(o.ctx())
	require.NoError(t, err)
	assert.True(t, resp.OK)
}

// TestDriverThatDoesNotRead blocks nobody.
func TestDriverThatDoesNotRead(t *testing.T) {
	t.Parallel()
	o := newOdd(t).greet()
	big := driver.Request{Op: driver.OpCall, Args: map[string]any{"text": strings.Repeat("x", 1<<16)}}
	var err error
	for range 2000 {
		if _, err = o.Begin(big); err != nil {
			break
		}
	}
	require.ErrorContains(t, err, "does not read its stdin")
	big.Args["text"] = strings.Repeat("x", driver.MaxLine)
	_, err = o.Begin(big)
	require.ErrorContains(t, err, "more than the")
}
