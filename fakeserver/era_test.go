package fakeserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// TestClientOfTheField connects the published client to a server of each era.
func TestClientOfTheField(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, era, pinned, want string
		discoverTimeout         time.Duration
	}{
		{"legacy", fakeserver.EraLegacy, "", "2025-11-25", 0},
		{"legacy, 2024-11-05", fakeserver.EraLegacy, "2024-11-05", "2024-11-05", 0},
		{"legacy, 2025-03-26", fakeserver.EraLegacy, "2025-03-26", "2025-03-26", 0},
		{"legacy, 2025-06-18", fakeserver.EraLegacy, "2025-06-18", "2025-06-18", 0},
		{"legacy-mute", fakeserver.EraLegacyMute, "", "2025-11-25", 300 * time.Millisecond},
		{"modern", fakeserver.EraModern, "", "2026-07-28", 0},
		{"dual", fakeserver.EraDual, "", "2026-07-28", 0},
		{"dual, legacy client", fakeserver.EraDual, "2025-06-18", "2025-06-18", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := one(t, c.era)
			argv := fakeserver.Argv(self(t), b.ledger.Path(), "run-1", "s", "main")
			opts := []client.ClientOption{client.WithProtocolVersion(c.pinned)}
			if c.discoverTimeout > 0 {
				opts = append(opts, client.WithDiscoverTimeout(c.discoverTimeout))
			}
			mc := client.NewClient(transport.NewStdio(argv[0], nil, argv[1:]...), opts...)
			useClient(t, mc, c.want)
			b.awaitKind("s#1", record.Died)
			assert.Equal(t, []record.Kind{record.Born, record.Ready, record.SawEOF, record.Bye, record.Died}, b.kinds("s#1"))
		})
	}
}

func useClient(t *testing.T, c *client.Client, version string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// The transport ties the child's life to this context.
	require.NoError(t, c.Start(context.Background()))
	closed := false
	defer func() {
		if !closed {
			_ = c.Close()
		}
	}()
	hello, err := c.Initialize(ctx, mcp.InitializeRequest{})
	require.NoError(t, err)
	assert.Equal(t, version, hello.ProtocolVersion)
	assert.Equal(t, "leakbench-fakeserver", hello.ServerInfo.Name)
	require.NoError(t, c.Ping(ctx)) //nolint:staticcheck // the legacy eras have it
	tools, err := c.ListTools(ctx, mcp.ListToolsRequest{})
	require.NoError(t, err)
	assert.Len(t, tools.Tools, 3)
	assert.Equal(t, "hi", callTool(ctx, t, c, "echo", map[string]any{"text": "hi"}))
	assert.Equal(t, "slept 1 ms", callTool(ctx, t, c, "sleep", map[string]any{"ms": 1}))
	assert.Equal(t, "hi\nnonce 17", callTool(ctx, t, c, "echo", map[string]any{"text": "hi", "nonce": "17"}))
	var who struct {
		Label, Session string
		Launch         int
	}
	require.NoError(t, json.Unmarshal([]byte(callTool(ctx, t, c, "whoami", nil)), &who))
	assert.Equal(t, "s", who.Label)
	assert.Equal(t, "main", who.Session)
	assert.Equal(t, 1, who.Launch)
	closed = true
	require.NoError(t, c.Close())
}

func callTool(ctx context.Context, t *testing.T, c *client.Client, name string, args map[string]any) string {
	t.Helper()
	req := mcp.CallToolRequest{}
	req.Params.Name, req.Params.Arguments = name, args
	res, err := c.CallTool(ctx, req)
	require.NoError(t, err)
	require.False(t, res.IsError)
	require.Len(t, res.Content, 1)
	text, ok := res.Content[0].(mcp.TextContent)
	require.True(t, ok)
	return text.Text
}

// exchange is what a server of an era answers to a line. want is a JSON value
// at a path of the answer; "" is no answer.
type exchange struct{ send, path, want string }

