package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject/host"
)

// initTimeout is for a handshake, where the bench sets no limit. A gateway may
// start a package runner for it.
const initTimeout = 30 * time.Second

// closeTimeout is for the orderly goodbye of a client.
const closeTimeout = 10 * time.Second

// Main is the process. Its status is 0 after a stop, 1 when the bench is gone.
func Main() int {
	var p host.FrontParams
	if err := json.Unmarshal([]byte(os.Getenv(host.FrontEnv)), &p); err != nil {
		fmt.Fprintln(os.Stderr, "the front of a gateway is started by leakbench run, not by hand")
		return 2
	}
	if err := Serve(context.Background(), p, os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// Serve is the front until a stop, or until in ends.
func Serve(ctx context.Context, p host.FrontParams, in io.Reader, out io.Writer) error {
	h := &front{p: p, sessions: map[string]client{}}
	hello := driver.Hello{Host: "leakbench-front", Ops: []string{
		driver.OpOpen, driver.OpCall, driver.OpCancel, driver.OpClose, driver.OpForget, driver.OpTick,
	}}
	return driver.Serve(ctx, in, out, hello, h)
}

// client is a front client's connection to the gateway.
type client interface {
	call(ctx context.Context, tool string, args map[string]any) (string, error)
	// close says goodbye in the orderly way of its transport.
	close(ctx context.Context) error
	// vanish drops the connections without a word, as a client does that was
	// killed or has lost its network.
	vanish()
}

// front keeps a client for each session.
type front struct {
	p  host.FrontParams
	mu sync.Mutex

	sessions map[string]client
}

func (f *front) take(session string) client {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.sessions[session]
	delete(f.sessions, session)
	return c
}

func (f *front) put(session string, c client) (old client) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old = f.sessions[session]
	f.sessions[session] = c
	return old
}

// connect makes a client that has shaken hands. One that could not says goodbye
// nevertheless, as far as it has a session.
func (f *front) connect(ctx context.Context, session, label string) (client, error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTimeout)
		defer cancel()
	}
	url := strings.ReplaceAll(f.p.URL, host.LabelPlaceholder, label)
	w := newWire()
	if f.p.Transport == host.TransportOpenAPI {
		return connectOpenAPI(ctx, url, f.p.Headers, w)
	}
	return connectMCP(ctx, mcpParams{FrontParams: f.p, url: url, session: session}, w)
}

// Open connects a client. Who had the session before says goodbye first, as a
// client does that reconnects.
func (f *front) Open(ctx context.Context, session string, s driver.Server) error {
	if old := f.take(session); old != nil {
		f.part(ctx, old)
	}
	c, err := f.connect(ctx, session, s.Name)
	if err != nil {
		return err
	}
	if other := f.put(session, c); other != nil {
		f.part(ctx, other)
	}
	return nil
}

// part says goodbye to a connection that may be broken: that it fails is no
// failure of what comes next.
func (f *front) part(ctx context.Context, c client) {
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	_ = c.close(ctx)
}

// Call calls a tool.
func (f *front) Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error) {
	f.mu.Lock()
	c := f.sessions[session]
	f.mu.Unlock()
	if c == nil {
		return nil, fmt.Errorf("no session %q", session)
	}
	text, err := c.call(ctx, tool, f.signed(session, args))
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

// signed are the arguments with the session in them: through a gateway nothing
// else tells the server whose call it is.
func (f *front) signed(session string, args map[string]any) map[string]any {
	out := map[string]any{"session": session}
	if f.p.Own {
		out["own"] = true
	}
	for k, v := range args {
		out[k] = v
	}
	return out
}

// Close says goodbye.
func (f *front) Close(ctx context.Context, session string) error {
	c := f.take(session)
	if c == nil {
		return fmt.Errorf("no session %q", session)
	}
	return c.close(ctx)
}

// Forget vanishes.
func (f *front) Forget(_ context.Context, session string) error {
	c := f.take(session)
	if c == nil {
		return fmt.Errorf("no session %q", session)
	}
	c.vanish()
	return nil
}

// Reload is not offered: a gateway's configuration is not its clients'.
func (f *front) Reload(context.Context, []driver.SessionServer) error {
	return errors.New("clients of a gateway can't reload it")
}

// Tick has a client of its own for each job: connect, call, say goodbye.
func (f *front) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	return driver.RunJobs(ctx, jobs, f.job), nil
}

func (f *front) job(ctx context.Context, j driver.Job) error {
	c, err := f.connect(ctx, j.Session, j.Server.Name)
	if err != nil {
		return err
	}
	defer f.part(context.WithoutCancel(ctx), c)
	if j.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(j.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	_, err = c.call(ctx, j.Tool, f.signed(j.Session, j.Args))
	return err
}

// Stop ends the front. The gateway is stopped by the bench, with its clients
// connected, as a service manager does.
func (f *front) Stop(context.Context) error { return nil }
