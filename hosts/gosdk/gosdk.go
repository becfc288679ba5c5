package gosdk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leakbench/leakbench/internal/driver"
	"github.com/leakbench/leakbench/internal/record"
)

// profile is what is known of the SDK: the TerminateDuration of mcp/cmd.go,
// 5 s, between each two rungs.
var profile = record.Profile{
	// 5 + 5 + 5 s, and a little for the machine.
	Settle: record.Duration(15500 * time.Millisecond),
	// There is no time limit outside Close: a call has none but its context's.
	Confirm: record.Duration(5 * time.Second),
	// One session after the other. A server that is deaf to everything takes
	// 10 s: three of them.
	Stop:   record.Duration(30 * time.Second),
	Ladder: "waits for the calls in flight, stdin close, 5s, TERM, 5s, KILL, 5s; direct pid",
}

// Main is the driver's process. It has no handler for SIGTERM, as the README
// has none: the program dies of it, and its servers are left to what the end
// of their stdin tells them. The status is 0 after a stop and 1 when the bench
// is gone.
func Main() int {
	hello := driver.Hello{Host: "go-sdk", Version: version(), Profile: &profile}
	h := &host{
		client:   mcp.NewClient(&mcp.Implementation{Name: "leakbench", Version: "v1.0.0"}, nil),
		sessions: map[string]*mcp.ClientSession{},
	}
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, h); err != nil {
		return 1
	}
	return 0
}

// version is the version of the SDK that this program was built with.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/modelcontextprotocol/go-sdk" {
				return m.Version
			}
		}
	}
	return "unknown"
}

// host has one client, with a session of the SDK for each session of the
// bench, as docs/client.md describes them: "a client may have several".
type host struct {
	client *mcp.Client

	mu       sync.Mutex
	sessions map[string]*mcp.ClientSession
}

// connect launches a server and shakes hands with it. What could not be
// connected is closed by the SDK itself.
func (h *host) connect(ctx context.Context, s driver.Server) (*mcp.ClientSession, error) {
	transport := &mcp.CommandTransport{Command: serverCommand(s)}
	return h.client.Connect(ctx, transport, nil)
}

// serverCommand is the README's exec.Command, without a context: the SDK ends
// the process.
func serverCommand(s driver.Server) *exec.Cmd {
	return exec.Command(s.Command, s.Args...) //nolint:noctx // as in the README
}

// closeSession closes a session. How the server exited is logged, since an
// exit status is no failure to close; that it did not exit is an error.
func closeSession(s *mcp.ClientSession) error {
	err := s.Close()
	if err == nil {
		return nil
	}
	log.Printf("closing a session: %v", err)
	var exited *exec.ExitError
	if errors.As(err, &exited) {
		return nil
	}
	return err
}

func (h *host) take(session string) *mcp.ClientSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[session]
	delete(h.sessions, session)
	return s
}

// Open connects a session. A reconnect closes the old one first: "it is the
// responsibility of the client to close the connection when it is no longer
// needed" (Client.Connect). Of two at the same time the later one wins, and
// the other is closed: to lose one would be this driver's mistake, not the
// SDK's.
func (h *host) Open(ctx context.Context, session string, s driver.Server) error {
	if old := h.take(session); old != nil {
		_ = closeSession(old)
	}
	opened, err := h.connect(ctx, s)
	if err != nil {
		return err
	}
	h.mu.Lock()
	other := h.sessions[session]
	h.sessions[session] = opened
	h.mu.Unlock()
	if other != nil {
		_ = closeSession(other)
	}
	return nil
}

// Call calls a tool.
func (h *host) Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error) {
	h.mu.Lock()
	s := h.sessions[session]
	h.mu.Unlock()
	if s == nil {
		return nil, fmt.Errorf("no session %q", session)
	}
	return call(ctx, s, tool, args)
}

// call returns the text of a tool's result as a JSON string.
func call(ctx context.Context, s *mcp.ClientSession, tool string, args map[string]any) (json.RawMessage, error) {
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, err
	}
	var all []string
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	joined := strings.Join(all, "\n")
	if result.IsError {
		return nil, fmt.Errorf("the tool failed: %.1000s", joined)
	}
	return json.Marshal(joined)
}

// Close closes a session.
func (h *host) Close(_ context.Context, session string) error {
	s := h.take(session)
	if s == nil {
		return fmt.Errorf("no session %q", session)
	}
	return closeSession(s)
}

// Forget drops the reference to a session, as a program does that has no
// "defer session.Close()" on this path, and lets the garbage collector look at
// what is left: files that nobody can reach are closed by it.
func (h *host) Forget(_ context.Context, session string) error {
	if h.take(session) == nil {
		return fmt.Errorf("no session %q", session)
	}
	runtime.GC()
	runtime.GC() // what the first one found, the second one frees
	return nil
}

// Reload reconnects one session after the other: the SDK has no reload.
func (h *host) Reload(ctx context.Context, sessions []driver.SessionServer) error {
	return driver.ReloadInTurn(ctx, sessions, h.Open)
}

// Tick runs each job as the README's example: connect, defer Close, call.
func (h *host) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	return driver.RunJobs(ctx, jobs, h.job), nil
}

func (h *host) job(ctx context.Context, j driver.Job) error {
	s, err := h.connect(ctx, j.Server)
	if err != nil {
		return err
	}
	defer func() { _ = closeSession(s) }()
	if j.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(j.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	_, err = call(ctx, s, j.Tool, j.Args)
	return err
}

// Stop closes one session after the other, as deferred calls do.
func (h *host) Stop(context.Context) error {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.sessions))
	clear(h.sessions)
	h.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, closeSession(s))
	}
	return errors.Join(errs...)
}
