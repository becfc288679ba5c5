// Package pool is a program of somebody else that uses the mcp-go client: once as it is easily written, once as it must be.
package pool

import (
	"context"
	"os/exec"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// connectOfficial does the same with the official SDK, which ends what it could not connect.
func connectOfficial(ctx context.Context, argv []string) (*sdk.ClientSession, error) {
	client := sdk.NewClient(&sdk.Implementation{Name: "pool", Version: "1"}, nil)
	return client.Connect(ctx, &sdk.CommandTransport{Command: exec.Command(argv[0], argv[1:]...)}, nil)
}

// connectLeaking forgets the server whose handshake has failed.
func connectLeaking(ctx context.Context, argv []string) (*client.Client, error) {
	c, err := client.NewStdioMCPClient(argv[0], nil, argv[1:]...)
	if err != nil {
		return nil, err
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		return nil, err
	}
	return c, nil
}

// connect ends it.
func connect(ctx context.Context, argv []string) (*client.Client, error) {
	c, err := client.NewStdioMCPClient(argv[0], nil, argv[1:]...)
	if err != nil {
		return nil, err
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}
