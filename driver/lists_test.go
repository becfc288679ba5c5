package driver_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

// lister is a client that has a list.
type lister struct{ driver.Client }

func (lister) List(_ context.Context, what string) ([]string, error) {
	if what == driver.ListPrompts {
		return nil, errors.New("it has no prompts")
	}
	return []string{what}, nil
}

func (lister) Close() error { return nil }

// TestListIsOfferedByThoseWhoCan: by the type that connect returns, and by no other.
func TestListIsOfferedByThoseWhoCan(t *testing.T) {
	t.Parallel()
	able := driver.NewClients(func(context.Context, string, driver.Server) (lister, error) { return lister{}, nil })
	unable := driver.NewClients(func(context.Context, string, driver.Server) (driver.Client, error) { return lister{}, nil })
	for name, c := range map[string]struct {
		h      driver.Handler
		offers bool
	}{"able": {able, true}, "unable": {unable, false}, "no lister": {struct{ driver.Handler }{}, false}} {
		var out bytes.Buffer
		require.ErrorIs(t, driver.Serve(t.Context(), strings.NewReader(""), &out, driver.Hello{}, c.h), driver.ErrBenchGone)
		assert.Equal(t, c.offers, strings.Contains(out.String(), `"list"`), "%s: %s", name, &out)
	}
}

// TestList: the names come back in their order, an error as an error, and what there is no list of is refused.
func TestList(t *testing.T) {
	t.Parallel()
	in, bench := io.Pipe()
	answers, out := io.Pipe()
	h := driver.NewClients(func(context.Context, string, driver.Server) (lister, error) { return lister{}, nil })
	go func() { _ = driver.Serve(t.Context(), in, out, driver.Hello{}, h) }()
	t.Cleanup(func() { bench.Close(); answers.Close() })
	line := lineReader(answers)
	line()
	for _, c := range [][2]string{
		{`{"id":1,"op":"open","session":"s","server":{"name":"x"}}`, `{"id":1,"ok":true}`},
		{`{"id":2,"op":"list","session":"s","what":"tools"}`, `{"id":2,"ok":true,"result":["tools"]}`},
		{`{"id":3,"op":"list","session":"s","what":"prompts"}`, `{"id":3,"error":"it has no prompts"}`},
		{`{"id":4,"op":"list","session":"s","what":"hats"}`, `{"id":4,"error":"list needs what: one of tools, resources, prompts"}`},
		{`{"id":5,"op":"list","session":"t","what":"tools"}`, `{"id":5,"error":"no session \"t\""}`},
	} {
		_, err := io.WriteString(bench, c[0]+"\n")
		require.NoError(t, err)
		assert.Equal(t, c[1], line())
	}
}

// lineReader reads one line at a time.
func lineReader(r io.Reader) func() string {
	return func() string {
		var line []byte
		b := make([]byte, 1)
		for {
			if _, err := io.ReadFull(r, b); err != nil || b[0] == '\n' {
				return string(line)
			}
			line = append(line, b[0])
		}
	}
}
