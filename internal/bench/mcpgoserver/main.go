// Command mcpgoserver is a server built on the published SDK the way its
// README shows it: the yardstick for how fast a fake server starts.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

func main() {
	s := server.NewMCPServer("yardstick", "1.0.0", server.WithToolCapabilities(false))
	echo := mcp.NewTool("echo", mcp.WithDescription("Returns text."), mcp.WithString("text", mcp.Required()))
	s.AddTool(echo, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text, err := r.RequireString("text")
		if err != nil {
			return mcp.NewToolResultError(err.Error()), nil
		}
		return mcp.NewToolResultText(text), nil
	})
	if err := server.ServeStdio(s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
