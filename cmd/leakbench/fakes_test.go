package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// fakes are the hosts that the scripts put on the bench as a plain command.
var fakes = map[string]func(args []string) int{
	"polite-host": politeHost,
	"leaky-host":  leakyHost,
	"idle-host":   idleHost,
	"dying-host":  func([]string) int { return 7 },
	"shell-host":  shellHost,
}

const fakeTimeout = 30 * time.Second

func connect(ctx context.Context, server []string) (*client.Client, error) {
	c, err := client.NewStdioMCPClient(server[0], nil, server[1:]...)
	if err != nil {
		return nil, err
	}
	if _, err = c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		return c, err
	}
	return c, nil
}

func terminated() chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	return signals
}

// politeHost keeps one server connected, connects again when it breaks, and
// closes it when it is asked to end.
func politeHost(server []string) int {
	return reconnecting(server, func(c *client.Client) { _ = c.Close() })
}

// leakyHost forgets the server of a broken session.
func leakyHost(server []string) int {
	var forgotten []*client.Client
	return reconnecting(server, func(c *client.Client) { forgotten = append(forgotten, c) })
}

func reconnecting(server []string, drop func(*client.Client)) int {
	ctx, cancel := context.WithTimeout(context.Background(), fakeTimeout)
	defer cancel()
	stop := terminated()
	c, err := connect(ctx, server)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			if c != nil {
				_ = c.Close()
			}
			return 0
		case <-ctx.Done():
			return 1
		case <-ticker.C:
		}
		if err == nil {
			_, err = c.ListTools(ctx, mcp.ListToolsRequest{})
		}
		if err != nil {
			if c != nil {
				drop(c)
			}
			c, err = connect(ctx, server)
		}
	}
}

// idleHost never launches the server.
func idleHost([]string) int {
	select {
	case <-terminated():
		return 0
	case <-time.After(fakeTimeout):
		return 1
	}
}

// shellHost launches the server through a shell that it then forgets, with a
// helper beside it: when the host ends, both are left.
func shellHost(server []string) int {
	line := ""
	for _, a := range server {
		line += fmt.Sprintf("'%s' ", a)
	}
	cmd := exec.Command("sh", "-c", "sleep 300 </dev/null >/dev/null 2>&1 & "+line)
	cmd.WaitDelay = time.Second
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	stop := terminated()
	if err := cmd.Start(); err != nil {
		return 1
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"shell-host","version":"1"}}}`)
	if !bufio.NewScanner(out).Scan() {
		return 1
	}
	select {
	case <-stop:
		return 0
	case <-time.After(fakeTimeout):
		return 1
	}
}
