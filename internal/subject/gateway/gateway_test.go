package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// limit is how long anything here may take on a busy machine.
const limit = time.Minute

// behind is a gateway over HTTP on a real socket. It writes down the requests
// that end sessions, and the connections that end.
type behind struct {
	*httptest.Server
	hung    chan struct{} // a call of "hang" is under way
	over    chan struct{} // closed when the test is: an SSE server's calls outlive their connection
	deleted chan string
	headers chan http.Header // of the first request

	mu    sync.Mutex
	conns map[net.Conn]bool
	gone  chan struct{} // a connection has ended
}

// newBehind serves a transport at /flaky/sse.
func newBehind(t *testing.T, transport string) *behind {
	t.Helper()
	b := &behind{
		hung: make(chan struct{}, 8), over: make(chan struct{}), deleted: make(chan string, 8), headers: make(chan http.Header, 1),
		conns: map[net.Conn]bool{}, gone: make(chan struct{}, 64),
	}
	inner := b.handler(transport)
	b.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case b.headers <- r.Header:
		default:
		}
		if r.Method == http.MethodDelete {
			b.deleted <- r.Header.Get("Mcp-Session-Id")
		}
		inner.ServeHTTP(w, r)
	}))
	b.Config.ConnState = b.watch
	b.Start()
	t.Cleanup(func() {
		close(b.over)
		b.CloseClientConnections()
		b.Close()
	})
	return b
}

func (b *behind) watch(c net.Conn, state http.ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conns[c] = true
	if state == http.StateClosed {
		delete(b.conns, c)
		b.gone <- struct{}{}
	}
}

// awaitNobody returns once no connection is left.
func (b *behind) awaitNobody(t *testing.T) {
	t.Helper()
	for {
		b.mu.Lock()
		left := len(b.conns)
		b.mu.Unlock()
		if left == 0 {
			return
		}
		await(t, b.gone)
	}
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

// tool answers with its arguments, fails, or hangs.
func (b *behind) tool(ctx context.Context, name string, args any) (string, bool) {
	switch name {
	case "hang":
		b.hung <- struct{}{}
		select {
		case <-ctx.Done():
		case <-b.over:
		}
	case "fail":
		return "no luck", false
	}
	text, _ := json.Marshal(args)
	return string(text), true
}

func (b *behind) handler(transport string) http.Handler {
	if transport == subject.TransportOpenAPI {
		return http.HandlerFunc(b.openAPI)
	}
	s := server.NewMCPServer("behind", "1")
	for _, name := range []string{"echo", "hang", "fail"} {
		s.AddTool(mcp.NewTool(name), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text, ok := b.tool(ctx, name, r.Params.Arguments)
			if !ok {
				return mcp.NewToolResultError(text), nil
			}
			return mcp.NewToolResultText(text), nil
		})
	}
	if transport == subject.TransportSSE {
		return server.NewSSEServer(s, server.WithStaticBasePath("/flaky"))
	}
	return server.NewStreamableHTTPServer(s)
}

func (b *behind) openAPI(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/flaky/sse/")
	if path == "openapi.json" {
		return
	}
	var args map[string]any
	_ = json.NewDecoder(r.Body).Decode(&args)
	text, ok := b.tool(r.Context(), path, args)
	if !ok {
		w.WriteHeader(http.StatusInternalServerError)
	}
	fmt.Fprint(w, text)
}

// begin drives clients of a gateway.
func begin(t *testing.T, p subject.GatewayParams) *subject.Driver {
	t.Helper()
	theirIn, ourIn, err := os.Pipe()
	require.NoError(t, err)
	ourOut, theirOut, err := os.Pipe()
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() {
		served <- serve(context.Background(), p, theirIn, theirOut)
		theirOut.Close()
	}()
	d := subject.Connect(ourOut, ourIn)
	t.Cleanup(func() {
		d.Close()
		_ = await(t, served)
		<-d.Done()
		theirIn.Close()
	})
	_, err = d.Hello(t.Context())
	require.NoError(t, err)
	return d
}

func do(t *testing.T, d *subject.Driver, req driver.Request) driver.Response {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	resp, err := d.Do(ctx, req)
	require.NoError(t, err)
	return resp
}

func open(session string) driver.Request {
	return driver.Request{Op: driver.OpOpen, Session: session, Server: &driver.Server{Name: "flaky"}}
}

func call(session, tool string) driver.Request {
	return driver.Request{Op: driver.OpCall, Session: session, Tool: tool, Args: map[string]any{"text": "hi"}}
}

// eachTransport runs a test against a gateway of each.
func eachTransport(t *testing.T, f func(t *testing.T, b *behind, p subject.GatewayParams)) {
	t.Parallel()
	for _, transport := range []string{subject.TransportStreamable, subject.TransportSSE, subject.TransportOpenAPI} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			b := newBehind(t, transport)
			f(t, b, subject.GatewayParams{URL: b.URL + "/" + subject.LabelPlaceholder + "/sse", Transport: transport, Headers: http.Header{"X-Key": {"secret"}}})
		})
	}
}

