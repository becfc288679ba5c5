// Package gateway is the clients before a gateway: it speaks the driver protocol with the bench, and HTTP with the
// gateway, by the published mcp-go client. It is a process of the bench's, beside the keeper and none of the host's.
package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject"
)

// initTimeout is for a handshake, where the bench sets no limit. A gateway may start a package runner for it.
const initTimeout = 30 * time.Second

// Main is the process. Its status is 0 after a stop, 1 when the bench is gone.
func Main() int {
	var p subject.GatewayParams
	if err := json.Unmarshal([]byte(os.Getenv(subject.GatewayEnv)), &p); err != nil {
		fmt.Fprintln(os.Stderr, "leakbench host gateway-clients is started by leakbench run, not by hand")
		return 2
	}
	if err := serve(context.Background(), p, os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// serve drives the clients until a stop, or until in ends. Reload is not offered: a gateway's configuration is not its clients'.
func serve(ctx context.Context, p subject.GatewayParams, in io.Reader, out io.Writer) error {
	hello := driver.Hello{Host: "leakbench-gateway-clients", Ops: []string{
		driver.OpOpen, driver.OpShare, driver.OpCall, driver.OpCancel, driver.OpClose, driver.OpForget, driver.OpTick,
	}}
	h := clients{driver.NewClients(func(ctx context.Context, session string, s driver.Server) (driver.Client, error) {
		return connect(ctx, params{p, fillURL(p.URL, s), session, s})
	})}
	return driver.Serve(ctx, in, out, hello, h)
}

// fillURL fills what the URL says of the server: its name, and in a query its command line, the arguments as one text for a shell.
func fillURL(in string, s driver.Server) string {
	return strings.NewReplacer(
		subject.LabelPlaceholder, s.Name, "{{server.command}}", url.QueryEscape(s.Command), "{{server.args}}",
		url.QueryEscape(subject.CommandLine(s.Args)),
	).Replace(in)
}

// clients stay connected when they are stopped. The gateway is stopped by the
// bench, with its clients connected, as a service manager does.
type clients struct{ *driver.Clients }

// Share connects one more client: which servers its gateway has for them is the gateway's business.
func (c clients) Share(ctx context.Context, session string, s driver.Server) error {
	return c.Open(ctx, session, s)
}

// Stop leaves everybody connected.
func (clients) Stop(context.Context) error { return nil }

// params are those of one client.
type params struct {
	subject.GatewayParams
	url, session string
	server       driver.Server
}

// client is a client that puts its session into the arguments of each call.
type client struct {
	transportClient
	params
	wire *wire
}

// transportClient is a client's connection to the gateway. Close says goodbye in the orderly way of its transport.
// Forget drops the connections without a word, as a client does that was killed or has lost its network.
type transportClient interface {
	driver.Client
	driver.Forgetter
}

// connect makes a client that has shaken hands. One that could not says goodbye nevertheless, as far as it has a session.
func connect(ctx context.Context, p params) (driver.Client, error) {
	if _, limited := ctx.Deadline(); !limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, initTimeout)
		defer cancel()
	}
	shakeHands := connectMCP
	switch p.Transport {
	case subject.TransportOpenAPI:
		shakeHands = connectOpenAPI
	case subject.TransportREST:
		shakeHands = connectREST
	}
	w := newWire()
	ctx, end := w.within(ctx)
	defer end()
	c, err := shakeHands(ctx, p, w)
	if err != nil {
		return nil, w.why(err)
	}
	return client{c, p, w}, nil
}

// Call calls a tool. Through a gateway nothing but the arguments tells the server whose call it is.
func (c client) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	signed := map[string]any{"session": c.session}
	if c.Own {
		signed["own"] = true
	}
	maps.Copy(signed, args)
	ctx, end := c.wire.within(ctx)
	defer end()
	text, err := c.transportClient.Call(ctx, tool, signed)
	return text, c.wire.why(err)
}
