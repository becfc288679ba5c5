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
	"time"
)

const hello = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"reconnect","version":"1"}}`

// Client has one server, and another one when that is gone. It is for one call after the other.
type Client struct {
	drops   bool // the bug: the server that is replaced is never ended
	argv    []string
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stdout  *os.File
	answers *bufio.Reader
	exited  chan struct{}
	number  int
}

// Connect launches a server and shakes hands with it.
func Connect(ctx context.Context, command string, args ...string) (*Client, error) {
	c := &Client{argv: append([]string{command}, args...)}
	return c, c.connect(ctx)
}

// Dropping is Connect with the bug.
func Dropping(ctx context.Context, command string, args ...string) (*Client, error) {
	c := &Client{drops: true, argv: append([]string{command}, args...)}
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
		return errors.Join(err, c.Close())
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
	if !c.drops {
		_ = c.Close()
	}
	if err := c.connect(ctx); err != nil {
		return "", err
	}
	return c.ask(ctx, "tools/call", params)
}

// Close is the end of stdin, time, SIGKILL, and a wait.
func (c *Client) Close() error {
	_ = c.stdin.Close()
	timer := time.AfterFunc(2*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	<-c.exited
	_ = c.stdout.Close()
	return nil
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