func TestSessions(t *testing.T) {
	eachTransport(t, func(t *testing.T, b *behind, p subject.GatewayParams) {
		p.Own = true
		d := begin(t, p)
		for _, session := range []string{"a", "b"} {
			resp := do(t, d, open(session))
			require.True(t, resp.OK, resp.Error)
		}
		assert.Equal(t, "secret", await(t, b.headers).Get("X-Key"))
		resp := do(t, d, call("b", "echo"))
		require.True(t, resp.OK, resp.Error)
		var text string
		require.NoError(t, json.Unmarshal(resp.Result, &text))
		assert.JSONEq(t, `{"session":"b","own":true,"text":"hi"}`, text)
		assert.Contains(t, do(t, d, call("b", "fail")).Error, "no luck")
		assert.True(t, do(t, d, open("a")).OK, "a reconnect")
		assert.True(t, do(t, d, driver.Request{Op: driver.OpClose, Session: "b"}).OK)
		for _, req := range []driver.Request{call("b", "echo"), {Op: driver.OpClose, Session: "b"}, {Op: driver.OpForget, Session: "b"}} {
			assert.Equal(t, `no session "b"`, do(t, d, req).Error)
		}
		assert.Equal(t, "this host does not offer reload", do(t, d, driver.Request{Op: driver.OpReload}).Error)
		assert.True(t, do(t, d, driver.Request{Op: driver.OpForget, Session: "a"}).OK)
		b.awaitNobody(t)
	})
}

func TestCallsAreGivenUp(t *testing.T) {
	eachTransport(t, func(t *testing.T, b *behind, p subject.GatewayParams) {
		d := begin(t, p)
		require.True(t, do(t, d, open("a")).OK)
		pending, err := d.Begin(call("a", "hang"))
		require.NoError(t, err)
		await(t, b.hung)
		assert.True(t, do(t, d, driver.Request{Op: driver.OpCancel, Target: pending.ID}).OK)
		resp, err := pending.Wait(t.Context())
		require.NoError(t, err)
		assert.False(t, resp.OK)
		slow := call("a", "hang")
		slow.TimeoutMS = 50
		assert.False(t, do(t, d, slow).OK)
		assert.True(t, do(t, d, call("a", "echo")).OK, "the session goes on")
		assert.True(t, do(t, d, driver.Request{Op: driver.OpForget, Session: "a"}).OK)
		b.awaitNobody(t)
	})
}

func TestJobs(t *testing.T) {
	eachTransport(t, func(t *testing.T, b *behind, p subject.GatewayParams) {
		d := begin(t, p)
		server := driver.Server{Name: "flaky"}
		resp := do(t, d, driver.Request{Op: driver.OpTick, Jobs: []driver.Job{
			{Session: "j1", Server: server, Tool: "echo"},
			{Session: "j2", Server: server, Tool: "hang", TimeoutMS: 50},
			{Session: "j3", Server: server, Tool: "fail"},
		}})
		require.Len(t, resp.Jobs, 3, resp.Error)
		assert.Equal(t, driver.JobResult{Session: "j1", OK: true}, resp.Jobs[0])
		assert.False(t, resp.Jobs[1].OK)
		assert.Contains(t, resp.Jobs[2].Error, "no luck")
		b.awaitNobody(t)
	})
}

// TestAGoodbyeIsNoVanishing: who closes ends its session, and who is forgotten
// does not, nor who is connected when the clients are stopped.
func TestAGoodbyeIsNoVanishing(t *testing.T) {
	t.Parallel()
	b := newBehind(t, subject.TransportStreamable)
	d := begin(t, subject.GatewayParams{URL: b.URL, Transport: subject.TransportStreamable})
	for _, session := range []string{"closed", "forgotten", "stays"} {
		require.True(t, do(t, d, open(session)).OK)
	}
	assert.True(t, do(t, d, driver.Request{Op: driver.OpForget, Session: "forgotten"}).OK)
	await(t, b.gone)
	assert.Empty(t, b.deleted)
	assert.True(t, do(t, d, driver.Request{Op: driver.OpClose, Session: "closed"}).OK)
	assert.NotEmpty(t, await(t, b.deleted))
	assert.True(t, do(t, d, driver.Request{Op: driver.OpStop}).OK)
	assert.Empty(t, b.deleted)
}

func TestRefused(t *testing.T) {
	t.Parallel()
	nobody, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	url := "http://" + nobody.Addr().String()
	require.NoError(t, nobody.Close())
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "out of order", http.StatusBadGateway) }))
	t.Cleanup(broken.Close)
	for _, transport := range []string{subject.TransportStreamable, subject.TransportSSE, subject.TransportOpenAPI} {
		for _, c := range []struct{ url, want string }{{url, "refused"}, {broken.URL, "502"}, {"http://%zz", "invalid URL"}} {
			d := begin(t, subject.GatewayParams{URL: c.url, Transport: transport})
			resp := do(t, d, open("a"))
			assert.False(t, resp.OK, transport)
			assert.Contains(t, resp.Error, c.want, transport)
			assert.Equal(t, `no session "a"`, do(t, d, call("a", "echo")).Error)
		}
	}
}

// TestSlow: where a gateway takes a connection and says nothing, the connection
// goes with whoever gives up.
func TestSlow(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{subject.TransportStreamable, subject.TransportSSE, subject.TransportOpenAPI} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			asked, left := make(chan struct{}, 8), make(chan struct{}, 8)
			mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				_, _ = r.Body.Read(make([]byte, 1<<16)) // net/http watches the connection once it is read
				asked <- struct{}{}
				<-r.Context().Done()
				left <- struct{}{}
			}))
			t.Cleanup(mute.Close)
			d := begin(t, subject.GatewayParams{URL: mute.URL, Transport: transport})
			pending, err := d.Begin(open("a"))
			require.NoError(t, err)
			await(t, asked)
			assert.True(t, do(t, d, driver.Request{Op: driver.OpCancel, Target: pending.ID}).OK)
			resp, err := pending.Wait(t.Context())
			require.NoError(t, err)
			assert.False(t, resp.OK)
			await(t, left)
			limited := open("b")
			limited.TimeoutMS = 50
			assert.False(t, do(t, d, limited).OK)
		})
	}
}

func TestNotByHand(t *testing.T) {
	t.Setenv(subject.GatewayEnv, "")
	assert.Equal(t, 2, Main())
}
