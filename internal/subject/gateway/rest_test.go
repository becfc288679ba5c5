package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/subject"
)

// TestREST: the requests go out as the file tells them, filled in, and an error in an answer is one.
func TestREST(t *testing.T) {
	var asked []string
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body any
		_ = json.NewDecoder(r.Body).Decode(&body)
		text, _ := json.Marshal(body)
		asked = append(asked, r.Method+" "+r.URL.EscapedPath()+" "+string(text))
		if r.URL.Path == "/rpc" {
			_, _ = w.Write([]byte(`{"jsonrpc": "2.0", "error": {"message": "no such tool"}}`))
		}
	}))
	defer hub.Close()
	body := func(text string) (m map[string]any) {
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		return m
	}
	p := params{GatewayParams: subject.GatewayParams{Requests: subject.Requests{
		Open:  []subject.Request{{Method: "POST", Path: "/servers", Body: body(`{"name": "{{session}}", "run": ["{{server.command}}", {"args": "{{server.args}}"}]}`)}},
		Call:  []subject.Request{{Method: "PUT", Path: "/{{session}}/{{tool}}", Body: body(`{"a": "{{args}}"}`)}, {Method: "POST", Path: "/rpc"}},
		Close: []subject.Request{{Method: "DELETE", Path: "/{{session}}"}},
	}}, url: hub.URL, session: "a b", server: driver.Server{Name: "x", Command: "cmd", Args: []string{"-1", "2"}}}
	c, err := connectREST(context.Background(), p, newWire())
	require.NoError(t, err)
	_, err = c.Call(context.Background(), "echo", map[string]any{"n": 1})
	require.ErrorContains(t, err, "no such tool")
	require.NoError(t, c.Close())
	assert.Equal(t, []string{
		`POST /servers {"name":"a b","run":["cmd",{"args":["-1","2"]}]}`, `PUT /a%20b/echo {"a":{"n":1}}`, "POST /rpc null", "DELETE /a%20b null",
	}, asked)
}
