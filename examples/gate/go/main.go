// Command gateway is as small as a gateway gets, on the published mcp-go client:
// it keeps one MCP server connected, and ends it when it is asked to end.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: gateway SERVER ARGS...")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	server, err := connect(ctx)
	for ctx.Err() == nil {
		if err == nil {
			_, err = server.ListTools(ctx, mcp.ListToolsRequest{})
		}
		if err != nil && ctx.Err() == nil { // it broke: end what is left of it, and connect anew
			shut(server)
			server, err = connect(ctx)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	shut(server)
}

func connect(ctx context.Context) (*client.Client, error) {
	server, err := client.NewStdioMCPClient(os.Args[1], nil, os.Args[2:]...)
	if err != nil {
		return nil, err
	}
	if _, err := server.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		shut(server) // without it, a server that refused is left
		return nil, err
	}
	return server, nil
}

func shut(server *client.Client) {
	if server != nil {
		_ = server.Close()
	}
}
