package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/leakbench/leakbench/driver"
)

// fakes are the hosts that the scripts put on the bench as a plain command.
var fakes = map[string]func(args []string) int{
	"polite-host": politeHost,
	"leaky-host":  leakyHost,
	"idle-host":   idleHost,

	// As some gateways sort what follows a command, and as a shell would be needed to read it.
	"sorting-host": func(server []string) int {
		return politeHost(append(append([]string{server[0]}, server[2:]...), server[1]))
	},
	"joining-host":  func(server []string) int { return politeHost([]string{server[0], strings.Join(server[1:], " ")}) },
	"trimming-host": func(server []string) int { return politeHost(server[:len(server)-1]) },

	"dying-host": func([]string) int { fmt.Fprintln(os.Stderr, "no such port"); return 7 },
	"shell-host": shellHost,

	"crashing-host": crashingHost,
	"moody-host":    moodyHost,
	"drowsy-host":   drowsyHost,
	"blind-host":    blindHost,

	"config-host": configHost,
	"check-host":  checkHost,
	"leaky-check": leakyCheck,
	"gateway":     gateway,

	"wrong-driver": wrongDriver,
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

// wrongDriver is a driver with a bug: it connects, and none of its calls gets to the server.
func wrongDriver([]string) int {
	driver.Main("wrong", "1", func(ctx context.Context, _ string, s driver.Server) (driver.Client, error) {
		c, err := connect(ctx, append([]string{s.Command}, s.Args...))
		return wrongCalls{c}, err
	})
	return 0
}

type wrongCalls struct{ *client.Client }

func (wrongCalls) Call(context.Context, string, map[string]any) (string, error) {
	return "", fmt.Errorf("AttributeError: no attribute at 0x%x", os.Getpid())
}

// politeHost keeps one server connected, connects again when it breaks, and
// closes it when it is asked to end.
func politeHost(server []string) int {
	return reconnecting(server, 20*time.Millisecond, func(c *client.Client) { _ = c.Close() })
}

// leakyHost forgets the server of a broken session.
func leakyHost(server []string) int {
	var forgotten []*client.Client
	return reconnecting(server, 20*time.Millisecond, func(c *client.Client) { forgotten = append(forgotten, c) })
}

// drowsyHost is as leaky, and looks at its server far more seldom than a
// checkpoint waits.
func drowsyHost(server []string) int {
	var forgotten []*client.Client
	return reconnecting(server, time.Second, func(c *client.Client) { forgotten = append(forgotten, c) })
}

// blindHost never looks at its server.
func blindHost(server []string) int {
	return reconnecting(server, fakeTimeout, func(*client.Client) {})
}

// crashingHost ends when its server does, with an error that it does not handle.
func crashingHost(server []string) int {
	return reconnecting(server, 20*time.Millisecond, func(c *client.Client) {
		_ = c.Close()
		fmt.Fprintln(os.Stderr, "unhandled: EPIPE")
		os.Exit(9)
	})
}

func reconnecting(server []string, every time.Duration, drop func(*client.Client)) int {
	ctx, cancel := context.WithTimeout(context.Background(), fakeTimeout)
	defer cancel()
	stop := terminated()
	c, err := connect(ctx, server)
	ticker := time.NewTicker(every)
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

// configHost reads its servers from a configuration as Claude Desktop has it,
// and keeps each connected until its stdin ends. "NAME=PATH": what the file says
// beside them must be there.
func configHost(args []string) int {
	text, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var config struct {
		Theme   string `json:"theme"`
		Servers map[string]struct {
			Command string   `json:"command"`
			Args    []string `json:"args"`
		} `json:"mcpServers"`
	}
	if json.Unmarshal(text, &config) != nil || config.Theme != "dark" || os.Getenv("GREETING") != "hello" {
		fmt.Fprintf(os.Stderr, "not what I need: %s, GREETING=%s\n", text, os.Getenv("GREETING"))
		return 1
	}
	var all []*client.Client
	for _, s := range config.Servers {
		c, err := connect(context.Background(), append([]string{s.Command}, s.Args...))
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		all = append(all, c)
	}
	fmt.Println("config-host: up and running")
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, c := range all {
		_ = c.Close()
	}
	return 0
}

// checkHost is a health check: connect, list, close, exit.
func checkHost(server []string) int {
	c, err := connect(context.Background(), server)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer c.Close()
	if _, err := c.ListTools(context.Background(), mcp.ListToolsRequest{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// leakyCheck is one that exits without closing: the server's end is left to
// what the end of its stdin tells it.
func leakyCheck(server []string) int {
	if _, err := connect(context.Background(), server); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// gateway is stdio to streamable HTTP: PORT leaky|polite|shared SERVER... A server for
// each session, which goes with the session's DELETE, and for a polite one also
// with its client's connection. Where it is shared, all have one, which goes with the gateway.
func gateway(args []string) int {
	g := &bridge{argv: args[2:], polite: args[1] == "polite", shared: args[1] == "shared", sessions: map[string]*bridged{}}
	server := &http.Server{
		Addr: "127.0.0.1:" + args[0], Handler: g, ReadHeaderTimeout: fakeTimeout, ConnState: g.hangUp,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	stop := terminated()
	go func() { _ = server.ListenAndServe() }()
	<-stop
	server.Close()
	g.closeAll()
	return 0
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

// moodyHost dies the first time it is started, and is polite from then on: its
// first argument is the file by which it knows.
func moodyHost(args []string) int {
	if f, err := os.OpenFile(args[0], os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
		_ = f.Close()
		return 7
	}
	return politeHost(args[1:])
}
