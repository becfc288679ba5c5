// Package reconnect is a client of MCP servers over stdio, without an SDK: it reconnects by itself in a call when its server is gone.
package reconnect

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"reconnect","version":"1"}}`

// Client has one server, and another one when that is gone. It is for one call after the other.
type Client struct {
	drops  bool // the bug: the server that is replaced is never ended
	argv   []string
	closed context.Context
	close  context.CancelFunc

	change  sync.Mutex // of the server, which is what follows
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *os.File
	answers *bufio.Reader
	exited  chan struct{}
	number  int
}

// Connect launches a server and shakes hands with it.
func Connect(ctx context.Context, command string, args ...string) (*Client, error) {
	return start(ctx, false, append([]string{command}, args...))
}

// Dropping is Connect with the bug.
func Dropping(ctx context.Context, command string, args ...string) (*Client, error) {
	return start(ctx, true, append([]string{command}, args...))
}

func start(ctx context.Context, drops bool, argv []string) (*Client, error) {
	c := &Client{drops: drops, argv: argv}
	c.closed, c.close = context.WithCancel(context.Background())
	return c, c.connect(ctx)
}

func (c *Client) connect(ctx context.Context) error {
	stdout, theirs, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Stdout = theirs
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return errors.Join(err, stdout.Close())
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	c.cmd, c.stdin, c.stdout, c.answers, c.exited = cmd, stdin, stdout, bufio.NewReader(stdout), exited
	if _, err := c.ask(ctx, "initialize", json.RawMessage(hello)); err != nil {
		c.end()
		return err
	}
	return c.send(map[string]any{"method": "notifications/initialized"})
}

var errGone = errors.New("the server is gone")

// CallTool calls a tool, of another server where the first one is gone.
func (c *Client) CallTool(ctx context.Context, name string, args map[string]any) (string, error) {
	params := map[string]any{"name": name, "arguments": args}
	result, err := c.ask(ctx, "tools/call", params)
	if !errors.Is(err, errGone) {
		return result, err
	}
	if err := c.reconnect(ctx); err != nil {
		return "", err
	}
	return c.ask(ctx, "tools/call", params)
}

// reconnect refuses where it is Close that has ended the server.
func (c *Client) reconnect(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.closed, cancel)() //nolint:contextcheck // Close ends it, too
	c.change.Lock()
	defer c.change.Unlock()
	if c.closed.Err() != nil {
		return errGone
	}
	if !c.drops {
		c.end()
	}
	return c.connect(ctx)
}

// Close ends the server, and a call that is under way.
func (c *Client) Close() error {
	c.close()
	c.change.Lock()
	defer c.change.Unlock()
	c.end()
	return nil
}

// end is the end of stdin, time, SIGKILL, and a wait.
func (c *Client) end() {
	_ = c.stdin.Close()
	timer := time.AfterFunc(2*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	<-c.exited
	_ = c.stdout.Close()
}

func (c *Client) ask(ctx context.Context, method string, params any) (string, error) {
	stdout := c.stdout
	defer context.AfterFunc(ctx, func() { _ = stdout.SetReadDeadline(time.Now()) })()
	c.number++
	if err := c.send(map[string]any{"id": c.number, "method": method, "params": params}); err != nil {
		return "", err
	}
	for {
		line, err := c.answers.ReadBytes('\n')
		if ctx.Err() != nil {
			return "", errors.Join(context.Cause(ctx), stdout.SetReadDeadline(time.Time{}))
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  json.RawMessage
		}
		switch {
		case err != nil:
			return "", fmt.Errorf("%w: %w", errGone, err)
		case json.Unmarshal(line, &answer) != nil || answer.ID != c.number:
		case answer.Error != nil:
			return "", fmt.Errorf("the server refused: %s", answer.Error)
		default:
			return string(answer.Result), nil
		}
	}
}

func (c *Client) send(message map[string]any) error {
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
