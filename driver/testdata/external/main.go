// Command external is a driver in a module of its own: all that it takes to put
// a client on the bench.
package main

import (
	"context"
	"os"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/leakbench/leakbench/driver"
)

type connection struct{ *client.Client }

func connect(ctx context.Context, _ string, s driver.Server) (driver.Client, error) {
	c, err := client.NewStdioMCPClient(s.Command, nil, s.Args...)
	if err != nil {
		return nil, err
	}
	if _, err := c.Initialize(ctx, mcp.InitializeRequest{}); err != nil {
		_ = c.Close()
		return nil, err
	}
	return connection{c}, nil
}

func (c connection) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = tool, args
	result, err := c.CallTool(ctx, req)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, content := range result.Content {
		if text, ok := mcp.AsTextContent(content); ok {
			texts = append(texts, text.Text)
		}
	}
	return driver.ToolText(texts, result.IsError)
}

func main() {
	hello := driver.Hello{Host: "external", Version: driver.ModuleVersion("github.com/mark3labs/mcp-go")}
	if err := driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, driver.NewClients(connect)); err != nil {
		os.Exit(1)
	}
}
