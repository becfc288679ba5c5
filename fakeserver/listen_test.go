package fakeserver_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// TestListen: a subscription is acknowledged, stays open, and holds nothing up: neither other requests, nor the end.
func TestListen(t *testing.T) {
	t.Parallel()
	listen := `{"jsonrpc":"2.0","id":9,"method":"subscriptions/listen","params":{` + meta + `,"notifications":{"toolsListChanged":true,"promptsListChanged":true}}}`
	b := one(t, fakeserver.EraModern)
	p, id := b.launch("s")
	p.send(discover)
	assert.Contains(t, p.answer().raw, `"tools":{"listChanged":true}`)
	p.send(listen)
	line, err := p.recv()
	require.NoError(t, err)
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{`+
		`"_meta":{"io.modelcontextprotocol/subscriptionId":9},"notifications":{"toolsListChanged":true}}}`, line)
	p.send(strings.Replace(listen, `"toolsListChanged":true,`, "", 1))
	assert.Equal(t, -32600, p.answer().Error.Code, "the first one is open: its id is in use")
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
	p.send(strings.Replace(listen, `"toolsListChanged":true,`, "", 1))
	line, err = p.recv()
	require.NoError(t, err)
	assert.Contains(t, line, `"notifications":{}`, "what the server does not offer is left out")
	require.NoError(t, p.in.Close())
	rest, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	assert.Empty(t, string(rest))
	assert.Equal(t, 0, p.status())
	b.awaitKind(id, record.Died)
	var told []string
	for _, m := range b.messages(id) {
		told = append(told, string(m.Method)+" "+m.ID+" "+string(m.Phase))
	}
	assert.Equal(t, []string{
		"server/discover 1 received", "server/discover 1 answered", "subscriptions/listen 9 received", "subscriptions/listen 9 received",
		"notifications/cancelled 9 received", "subscriptions/listen 9 received",
	}, told)

	legacy, _ := one(t, "").launch("s")
	legacy.greet()
	legacy.send(listen)
	assert.Equal(t, -32601, legacy.answer().Error.Code, "an older server does not know it")
}

// messages are those that a server told of.
func (b *lab) messages(id string) (all []record.RPCInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.events {
		if e.Server == id && e.Kind == record.RPC {
			all = append(all, *e.RPC)
		}
	}
	return all
}
