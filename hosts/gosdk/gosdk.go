// Package gosdk puts the official Go SDK (github.com/modelcontextprotocol/go-sdk) on the bench: a driver that uses
// its client the way its README and docs/client.md do, and adds nothing. What they leave open is decided as their
// reader most likely would, and is said where it is decided. Its tests are those of all hosts, in
// internal/subject. Other modules can read it as an example; it is no API.
package gosdk

import (
	"context"
	"errors"
	"log"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/leakbench/leakbench/driver"
)

// Main is the driver's process; profile is what the host declares. It has no handler for SIGTERM, as the README has
// none: the program dies of it, and its servers are left to what the end of their stdin tells them. The status is 0
// after a stop and 1 when the bench is gone.
//
// There is one client, with a session of the SDK for each session of the bench, as docs/client.md describes them: "a
// client may have several". A reconnect closes the old one first: "it is the responsibility of the client to close
// the connection when it is no longer needed" (Client.Connect). The SDK has no reload.
func Main(profile driver.Profile) int {
	hello := driver.Hello{
		Host: "go-sdk", Version: driver.ModuleVersion("github.com/modelcontextprotocol/go-sdk"),
		Profile: &profile, Kind: driver.KindLibrary,
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "leakbench", Version: "v1.0.0"}, nil)
	h := driver.NewClients(func(ctx context.Context, _ string, s driver.Server) (session, error) {
		return connect(ctx, client, s)
	})
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, h); err != nil {
		return 1
	}
	return 0
}

// session is a connected session of the SDK.
type session struct{ *mcp.ClientSession }

// connect launches a server and shakes hands with it. What could not be connected is closed by the SDK itself.
func connect(ctx context.Context, client *mcp.Client, s driver.Server) (session, error) {
	transport := &mcp.CommandTransport{Command: serverCommand(s)}
	c, err := client.Connect(ctx, transport, nil)
	if err != nil {
		return session{}, err
	}
	return session{c}, nil
}

// serverCommand is the README's exec.Command, without a context: the SDK ends the process.
func serverCommand(s driver.Server) *exec.Cmd {
	return exec.Command(s.Command, s.Args...) //nolint:noctx // as in the README
}

// Close closes a session. How the server exited is logged, since an exit
// status is no failure to close; that it did not exit is an error.
func (s session) Close() error {
	err := s.ClientSession.Close()
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

// Call calls a tool.
func (s session) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	result, err := s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", err
	}
	var all []string
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return driver.ToolText(all, result.IsError)
}

// List asks for a list, by the iterators of the SDK. What it has are names.
func (s session) List(ctx context.Context, what string) (names []string, err error) {
	switch what {
	case driver.ListTools:
		for t, err := range s.Tools(ctx, nil) {
			if err != nil {
				return nil, err
			}
			names = append(names, t.Name)
		}
	case driver.ListResources:
		for r, err := range s.Resources(ctx, nil) {
			if err != nil {
				return nil, err
			}
			names = append(names, r.Name)
		}
	case driver.ListPrompts:
		for p, err := range s.Prompts(ctx, nil) {
			if err != nil {
				return nil, err
			}
			names = append(names, p.Name)
		}
	}
	return names, nil
}