func TestEras(t *testing.T) {
	t.Parallel()
	versioned := func(v string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + v + `"}}`
	}
	withMeta := func(method, version, more string) string {
		return `{"jsonrpc":"2.0","id":9,"method":"` + method + `","params":{` + more +
			`"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}}}`
	}
	ping := `{"jsonrpc":"2.0","id":5,"method":"ping"}`
	for era, exchanges := range map[string][]exchange{
		fakeserver.EraLegacy: {
			{listTools, "error.code", "-32600"}, // before initialize
			{discover, "error.code", "-32601"},
			{versioned("2024-11-05"), "result.protocolVersion", `"2024-11-05"`},
			{versioned("2025-03-26"), "result.protocolVersion", `"2025-03-26"`},
			{versioned("2025-06-18"), "result.protocolVersion", `"2025-06-18"`},
			{versioned("2025-11-25"), "result.protocolVersion", `"2025-11-25"`},
			{versioned("2026-07-28"), "result.protocolVersion", `"2025-11-25"`},
			{versioned("1.0"), "result.protocolVersion", `"2025-11-25"`},
			{ping, "result", `{}`},
			{listTools, "result.tools.0.name", `"echo"`},
			{listTools, "result.resultType", `null`},
			{listTools, "result.ttlMs", `null`},
			{callEcho, "result", `{"content":[{"type":"text","text":"hi"}]}`},
			{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"nope"}}`, "error.code", "-32602"},
			{`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"sleep"}}`, "error.code", "-32602"},
			{`{"jsonrpc":"2.0","id":"a","method":"no/such"}`, "error.code", "-32601"},
			{`{"jsonrpc":"2.0","id":"a","method":"ping","params":[]}`, "error.code", "-32602"},
			{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, "error.code", "-32600"},
			{`{"jsonrpc":"1.0","id":7,"method":"ping"}`, "error.code", "-32600"},
			{`[1]`, "error.code", "-32600"},
			{`{`, "error.code", "-32700"},
		},
		fakeserver.EraLegacyMute: {
			{discover, "", ""},
			{versioned("2025-06-18"), "result.protocolVersion", `"2025-06-18"`},
		},
		fakeserver.EraModern: {
			{discover, "result.supportedVersions", `["2026-07-28"]`},
			{discover, "result.resultType", `"complete"`},
			{discover, "result.ttlMs", `0`},
			{discover, "result.cacheScope", `"private"`},
			{initialize, "error.data.supported", `["2026-07-28"]`},
			{ping, "error.code", "-32602"},
			{withMeta("ping", "2026-07-28", ""), "error.code", "-32601"},
			{listTools, "error.code", "-32602"},
			{withMeta("tools/list", "2026-07-28", ""), "result.ttlMs", "0"},
			{withMeta("tools/list", "2026-07-28", ""), "result.resultType", `"complete"`},
			{withMeta("tools/list", "2025-11-25", ""), "error.code", "-32022"},
			{withMeta("tools/list", "2099-01-01", ""), "error.data", `{"supported":["2026-07-28"],"requested":"2099-01-01"}`},
			{withMeta("tools/call", "2026-07-28", `"name":"echo","arguments":{"text":"x"},`), "result.content.0.text", `"x"`},
			{withMeta("tools/call", "2026-07-28", `"name":"echo",`), "result.ttlMs", `null`},
		},
		fakeserver.EraDual: {
			{discover, "result.supportedVersions.1", `"2025-11-25"`},
			{listTools, "error.code", "-32600"},
			{withMeta("tools/list", "2026-07-28", ""), "result.resultType", `"complete"`},
			{initialize, "result.protocolVersion", `"2025-06-18"`},
			{listTools, "result.resultType", `null`},
		},
	} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			p, _ := one(t, era).launch("s")
			for _, x := range exchanges {
				p.send(x.send)
				if x.path == "" {
					continue // the next answer shows that none came for this one
				}
				got := p.answer()
				var whole any
				require.NoError(t, json.Unmarshal([]byte(got.raw), &whole))
				value, err := json.Marshal(at(whole, x.path))
				require.NoError(t, err)
				assert.JSONEq(t, x.want, string(value), "%s\n-> %s", x.send, got.raw)
			}
			require.NoError(t, p.in.Close())
			assert.Equal(t, 0, p.status())
		})
	}
}

// Of all versions one has batches, and there a server must take them: what is in
// an array is answered in one.
func TestBatches(t *testing.T) {
	t.Parallel()
	hello := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `"}}`
	}
	const batch = `[{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"sleep","arguments":{"ms":50}}},` +
		`{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":3,"method":"tools/list"},` +
		`{"jsonrpc":"2.0","id":4,"method":"initialize","params":{"protocolVersion":"2025-06-18"}},7,` +
		`{"jsonrpc":"2.0","id":"slow","method":"ping"},{"jsonrpc":"2.0","id":5,"method":"no/such"}]`
	p, _ := one(t, fakeserver.EraLegacy).launch("s")
	p.send(hello("2025-03-26"))
	p.answer()
	p.send(batch)
	line, err := p.recv()
	require.NoError(t, err)
	var answers []reply
	require.NoError(t, json.Unmarshal([]byte(line), &answers), line)
	got := map[string]int{} // the code of the error, or 0, by id; slow was in use
	for _, a := range answers {
		code := 0
		if a.Error != nil {
			code = a.Error.Code
		}
		got[fmt.Sprintf("%s %d", a.ID, code)]++
	}
	assert.Equal(t, map[string]int{`"slow" 0`: 1, `"slow" -32600`: 1, "3 0": 1, "4 -32600": 1, "null -32600": 1, "5 -32601": 1}, got)

	p.send(`[{"jsonrpc":"2.0","method":"notifications/initialized"}]`) // nothing to answer
	p.send(`[{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":60000}}},` +
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}},{"jsonrpc":"2.0","id":7,"method":"ping"}]`)
	line, err = p.recv()
	require.NoError(t, err)
	assert.JSONEq(t, `[{"jsonrpc":"2.0","id":7,"result":{}}]`, line)
	p.send(`[]`)
	assert.Equal(t, -32600, p.answer().Error.Code, "an empty one is no batch")

	p.send(hello("2025-06-18"))
	p.answer()
	p.send(batch)
	assert.Equal(t, -32600, p.answer().Error.Code, "the next version has none any more")
}
