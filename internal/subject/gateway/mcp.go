package gateway

import (
	"context"
	"fmt"

	mcpclient "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/hosts/mcpgo"
	"github.com/leakbench/leakbench/internal/subject"
)

// mcpClient is an mcp-go client over HTTP.
type mcpClient struct {
	*mcpclient.Client
	wire *wire
}

// connectMCP shakes hands by initialize: the gateways' sessions are those of
// the protocol before 2026-07-28, which has none any more.
func connectMCP(ctx context.Context, p params, w *wire) (transportClient, error) {
	t, err := p.transport(w)
	if err != nil {
		return nil, err
	}
	c := &mcpClient{mcpclient.NewClient(t, mcpclient.WithLegacyProtocolOnly()), w} //nolint:staticcheck // sessions are what is tested
	stop := context.AfterFunc(ctx, w.cut)                                          // a stream that does not begin is given up, too
	if err := c.Start(w.life); err != nil {                                        //nolint:contextcheck // the stream outlives the request
		c.Forget()
		return nil, fmt.Errorf("failed to connect: %w", err)
	}
	stop()
	req := mcp.InitializeRequest{}
	req.Params.ProtocolVersion = "2025-11-25"
	req.Params.ClientInfo = mcp.Implementation{Name: p.clientName(), Version: "1"}
	if _, err := c.Initialize(ctx, req); err != nil {
		_ = c.Close() // as the client's documentation has it: defer Close
		return nil, fmt.Errorf("failed to initialize: %w", err)
	}
	return c, nil
}

// clientName tells a server of its own whose it is.
func (p params) clientName() string {
	if p.Own {
		return birth.ClientPrefix + p.session
	}
	return "leakbench"
}

func (p params) transport(w *wire) (transport.Interface, error) {
	headers := map[string]string{}
	for k := range p.Headers {
		headers[k] = p.Headers.Get(k)
	}
	if p.Transport == subject.TransportSSE {
		return transport.NewSSE(p.url, transport.WithHTTPClient(w.Client), transport.WithHeaders(headers))
	}
	return transport.NewStreamableHTTP(p.url, transport.WithHTTPBasicClient(w.Client), transport.WithHTTPHeaders(headers))
}

// Call calls a tool.
func (c *mcpClient) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	return mcpgo.Call(ctx, c.Client, tool, args)
}

// Close is the client's own, DELETE of the session included; its time limit is the client's own, too.
func (c *mcpClient) Close() error {
	defer c.wire.cut()
	return c.Client.Close()
}

// Forget cuts the connections.
func (c *mcpClient) Forget() { c.wire.cut() }
