package trickhost

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
)

// The ladder of the healthy host: what a server gets at each rung.
const (
	afterEOF  = 600 * time.Millisecond
	afterTerm = 300 * time.Millisecond
)

// conn is one server and the client that talks to it.
type conn struct {
	session string
	argv    []string
	cmd     *exec.Cmd
	group   bool // the server leads a process group of its own
	stdin   *os.File
	stdout  *os.File
	born    time.Time
	beside  *helper       // ended before the server is, at the host's end
	exited  chan struct{} // closed once the server was waited for
	eof     chan struct{} // closed once its stdout has ended

	mu      sync.Mutex
	next    int64
	pending map[int64]chan answer
	closed  bool
	used    time.Time // last call
}

type answer struct {
	ID     int64           `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

var errOver = errors.New("the server's stdout has ended")

// launch starts argv as a server. It has not shaken hands yet.
func (h *host) launch(session string, argv []string, group bool) (*conn, error) {
	theirIn, ourIn, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	ourOut, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), ourIn.Close())
	}
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.WaitDelay = theirIn, theirOut, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: group, Pdeathsig: syscall.SIGKILL}
	if h.flaw.attr != nil {
		h.flaw.attr(cmd.SysProcAttr)
	}
	if h.flaw.files != nil {
		cmd.ExtraFiles = h.flaw.files(h, ourIn)
	}
	err = h.onSpawner(cmd.Start)
	theirIn.Close()
	theirOut.Close()
	if err != nil {
		return nil, errors.Join(err, ourIn.Close(), ourOut.Close())
	}
	c := &conn{
		session: session, argv: argv, cmd: cmd, group: group, stdin: ourIn, stdout: ourOut, born: time.Now(), used: time.Now(),
		exited: make(chan struct{}), eof: make(chan struct{}), pending: map[int64]chan answer{},
	}
	go c.read()
	if h.flaw.unwaited == nil || !h.flaw.unwaited(c) {
		go c.wait()
	}
	return c, nil
}

// connect launches a server and shakes hands with it.
func (h *host) connect(ctx context.Context, session string, s driver.Server) (*conn, error) {
	argv := append([]string{s.Command}, s.Args...)
	if h.flaw.command != nil {
		argv = h.flaw.command(argv)
	}
	c, err := h.launch(session, argv, !h.flaw.noGroup)
	if err != nil {
		return nil, err
	}
	h.own(c)
	if err = c.initialize(ctx); err == nil && h.flaw.accepts != nil {
		err = h.flaw.accepts(ctx, c)
	}
	if err != nil {
		h.end(c, refused)
		return nil, err
	}
	return c, nil
}

func (c *conn) wait() {
	_ = c.cmd.Wait()
	close(c.exited)
}

func (c *conn) read() {
	defer close(c.eof)
	in := bufio.NewReader(c.stdout)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(line, &a) != nil || a.Method != "" || a.ID == 0 {
			continue
		}
		c.mu.Lock()
		ch := c.pending[a.ID]
		delete(c.pending, a.ID)
		c.mu.Unlock()
		if ch != nil {
			ch <- a
		}
	}
}

// ask sends a request and waits for its answer.
func (c *conn) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	ch := make(chan answer, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.pending[id] = ch
	c.used = time.Now()
	c.mu.Unlock()
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	if _, err := c.stdin.Write(append(line, '\n')); err != nil {
		return nil, err
	}
	select {
	case a := <-ch:
		if a.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, a.Error.Message)
		}
		return a.Result, nil
	case <-c.eof:
		return nil, errOver
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (c *conn) initialize(ctx context.Context) error {
	_, err := c.ask(ctx, "initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "leakbench-trick", "version": "1"},
	})
	if err != nil {
		return err
	}
	_, err = c.stdin.WriteString(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
	return err
}

func (c *conn) call(ctx context.Context, tool string, args map[string]any) (json.RawMessage, error) {
	result, err := c.ask(ctx, "tools/call", map[string]any{"name": tool, "arguments": args})
	if err != nil {
		return nil, err
	}
	var r struct {
		IsError bool `json:"isError"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	if err := json.Unmarshal(result, &r); err != nil {
		return nil, err
	}
	var texts []string
	for _, part := range r.Content {
		texts = append(texts, part.Text)
	}
	if r.IsError {
		return nil, fmt.Errorf("the tool failed: %.500s", strings.Join(texts, "\n"))
	}
	return json.Marshal(strings.Join(texts, "\n"))
}

// closeStdin ends the server's stdin, once.
func (c *conn) closeStdin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		c.stdin.Close()
	}
}

// signal signals the server, and its group where it leads one. One that was
// waited for is not signalled: its number may be another's.
func (c *conn) signal(sig syscall.Signal) {
	if c.gone(0) {
		return
	}
	if c.group {
		_ = syscall.Kill(-c.cmd.Process.Pid, sig)
		return
	}
	_ = c.cmd.Process.Signal(sig)
}

// gone waits for the server's exit, at most for limit.
func (c *conn) gone(limit time.Duration) bool {
	select {
	case <-c.exited:
		return true
	default:
	}
	if limit <= 0 {
		return false
	}
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-c.exited:
		return true
	case <-t.C:
		return false
	}
}

// finish is the whole ladder: the end of stdin, SIGTERM, SIGKILL, and the wait.
func (c *conn) finish() {
	c.closeStdin()
	if !c.gone(afterEOF) {
		c.signal(syscall.SIGTERM)
		if !c.gone(afterTerm) {
			c.kill()
		}
	}
	c.stdout.Close()
}

func (c *conn) kill() {
	c.signal(syscall.SIGKILL)
	<-c.exited
	c.closeStdin()
	c.stdout.Close()
}
