package leaktest

import (
	"context"
	"errors"
	"io"
	"reflect"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
	gosdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

// TestMethodsOfPublishedClients: the request and the result of each SDK are filled in and read as its users do.
func TestMethodsOfPublishedClients(t *testing.T) {
	t.Parallel()
	args := map[string]any{"text": "hi"}
	for name, method := range map[string]any{
		"mcp-go": (&mcpgo.Client{}).CallTool, "go-sdk": (&gosdk.ClientSession{}).CallTool,
	} {
		assert.NotNil(t, fitting(reflect.ValueOf(method)), name)
	}
	theirs, ok := request(reflect.TypeFor[mcp.CallToolRequest](), "echo", args).Interface().(mcp.CallToolRequest)
	require.True(t, ok)
	assert.Equal(t, "echo", theirs.Params.Name)
	assert.Equal(t, args, theirs.GetArguments())
	official, ok := request(reflect.TypeFor[*gosdk.CallToolParams](), "echo", args).Interface().(*gosdk.CallToolParams)
	require.True(t, ok)
	assert.Equal(t, &gosdk.CallToolParams{Name: "echo", Arguments: args}, official)

	for name, result := range map[string]any{
		"mcp-go": &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("a"), mcp.NewImageContent("", ""), mcp.NewTextContent("b")}},
		"go-sdk": &gosdk.CallToolResult{Content: []gosdk.Content{&gosdk.TextContent{Text: "a"}, &gosdk.ImageContent{}, &gosdk.TextContent{Text: "b"}}},
	} {
		text, err := textOf(reflect.ValueOf(result))
		require.NoError(t, err, name)
		assert.Equal(t, "a\nb", text, name)
	}
	_, err := textOf(reflect.ValueOf(&gosdk.CallToolResult{IsError: true, Content: []gosdk.Content{&gosdk.TextContent{Text: "no"}}}))
	require.EqualError(t, err, "the tool failed: no")
	text, err := textOf(reflect.ValueOf((*mcp.CallToolResult)(nil)))
	require.NoError(t, err)
	assert.Empty(t, text)
}

type words string

type bare struct{ io.Closer }

type plain struct{ bare }

func (plain) Call(_ context.Context, tool string, args map[string]any) (string, error) {
	if tool == "fail" {
		return "", errors.New("it failed")
	}
	return tool + " " + args["text"].(string), nil
}

type parts struct{ bare }

func (parts) CallTool(_ context.Context, tool words, args any, _ ...int) (struct{ Content []struct{ Text string } }, error) {
	return struct{ Content []struct{ Text string } }{[]struct{ Text string }{{string(tool)}, {args.(map[string]any)["text"].(string)}}}, nil
}

// asked has both: CallTool is no such method, and Call is.
type asked struct{ plain }

func (asked) CallTool(context.Context) error { return errors.New("not this one") }

// others are methods of that name that call no tool.
type (
	noContext struct{ bare }
	noError   struct{ bare }
	number    struct{ bare }
	nameless  struct{ bare }
)

func (noContext) Call(string, map[string]any, int) (string, error)                { return "", nil }
func (noError) Call(context.Context, string, map[string]any) string               { return "" }
func (number) Call(context.Context, string, map[string]any) (int, error)          { return 0, nil }
func (nameless) Call(context.Context, struct{ Arguments any }) (string, error)    { return "", nil }
func (nameless) CallTool(context.Context, *struct{ Name string }) (string, error) { return "", nil }

// TestCallsByShape: what fits is called, what does not is not, and what the test gives goes before both.
func TestCallsByShape(t *testing.T) {
	t.Parallel()
	args := map[string]any{"text": "hi"}
	for want, c := range map[string]io.Closer{"echo hi": plain{}, "echo\nhi": parts{}} {
		text, err := callsOf(c, nil)(t.Context(), "echo", args)
		require.NoError(t, err)
		assert.Equal(t, want, text)
	}
	text, err := callsOf(asked{}, nil)(t.Context(), "echo", args)
	require.NoError(t, err)
	assert.Equal(t, "echo hi", text)
	_, err = callsOf(plain{}, nil)(t.Context(), "fail", args)
	require.EqualError(t, err, "it failed")
	for _, c := range []io.Closer{bare{}, noContext{}, noError{}, number{}, nameless{}} {
		_, err := callsOf(c, nil)(t.Context(), "echo", args)
		var not *driver.NotPlayed
		require.ErrorAs(t, err, &not, "%T", c)
		assert.Contains(t, not.Why, "your client's own reconnect was not played: pass call")
	}
	given := func(_ context.Context, c io.Closer, tool string, _ map[string]any) (string, error) {
		return tool + " given", c.(plain).Close()
	}
	text, err = callsOf(plain{bare{io.NopCloser(nil)}}, given)(t.Context(), "echo", nil)
	require.NoError(t, err)
	assert.Equal(t, "echo given", text)
}
