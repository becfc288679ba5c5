package driver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/lines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is how long anything here may take on a busy machine.
const limit = 20 * time.Second

// handler is a host without servers. What it is told of a request's end goes
// to ended.
type handler struct {
	ended   chan error
	started chan string
	gate    chan struct{} // Call of "gated" waits for it
}

func newHandler() *handler {
	return &handler{ended: make(chan error, 8), started: make(chan string, 8), gate: make(chan struct{})}
}

func (h *handler) Open(ctx context.Context, session string, s driver.Server) error {
	if s.Name == "missing" {
		return errors.New("no such file")
	}
	return h.block(ctx, session)
}

// block waits for the end of ctx and reports its cause.
func (h *handler) block(ctx context.Context, what string) error {
	h.started <- what
	<-ctx.Done()
	h.ended <- context.Cause(ctx)
	return context.Cause(ctx)
}

func (h *handler) Call(ctx context.Context, _, tool string, args map[string]any) (json.RawMessage, error) {
	switch tool {
	case "echo":
		return json.Marshal(args["text"])
	case "gated":
		select {
		case <-h.gate:
			return json.RawMessage(`"late"`), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "broken":
		return json.RawMessage(`{"half":`), nil
	}
	panic("no tool " + tool)
}

func (h *handler) Close(context.Context, string) error                  { return nil }
func (h *handler) Forget(context.Context, string) error                 { return nil }
func (h *handler) Reload(context.Context, []driver.SessionServer) error { return nil }
func (h *handler) Stop(context.Context) error                           { return nil }

func (h *handler) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	return driver.RunJobs(ctx, jobs, func(ctx context.Context, j driver.Job) error {
		switch j.Tool {
		case "block":
			return h.block(ctx, j.Session)
		case "panic":
			panic("in a job")
		}
		return nil
	}), nil
}

// bench is the other end of the pipes.
type bench struct {
	t      *testing.T
	in     *os.File
	out    *lines.Reader
	served chan error
	hello  driver.Hello
}

func serve(t *testing.T, h driver.Handler) *bench {
	t.Helper()
	b := serveAs(t, driver.Hello{Host: "test"}, h)
	assert.Contains(t, b.hello.Ops, "tick")
	return b
}

func serveAs(t *testing.T, hello driver.Hello, h driver.Handler) *bench {
	t.Helper()
	theirIn, ourIn, err := os.Pipe()
	require.NoError(t, err)
	ourOut, theirOut, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, ourOut.SetReadDeadline(time.Now().Add(limit)))
	b := &bench{t: t, in: ourIn, out: lines.New(ourOut, driver.MaxLine), served: make(chan error, 1)}
	go func() {
		b.served <- driver.Serve(context.Background(), theirIn, theirOut, hello, h)
		theirOut.Close()
	}()
	t.Cleanup(func() {
		ourIn.Close()
		_, _ = io.Copy(io.Discard, ourOut)
		ourOut.Close()
		theirIn.Close()
	})
	first := b.read()
	require.NotNil(t, first.Hello, "the first line is the hello")
	assert.Equal(t, driver.Protocol, first.Hello.Protocol)
	b.hello = *first.Hello
	return b
}

func (b *bench) send(lines ...string) {
	b.t.Helper()
	_, err := io.WriteString(b.in, strings.Join(lines, "\n")+"\n")
	require.NoError(b.t, err)
}

func (b *bench) read() driver.Response {
	b.t.Helper()
	line, err := b.out.Next()
	require.NoError(b.t, err)
	var r driver.Response
	require.NoError(b.t, json.Unmarshal(line, &r), "%s", line)
	return r
}

func (b *bench) end() error {
	b.t.Helper()
	return await(b.t, b.served)
}

