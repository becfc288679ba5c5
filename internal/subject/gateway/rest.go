package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/subject"
)

// closeTimeout is for the requests of a close.
const closeTimeout = 30 * time.Second

// restClient has a hub add, use and remove a server, by requests that the host file tells.
type restClient struct {
	openAPIClient
	params
}

func connectREST(ctx context.Context, p params, w *wire) (transportClient, error) {
	c := &restClient{openAPIClient{url: strings.TrimSuffix(p.url, "/"), headers: p.Headers, wire: w}, p}
	if _, err := c.ask(ctx, p.Requests.Open, c.words()); err != nil {
		w.cut()
		return nil, fmt.Errorf("failed to connect: %w", err)
	}
	return c, nil
}

// words are what the placeholders of a request stand for.
func (c *restClient) words() map[string]any {
	args := lists.Map(c.server.Args, func(arg string) any { return arg })
	return map[string]any{"label": c.server.Name, "session": c.session, "server.command": c.server.Command, "server.args": args}
}

// Call calls a tool.
func (c *restClient) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	words := c.words()
	words["tool"], words["args"] = tool, args
	return c.ask(ctx, c.Requests.Call, words)
}

// Close has the hub remove the server.
func (c *restClient) Close() error {
	defer c.wire.cut()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_, err := c.ask(ctx, c.Requests.Close, c.words())
	return err
}

// ask sends requests in their order, and returns the last answer. An answer with an error in it, as JSON-RPC has it, is a failure.
func (c *restClient) ask(ctx context.Context, requests []subject.Request, words map[string]any) (answer string, err error) {
	for _, r := range requests {
		body, err := json.Marshal(fill(r.Body, words))
		if err != nil {
			return "", err
		}
		if len(r.Body) == 0 {
			body = nil
		}
		text, err := c.do(ctx, r.Method, fillPath(r.Path, words), bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		var said struct {
			Error   any  `json:"error"`
			IsError bool `json:"isError"`
		}
		if json.Unmarshal(text, &said) == nil && (said.IsError || said.Error != nil && said.Error != false && said.Error != "") {
			return "", errors.New(string(text[:min(len(text), 1000)]))
		}
		answer = string(text)
	}
	return answer, nil
}

// fillPath fills the words of a path, each as one part of it.
func fillPath(path string, words map[string]any) string {
	for name, word := range words {
		if text, ok := word.(string); ok {
			path = strings.ReplaceAll(path, "{{"+name+"}}", url.PathEscape(text))
		}
	}
	return path
}

// fill fills the words of a value. A text that is nothing else becomes the word itself, a list or an object too.
func fill(v any, words map[string]any) any {
	switch v := v.(type) {
	case string:
		for name, word := range words {
			if v == "{{"+name+"}}" {
				return word
			}
			if text, ok := word.(string); ok {
				v = strings.ReplaceAll(v, "{{"+name+"}}", text)
			}
		}
		return v
	case map[string]any:
		out := map[string]any{}
		for k, inner := range v {
			out[k] = fill(inner, words)
		}
		return out
	case []any:
		return lists.Map(v, func(inner any) any { return fill(inner, words) })
	}
	return v
}
