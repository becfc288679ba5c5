package fakeserver_test

import (
	"encoding/json"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// TestOrdersOverThePipes: what a script can do at a moment of its own, a
// scenario can ask for at any.
func TestOrdersOverThePipes(t *testing.T) {
	t.Parallel()
	for order, prove := range map[string]func(*testing.T, *lab, *process){
		`{"do":"garbage"}`: func(t *testing.T, _ *lab, p *process) {
			line, err := p.recv()
			require.NoError(t, err)
			assert.False(t, json.Valid([]byte(line)))
			p.lives()
		},
		`{"do":"list-changed"}`: func(t *testing.T, _ *lab, p *process) {
			assert.Contains(t, changed(t, p), "notifications/tools/list_changed")
			p.send(listTools)
			assert.Nil(t, p.answer().Error)
		},
		`{"do":"list-changed","as":"reject"}`: func(t *testing.T, b *lab, p *process) {
			assert.Contains(t, changed(t, p), "notifications/tools/list_changed")
			p.send(listTools)
			assert.NotNil(t, p.answer().Error)
			b.await("reject", func(e record.Event) bool { return e.Fault != nil && e.Fault.On == "list" && e.Fault.Breaks })
			p.lives()
		},
		`{"do":"banner"}`: func(t *testing.T, _ *lab, p *process) {
			p.send(callEcho)
			assert.Len(t, noise(t, p), 4)
			p.lives()
		},
		`{"do":"partial"}`: func(t *testing.T, b *lab, p *process) { provePartialNotification(t, b, p) },
		`{"do":"bad-utf8"}`: func(t *testing.T, b *lab, p *process) {
			proveBadUTF8(t, b, p, fakeserver.Fault{})
		},
		`{"do":"long-line","mib":1}`: func(t *testing.T, b *lab, p *process) {
			proveLongLine(t, b, p, fakeserver.Fault{MiB: 1})
		},
		`{"do":"stop-reading"}`: func(t *testing.T, b *lab, p *process) { proveStuffed(t, b, p) },
		`{"do":"spin"}`: func(t *testing.T, _ *lab, p *process) {
			awaitBusy(t, p)
			p.send(callEcho) // never answered: the first thread is busy too from now on
			assertSpins(t, p)
			require.NoError(t, p.in.Close())
			assertSpins(t, p)
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			assert.Equal(t, 0, p.status())
			rest, err := io.ReadAll(p.lines)
			require.NoError(t, err)
			assert.Empty(t, string(rest))
		},
		`{"do":"ignore-term"}`: func(t *testing.T, _ *lab, p *process) {
			require.Eventually(t, func() bool { return signalMasks(t, p).ignored(syscall.SIGTERM) }, patience, time.Millisecond)
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			p.lives()
		},
		`{"do":"swell","mib":50,"step":10,"each":"1ms"}`: func(t *testing.T, _ *lab, p *process) {
			require.Eventually(t, func() bool { return rss(t, p.cmd.Process.Pid) >= 50<<20 }, patience, time.Millisecond)
			p.lives()
		},
	} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			b := one(t, "")
			p, id := b.launch("s")
			p.greet()
			b.await("greeting", func(e record.Event) bool { return e.RPC != nil && e.RPC.Method == "notifications/initialized" })
			require.NoError(t, b.ledger.Order(id, json.RawMessage(order)))
			assert.Equal(t, record.OnOrder, b.awaitKind(id, record.Faulted).Fault.On)
			prove(t, b, p)
		})
	}
}

func provePartialNotification(t *testing.T, b *lab, p *process) {
	beginsALine(t, p)
	p.send(callEcho)
	b.await("call", func(e record.Event) bool { return e.RPC != nil && e.RPC.Method == "tools/call" })
	require.NoError(t, p.in.Close())
	rest, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	assert.NotContains(t, string(rest), "\n")
}

// TestOrderedFlood leaves the bench in command: the next order is obeyed.
func TestOrderedFlood(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	b := one(t, "")
	p, id := b.launchWith("s", w)
	_ = w.Close()
	p.greet()
	require.NoError(t, b.ledger.Order(id, json.RawMessage(`{"do":"flood-stderr"}`)))
	head := make([]byte, 1000)
	_, err = io.ReadFull(r, head)
	require.NoError(t, err)
	assert.Contains(t, string(head), "WARN")
	require.NoError(t, b.ledger.Order(id, json.RawMessage(`{"do":"exit","code":4}`)))
	assert.Equal(t, 4, p.status())
}

// changed is the next line of a server that was told to say that its tools have changed.
func changed(t *testing.T, p *process) string {
	t.Helper()
	line, err := p.recv()
	require.NoError(t, err)
	return line
}
