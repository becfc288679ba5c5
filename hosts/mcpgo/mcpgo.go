package mcpgo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/leakbench/leakbench/internal/driver"
	"github.com/leakbench/leakbench/internal/record"
)

// initTimeout is the time limit for the handshake in the documentation's
// examples, where the bench sets none.
const initTimeout = 30 * time.Second

// profile is what is known of the client. The constants of its Close are in
// client/transport/stdio.go.
var profile = record.Profile{
	// 2 + 3 + 3 s, and a little for the machine.
	Settle: record.Duration(8500 * time.Millisecond),
	// The longest delay outside Close that can end a server: the time limit of
	// the probe for the modern era, 5 s, after which a connect that has failed
	// is closed.
	Confirm: record.Duration(5 * time.Second),
	// One session after the other. A server that is deaf to everything takes
	// 5 s: six of them.
	Stop:   record.Duration(30 * time.Second),
	Ladder: "stdin and stderr close, 2s, TERM, 3s, KILL, 3s; direct pid",
}

// Main is the driver's process. It has no handler for SIGTERM, as the
// documentation has none: the program dies of it, and its servers are left to
// what the end of their stdin tells them. The status is 0 after a stop and 1
// when the bench is gone.
func Main() int {
	hello := driver.Hello{Host: "mcp-go", Version: version(), Profile: &profile}
	h := &host{clients: map[string]*client.Client{}}
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, h); err != nil {
		return 1
	}
	return 0
}

// version is the version of the client that this program was built with.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == "github.com/mark3labs/mcp-go" {
				return m.Version
			}
		}
	}
	return "unknown"
}

// host keeps a client for each session.
type host struct {
	mu      sync.Mutex
	clients map[string]*client.Client
}

// connect creates and initialises a client. One that can't be initialised is
// closed: the examples' "defer c.Close()" runs in that case, too.
func connect(ctx context.Context, s driver.Server) (*client.Client, error) {
	c, err := client.NewStdioMCPClient(s.Command, nil, s.Args...)
	if err != nil {
		return nil, err
	}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTimeout)
		defer cancel()
	}
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "leakbench", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, req); err != nil {
		_ = closeClient(c)
		return nil, fmt.Errorf("failed to initialize: %w", err)
	}
	return c, nil
}

// closeClient closes a client. How the server exited is logged, as in the
// documentation; that it did not exit is an error.
func closeClient(c *client.Client) error {
	err := c.Close()
	if err != nil {
		log.Printf("Error closing client: %v", err)
	}
	if errors.Is(err, transport.ErrChildShutdownTimeout) {
		return err
	}
	return nil
}

func (h *host) take(session string) *client.Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.clients[session]
	delete(h.clients, session)
	return c
}

// Open connects a session. A reconnect closes the old client first, as
// reconnectClient in the documentation does. Of two at the same time the later
// one wins, and the other is closed: to lose a client would be this driver's
// mistake, not mcp-go's.
func (h *host) Open(ctx context.Context, session string, s driver.Server) error {
	if old := h.take(session); old != nil {
		_ = closeClient(old)
	}
	c, err := connect(ctx, s)
	if err != nil {
		return err
	}
	h.mu.Lock()
	other := h.clients[session]
	h.clients[session] = c
	h.mu.Unlock()
	if other != nil {
		_ = closeClient(other)
	}
	return nil
}

// Call calls a tool.
func (h *host) Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error) {
	h.mu.Lock()
	c := h.clients[session]
	h.mu.Unlock()
	if c == nil {
		return nil, fmt.Errorf("no session %q", session)
	}
	return call(ctx, c, tool, args)
}

// call returns the text of a tool's result as a JSON string.
func call(ctx context.Context, c *client.Client, tool string, args map[string]any) (json.RawMessage, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name = tool
	req.Params.Arguments = args
	result, err := c.CallTool(ctx, req)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, content := range result.Content {
		if t, ok := mcp.AsTextContent(content); ok {
			all = append(all, t.Text)
		}
	}
	joined := strings.Join(all, "\n")
	if result.IsError {
		return nil, fmt.Errorf("the tool failed: %.1000s", joined)
	}
	return json.Marshal(joined)
}

// Close closes a session's client.
func (h *host) Close(_ context.Context, session string) error {
	c := h.take(session)
	if c == nil {
		return fmt.Errorf("no session %q", session)
	}
	return closeClient(c)
}

// Forget drops the reference to a session's client, as a program does that has
// no "defer c.Close()" on this path, and lets the garbage collector look at
// what is left: files that nobody can reach are closed by it.
func (h *host) Forget(_ context.Context, session string) error {
	if h.take(session) == nil {
		return fmt.Errorf("no session %q", session)
	}
	runtime.GC()
	runtime.GC() // what the first one found, the second one frees
	return nil
}

// Reload reconnects one session after the other. The documentation has no
// reload; a reconnect for each is what it offers.
func (h *host) Reload(ctx context.Context, sessions []driver.SessionServer) error {
	return driver.ReloadInTurn(ctx, sessions, h.Open)
}

// Tick runs each job as the documentation's quick example: create, defer
// Close, initialize, call.
func (h *host) Tick(ctx context.Context, jobs []driver.Job) ([]driver.JobResult, error) {
	return driver.RunJobs(ctx, jobs, job), nil
}

func job(ctx context.Context, j driver.Job) error {
	c, err := connect(ctx, j.Server)
	if err != nil {
		return err
	}
	defer func() { _ = closeClient(c) }()
	if j.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(j.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	_, err = call(ctx, c, j.Tool, j.Args)
	return err
}

// Stop closes one client after the other, as deferred calls do.
func (h *host) Stop(context.Context) error {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.clients))
	clear(h.clients)
	h.mu.Unlock()
	var errs []error
	for _, c := range all {
		errs = append(errs, closeClient(c))
	}
	return errors.Join(errs...)
}
