package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 4 << 20

// openAPIClient calls a tool by a POST of its arguments to URL/TOOL. Nothing of
// it is a session: to connect is to ask for the description.
type openAPIClient struct {
	url     string
	headers http.Header
	wire    *wire
}

func connectOpenAPI(ctx context.Context, p params, w *wire) (transportClient, error) {
	c := &openAPIClient{url: strings.TrimSuffix(p.url, "/"), headers: p.Headers, wire: w}
	if _, err := c.do(ctx, http.MethodGet, "/openapi.json", nil); err != nil {
		w.cut()
		return nil, fmt.Errorf("failed to connect: %w", err)
	}
	return c, nil
}

func (c *openAPIClient) do(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.url+path, body)
	if err != nil {
		return nil, err
	}
	for k, v := range c.headers {
		req.Header[k] = v
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := c.wire.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s: %.1000s", res.Status, text)
	}
	return text, err
}

// Call calls a tool.
func (c *openAPIClient) Call(ctx context.Context, tool string, args map[string]any) (string, error) {
	body, err := json.Marshal(args)
	if err != nil {
		return "", err
	}
	text, err := c.do(ctx, http.MethodPost, "/"+tool, bytes.NewReader(body))
	return string(text), err
}

// Close drops the connections: there is no session to end.
func (c *openAPIClient) Close() error {
	c.wire.cut()
	return nil
}

// Forget is the same.
func (c *openAPIClient) Forget() { c.wire.cut() }
