package server

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// peer is the server's side of a wire, in the process of the test.
type peer struct {
	*wire
	in  *bufio.Scanner
	out *os.File

	mu     sync.Mutex
	strays []string
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	inR, inW, err := os.Pipe()
	require.NoError(t, err)
	outR, outW, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { inR.Close(); inW.Close(); outR.Close(); outW.Close() })
	p := &peer{in: bufio.NewScanner(inR), out: outW}
	p.wire = newWire(inW, outR, func(what string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.strays = append(p.strays, what)
	})
	return p
}

func (p *peer) seen() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.strays
}

// TestStrays: what is no message is told, and what is one is not.
func TestStrays(t *testing.T) {
	t.Parallel()
	for line, what := range map[string]string{
		`hello`:                            `"hello"`,
		``:                                 `an empty line`,
		`{"method":"x"}`:                   `"{\"method\":\"x\"}"`, // no version
		`{"jsonrpc":"2.0","id":1}`:         `"{\"jsonrpc\":\"2.0\",\"id\":1}"`,
		`[]`:                               `"[]"`,
		`"text"`:                           `"\"text\""`,
		`{"jsonrpc":"2.0","method":"n"}`:   "",
		`[{"jsonrpc":"2.0","method":"n"}]`: "",
		` {"jsonrpc":"2.0","method":"n"} ` + "\r":                             "",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}`: "",
	} {
		p := newPeer(t)
		fmt.Fprintln(p.out, line)
		p.out.Close()
		<-p.over
		if what == "" {
			assert.Empty(t, p.seen(), line)
		} else {
			assert.Equal(t, []string{what}, p.seen(), line)
		}
	}
	p := newPeer(t)
	fmt.Fprint(p.out, "half a li")
	p.out.Close()
	<-p.over
	assert.Equal(t, []string{`a line without its end: "half a li"`}, p.seen())
}

// TestAsk: an answer finds its request, whatever order the answers come in; an error is one; silence and the end are told apart.
func TestAsk(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	ctx := context.Background()
	first, err := p.begin("a", nil)
	require.NoError(t, err)
	second, err := p.begin("b", nil)
	require.NoError(t, err)
	fmt.Fprintln(p.out, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"no"}}`)
	fmt.Fprintln(p.out, `{"jsonrpc":"2.0","id":1,"result":{"x":1}}`)
	result, err := first(ctx)
	require.NoError(t, err)
	assert.JSONEq(t, `{"x":1}`, string(result))
	_, err = second(ctx)
	assert.True(t, isRefusal(err))
	require.EqualError(t, err, `it answered error -32000: "no"`)
	_, err = p.ask(ctx, time.Millisecond, "c", nil)
	require.ErrorIs(t, err, errSilent)
	third, err := p.begin("d", nil)
	require.NoError(t, err)
	p.out.Close()
	_, err = third(ctx)
	require.ErrorIs(t, err, errHungUp)
	assert.Equal(t, []string{"no answer", "stdout closed", "refused", ""}, []string{
		detailOf(errSilent), detailOf(errHungUp), detailOf(&refusal{}), detailOf(nil),
	})
}

// TestServersQuestionsAreAnswered: a ping is, and all else is refused.
func TestServersQuestionsAreAnswered(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	fmt.Fprintln(p.out, `{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	require.True(t, p.in.Scan())
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":"p","result":{}}`, p.in.Text())
	fmt.Fprintln(p.out, `{"jsonrpc":"2.0","id":"r","method":"roots/list"}`)
	require.True(t, p.in.Scan())
	assert.Contains(t, p.in.Text(), `-32601`)
}

// TestHangUp ends the reading, and what is written from then on fails.
func TestHangUp(t *testing.T) {
	t.Parallel()
	p := newPeer(t)
	p.hangUp()
	_, err := fmt.Fprintln(p.out, "x")
	require.Error(t, err)
	assert.Empty(t, p.seen())
	_, err = p.ask(context.Background(), time.Minute, "a", nil)
	assert.ErrorIs(t, err, errHungUp)
}
