package driver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// Client is a connected client of an SDK.
type Client interface {
	// Call returns the text of a tool's result; see ToolText.
	Call(ctx context.Context, tool string, args map[string]any) (string, error)
	// Close is the SDK's own. An error says that the server did not go; how it exited is none.
	Close() error
}

// Forgetter is a Client that does something of its own where it is dropped
// without a Close. Any other is left to the garbage collector.
type Forgetter interface{ Forget() }

// ToolText is what a Call returns of a tool's result: its texts, or an error with them where the tool has failed.
func ToolText(texts []string, failed bool) (string, error) {
	joined := strings.Join(texts, "\n")
	if failed {
		return "", fmt.Errorf("the tool failed: %.1000s", joined)
	}
	return joined, nil
}

// Main is the program of a driver whose clients connect makes, with all operations. It ends the process. stdout is for the protocol
// alone: what is printed from now on goes to stderr, the host's log.
func Main[C Client](host, version string, connect func(ctx context.Context, session string, s Server) (C, error)) {
	protocol := os.Stdout
	os.Stdout = os.Stderr
	if err := Serve(context.Background(), os.Stdin, protocol, Hello{Host: host, Version: version}, NewClients(connect)); err != nil {
		os.Exit(1) // the bench is gone
	}
	os.Exit(0)
}

// Connect launches a server and returns a client that has shaken hands with it. One that can't be connected is
// Connect's to close. Few hosts have a use for session, which is the bench's name.
type Connect func(ctx context.Context, session string, s Server) (Client, error)

// Clients is a Handler for an SDK that has no sessions, reload or jobs of its own: it keeps a client for each session.
type Clients struct {
	connect Connect
	lists   bool // connect makes a ListingClient

	mu  sync.Mutex
	all map[string]Client
}

// NewClients is a host whose clients connect makes. It offers to list where the type that connect returns is a ListingClient.
func NewClients[C Client](connect func(ctx context.Context, session string, s Server) (C, error)) *Clients {
	asClient := func(ctx context.Context, session string, s Server) (Client, error) {
		c, err := connect(ctx, session, s)
		if err != nil {
			return nil, err // and no client: a nil of another type is none
		}
		return c, nil
	}
	return &Clients{all: map[string]Client{}, lists: listing[C](), connect: asClient}
}

// take removes a session's client: nil where there is none.
func (h *Clients) take(session string) Client {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.all[session]
	delete(h.all, session)
	return c
}

// Open connects a session. A reconnect closes the old client first. Of two at the same time the later one wins, and
// the other is closed: to lose one would be the driver's mistake, not the SDK's.
func (h *Clients) Open(ctx context.Context, session string, s Server) error {
	if old := h.take(session); old != nil {
		_ = old.Close()
	}
	c, err := h.connect(ctx, session, s)
	if err != nil {
		return err
	}
	h.mu.Lock()
	other := h.all[session]
	h.all[session] = c
	h.mu.Unlock()
	if other != nil {
		_ = other.Close()
	}
	return nil
}

// Call calls a tool.
func (h *Clients) Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error) {
	h.mu.Lock()
	c := h.all[session]
	h.mu.Unlock()
	if c == nil {
		return nil, noSession(session)
	}
	text, err := c.Call(ctx, tool, args)
	if err != nil {
		return nil, err
	}
	return json.Marshal(text)
}

// Close closes a session's client.
func (h *Clients) Close(_ context.Context, session string) error {
	c := h.take(session)
	if c == nil {
		return noSession(session)
	}
	return c.Close()
}

// Forget drops the reference to a session's client, as a program does that has no "defer Close" on this path, and
// lets the garbage collector look at what is left: files that nobody can reach are closed by it.
func (h *Clients) Forget(_ context.Context, session string) error {
	switch c := h.take(session).(type) {
	case nil:
		return noSession(session)
	case Forgetter:
		c.Forget()
		return nil
	}
	runtime.GC()
	runtime.GC() // what the first one found, the second one frees
	return nil
}

func noSession(session string) error { return fmt.Errorf("no session %q", session) }

// Reload reconnects one session after the other.
func (h *Clients) Reload(ctx context.Context, sessions []SessionServer) error {
	return ReloadInTurn(ctx, sessions, h.Open)
}

// Tick runs each job as the first example of a README: connect, defer Close, call.
func (h *Clients) Tick(ctx context.Context, jobs []Job) ([]JobResult, error) {
	return RunJobs(ctx, jobs, h.job), nil
}

func (h *Clients) job(ctx context.Context, j Job) error {
	c, err := h.connect(ctx, j.Session, j.Server)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	if j.TimeoutMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(j.TimeoutMS)*time.Millisecond)
		defer cancel()
	}
	_, err = c.Call(ctx, j.Tool, j.Args)
	return err
}

// Stop closes one client after the other, as deferred calls do.
func (h *Clients) Stop(context.Context) error {
	h.mu.Lock()
	all := slices.Collect(maps.Values(h.all))
	clear(h.all)
	h.mu.Unlock()
	var errs []error
	for _, c := range all {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// ModuleVersion is the version of a module that this program was built with.
func ModuleVersion(path string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == path {
				return m.Version
			}
		}
	}
	return "unknown"
}
