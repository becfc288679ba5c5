// Package mcpgo puts the published mcp-go client on the bench: a driver that uses it the way its documentation does
// (mcp-go.dev, "Client Basics" and "Client Transports", and examples/simple_client), and adds nothing. What the
// documentation leaves open is decided as its reader most likely would, and is said where it is decided. Its tests
// are those of all hosts, in internal/subject. Other modules can read it as an example; it is no API.
package mcpgo

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/leakbench/leakbench/driver"
)

// initTimeout is the time limit for the handshake in the documentation's examples, where the bench sets none.
const initTimeout = 30 * time.Second

// Main is the driver's process; profile is what the host declares. It has no handler for SIGTERM, as the
// documentation has none: the program dies of it, and its servers are left to what the end of their stdin tells them.
// The status is 0 after a stop and 1 when the bench is gone.
//
// There is a client for each session. A reconnect closes the old one first, as
// reconnectClient in the documentation does. It has no reload.
func Main(profile driver.Profile) int {
	hello := driver.Hello{
		Host: "mcp-go", Version: driver.ModuleVersion("github.com/mark3labs/mcp-go"),
		Profile: &profile, Kind: driver.KindLibrary,
	}
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, driver.NewClients(connect)); err != nil {
		return 1
	}
	return 0
}

// connected is a client that has been initialised.
type connected struct{ *client.Client }

// connect creates and initialises a client. One that can't be initialised is
// closed: the examples' "defer c.Close()" runs in that case, too.
func connect(ctx context.Context, _ string, s driver.Server) (*connected, error) {
	created, err := client.NewStdioMCPClient(s.Command, nil, s.Args...)
	if err != nil {
		return nil, err
	}
	c := &connected{created}
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTimeout)
		defer cancel()
	}
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = mcp.LATEST_PROTOCOL_VERSION
	req.Params.ClientInfo = mcp.Implementation{Name: "leakbench", Version: "1.0.0"}
	if _, err := c.Initialize(ctx, req); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("failed to initialize: %w", err)
	}
	return c, nil
}

// Close closes a client. How the server exited is logged, as in the documentation; that it did not exit is an error.
func (c *connected) Close() error {
	err := c.Client.Close()
	if err != nil {
		log.Printf("Error closing client: %v", err)
	}
	if errors.Is(err, transport.ErrChildShutdownTimeout) {
		return err
	}
	return nil
}

// Call calls a tool.
func (c *connected) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	return Call(ctx, c.Client, tool, args)
}

// List asks for a list. What it has are names.
func (c *connected) List(ctx context.Context, what string) (names []string, err error) {
	return List(ctx, c.Client, what)
}

// Call calls a tool of a client's server.
func Call(ctx context.Context, c *client.Client, tool string, args map[string]any) (string, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = tool, args
	result, err := c.CallTool(ctx, req)
	if err != nil {
		return "", err
	}
	var all []string
	for _, content := range result.Content {
		if t, ok := mcp.AsTextContent(content); ok {
			all = append(all, t.Text)
		}
	}
	return driver.ToolText(all, result.IsError)
}

// List asks a client's server for a list.
func List(ctx context.Context, c *client.Client, what string) (names []string, err error) {
	switch what {
	case driver.ListTools:
		all, err := c.ListTools(ctx, mcp.ListToolsRequest{})
		if err != nil {
			return nil, err
		}
		for _, t := range all.Tools {
			names = append(names, t.Name)
		}
	case driver.ListResources:
		all, err := c.ListResources(ctx, mcp.ListResourcesRequest{})
		if err != nil {
			return nil, err
		}
		for _, r := range all.Resources {
			names = append(names, r.Name)
		}
	case driver.ListPrompts:
		all, err := c.ListPrompts(ctx, mcp.ListPromptsRequest{})
		if err != nil {
			return nil, err
		}
		for _, p := range all.Prompts {
			names = append(names, p.Name)
		}
	}
	return names, nil
}