func await[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(limit):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

func TestAnswersComeWhenTheyAreReady(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":1,"op":"call","session":"s","tool":"gated"}`, `{"id":2,"op":"call","session":"s","tool":"echo","args":{"text":"hi"}}`)
	second := b.read()
	assert.EqualValues(t, 2, second.ID, "the gated call must not hold up the next one")
	assert.True(t, second.OK)
	assert.JSONEq(t, `"hi"`, string(second.Result))
	close(h.gate)
	assert.EqualValues(t, 1, b.read().ID)
}

func TestCancelEndsARequestWithACause(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":7,"op":"open","session":"s","server":{"name":"x","command":"x"}}`, `{"id":8,"op":"cancel","target":7}`)
	answers := map[int64]driver.Response{}
	for range 2 {
		r := b.read()
		answers[r.ID] = r
	}
	require.ErrorIs(t, await(t, h.ended), driver.ErrCancelled)
	assert.True(t, answers[8].OK)
	assert.False(t, answers[7].OK)
	assert.Equal(t, driver.ErrCancelled.Error(), answers[7].Error)
	b.send(`{"id":9,"op":"cancel","target":7}`)
	assert.Contains(t, b.read().Error, "request 7 is not running")
}

func TestCancelEndsOneJobOfATick(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":1,"op":"tick","jobs":[{"session":"a","tool":"block"},{"session":"b","tool":"block"},{"session":"c","tool":"panic"},{"session":"d"}]}`)
	await(t, h.started)
	await(t, h.started)
	b.send(`{"id":2,"op":"cancel","session":"a"}`)
	assert.True(t, b.read().OK)
	require.ErrorIs(t, await(t, h.ended), driver.ErrCancelled)
	b.send(`{"id":3,"op":"cancel","session":"a"}`)
	for r := b.read(); !strings.Contains(r.Error, "no job"); r = b.read() { // until its end is known
		b.send(`{"id":3,"op":"cancel","session":"a"}`)
	}
	assert.Empty(t, h.ended, "the other job goes on")
	b.send(`{"id":4,"op":"cancel","session":"b"}`)
	tick := b.read()
	if tick.ID != 1 {
		tick = b.read()
	}
	require.Len(t, tick.Jobs, 4, "results in the order of the jobs")
	assert.Equal(t, driver.JobResult{Session: "a", Error: driver.ErrCancelled.Error()}, tick.Jobs[0])
	assert.Equal(t, "b", tick.Jobs[1].Session)
	assert.Contains(t, tick.Jobs[2].Error, "in a job")
	assert.Equal(t, driver.JobResult{Session: "d", OK: true}, tick.Jobs[3])
}

func TestAnIDIsNotUsedTwiceAtATime(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":1,"op":"call","session":"s","tool":"gated"}`, `{"id":1,"op":"call","session":"s","tool":"echo"}`)
	refused := b.read()
	assert.Zero(t, refused.ID, "the answer must not pass for that of the first")
	assert.Contains(t, refused.Error, "request 1 is still running")
	close(h.gate)
	assert.JSONEq(t, `"late"`, string(b.read().Result))
	b.send(`{"id":1,"op":"call","session":"s","tool":"echo"}`)
	assert.True(t, b.read().OK, "the id is free again")
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":1,"op":"open","session":"s","server":{"name":"x","command":"x"},"timeout_ms":20}`)
	assert.Contains(t, b.read().Error, "time limit of 20 ms")
	assert.Contains(t, await(t, h.ended).Error(), "time limit")
}

func TestWhatIsWrongIsAnswered(t *testing.T) {
	t.Parallel()
	b := serve(t, newHandler())
	for _, c := range []struct{ line, want string }{
		{`{"id":1,"op":"dance"}`, `unknown op "dance"`},
		{`{"id":2,"op":"open","session":"s"}`, "open needs a server"},
		{`{"id":3,"op":"open","session":"s","server":{"name":"missing","command":"x"}}`, "no such file"},
		{`{"id":4,"op":"call","session":"s","tool":"nope"}`, "no tool nope"},
		{`{"id":5,"op":"call","session":"s","tool":"broken"}`, "failed to encode"},
		{"hello\x1b[31m?", `"hello\x1b[31m?" is no request`},
		{strings.Repeat("x", driver.MaxLine+1), "longer than"},
		{`{"id":6,"op":"cancel","session":"nobody"}`, `no job of session "nobody"`},
		{`{"op":"stop"}`, "needs an id greater than 0"},
		{`{"id":"7","op":"stop"}`, "is no request"},
		{`[1,2]`, "is no request"},
	} {
		go b.send(c.line)
		r := b.read()
		assert.False(t, r.OK, c.line[:min(80, len(c.line))])
		assert.Contains(t, r.Error, c.want)
	}
	b.send(`{"id":10,"op":"call","session":"s","tool":"echo","args":{"text":1}}`)
	assert.True(t, b.read().OK, "and the driver goes on")
}

// TestABenchThatFloods: a line of 300 MiB is passed over, and takes no more memory than the longest line that is read.
func TestABenchThatFloods(t *testing.T) {
	b := serve(t, newHandler())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 300 {
		_, err := b.in.Write(block)
		require.NoError(t, err)
	}
	b.send("")
	assert.Contains(t, b.read().Error, "longer than")
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(10*driver.MaxLine))
	b.send(`{"id":1,"op":"call","session":"s","tool":"echo","args":{"text":1}}`)
	assert.True(t, b.read().OK)
}

func TestStopIsAnsweredAndEndsServe(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":1,"op":"open","session":"s","server":{"name":"x","command":"x"}}`)
	await(t, h.started)
	b.send(`{"id":2,"op":"stop"}`)
	assert.Equal(t, driver.Response{ID: 2, OK: true}, b.read())
	require.NoError(t, b.end())
	require.Error(t, await(t, h.ended), "what still runs is told that it is over")
}

func TestEndOfStdinEndsServe(t *testing.T) {
	t.Parallel()
	h := newHandler()
	b := serve(t, h)
	b.send(`{"id":1,"op":"open","session":"s","server":{"name":"x","command":"x"}}`)
	await(t, h.started)
	require.NoError(t, b.in.Close())
	require.ErrorIs(t, b.end(), driver.ErrBenchGone)
	require.Error(t, await(t, h.ended))
}

func TestWhatDoesNotApplyIsNotOffered(t *testing.T) {
	t.Parallel()
	b := serveAs(t, driver.Hello{Host: "test", NotApplicable: map[string]string{driver.OpForget: "its callers close it"}}, nil)
	assert.NotContains(t, b.hello.Ops, driver.OpForget)
	assert.Contains(t, b.hello.Ops, driver.OpClose)
}
