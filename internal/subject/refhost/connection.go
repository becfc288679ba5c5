package refhost

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/hosts/mcpgo"
	"github.com/leakbench/leakbench/internal/duration"
)

// connection is a client and the server that was launched for it.
//
// mcp-go's own stdio transport would launch the server as well, but the delays of its Close (2 s, 3 s, 3 s) are
// constants, and a host on the bench is to show its mistakes in seconds. So the host launches the server, gives the
// client its pipes, and close is the same ladder, scaled.
type connection struct {
	session string
	entry   bool   // of all sessions of a server entry: it ends with the host, and with none of them
	first   string // of an entry: the session for which it was made
	client  *client.Client
	cmd     *exec.Cmd
	stdin   *os.File // the host's end
	stdout  *os.File // likewise
	learned []child  // what the host believes to be this connection's processes

	reaping sync.Once
	exited  chan struct{} // closed once the server was waited for
	closing sync.Once
}

// launch starts a server on the spawner's thread. Its stderr is /dev/null: the
// host's own would be one more pipe that a stray server holds open.
func launch(on *spawner, session string, s driver.Server, start func(*exec.Cmd) error) (*connection, error) {
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourIn.Close())
	}
	cmd := exec.CommandContext(context.Background(), s.Command, s.Args...)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	err = on.do(func() error { return start(cmd) })
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("failed to start server %s: %w", s.Name, err), ourIn.Close(), ourOut.Close())
	}
	return &connection{
		session: session, cmd: cmd, stdin: ourIn, stdout: ourOut, exited: make(chan struct{}),
		client: client.NewClient(transport.NewIO(ourOut, ourIn, nil), client.WithDiscoverTimeout(discoverTimeout)),
	}, nil
}

// initialize shakes hands.
func (c *connection) initialize(ctx context.Context) error {
	return until(ctx, func() error {
		if err := c.client.Start(context.WithoutCancel(ctx)); err != nil {
			return err
		}
		req := mcp.InitializeRequest{}
		req.Params.ClientInfo = mcp.Implementation{Name: "leakbench-refhost", Version: "1"}
		_, err := c.client.Initialize(ctx, req)
		return err
	})
}

// withLimit gives a request the host's own limit, where its caller sets none.
func withLimit(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, asked := ctx.Deadline(); asked {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, callTimeout, fmt.Errorf("no answer within %s", duration.Text(callTimeout)))
}

// call returns the text of a tool's result as a JSON string.
func (c *connection) call(ctx context.Context, tool string, args map[string]any) (text json.RawMessage, err error) {
	ctx, cancel := withLimit(ctx)
	defer cancel()
	var joined string
	err = until(ctx, func() (err error) {
		joined, err = mcpgo.Call(ctx, c.client, tool, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(joined)
}

// until runs f and returns its error, or why ctx ended. The client honours a context while it waits for an answer,
// but not while it writes to a server that does not read.
func until(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		if err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// close is mcp-go's Close, scaled, to the direct pid: stdin, SIGTERM, SIGKILL. As there, the server is waited for
// here and nowhere else: one that is never closed stays a zombie once it has died.
func (c *connection) close() {
	c.closing.Do(func() {
		c.reap()
		c.descend(sdkEOF, sdkTerm, func(sig syscall.Signal) { _ = c.cmd.Process.Signal(sig) })
		c.stdout.Close()
	})
}

// descend is the ladder, until the server is gone: stdin, SIGTERM, SIGKILL. The
// server gets eof after the first and term after the second; 0 leaves one out.
func (c *connection) descend(eof, term time.Duration, signal func(syscall.Signal)) {
	if eof == 0 {
		defer c.client.Close()
	} else if _ = c.client.Close(); c.exits(eof) { // the end of its stdin
		return
	}
	if term > 0 && asks {
		signal(syscall.SIGTERM)
		if c.exits(term) {
			return
		}
	}
	signal(syscall.SIGKILL)
	<-c.exited
}

// reap waits for the server's exit, beside.
func (c *connection) reap() {
	c.reaping.Do(func() {
		go func() {
			_ = c.cmd.Wait()
			close(c.exited)
		}()
	})
}

// exits reports whether the server exits within limit.
func (c *connection) exits(limit time.Duration) bool {
	select {
	case <-c.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

// spawner starts all processes of a host on one thread that lives as long as the host and is not its main thread.
// Both matter on Linux: PDEATHSIG fires when the thread that forked ends, not the process (prctl(2)), and the kernel
// lists a child under the thread that forked it (proc(5), children), which is how a host that asks its main thread
// never sees one. The hosts in the field launch from the background thread of their event loop.
type spawner struct {
	work chan func()
}

func newSpawner() *spawner {
	s := &spawner{work: make(chan func())}
	go s.run()
	return s
}

func (s *spawner) run() {
	runtime.LockOSThread() // and never unlocked
	if onMainThread() {
		go s.run()
		select {} // occupies the main thread, so that the other one gets another
	}
	for f := range s.work {
		f()
	}
}

// do runs start on the spawner's thread.
func (s *spawner) do(start func() error) error {
	done := make(chan error)
	s.work <- func() { done <- start() }
	return <-done
}
