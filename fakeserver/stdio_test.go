package fakeserver_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// proofs are those that need the bench's view, or more than a few lines.
var proofs = map[string]func(*testing.T, *lab, *process, fakeserver.Fault){
	"progress": proveProgress, "banner": proveBanner, "partial": provePartial, "bad-utf8": proveBadUTF8,
	"long-line": proveLongLine, "flood-stderr": proveFlood, "stop-reading": proveStopReading, "spin": proveSpin,
	"swell": proveSwell,
}

func proveProgress(t *testing.T, _ *lab, p *process, _ fakeserver.Fault) {
	next := func() (method string, token, n any) {
		line, err := p.recv()
		require.NoError(t, err)
		var m struct {
			Method string
			ID     any
			Params map[string]any
		}
		require.NoError(t, json.Unmarshal([]byte(line), &m))
		if m.ID == "alive" {
			return "pong", nil, nil
		}
		require.Equal(t, "notifications/progress", m.Method)
		return m.Method, m.Params["progressToken"], m.Params["progress"]
	}
	_, token, first := next()
	assert.NotNil(t, token)
	_, _, second := next()
	assert.Greater(t, second, first)
	// Other requests are answered meanwhile, and a cancel changes nothing.
	p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
	p.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	for method := ""; method != "pong"; {
		method, _, _ = next()
	}
	for range 3 {
		method, _, _ := next()
		assert.Equal(t, "notifications/progress", method)
	}
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
}

func TestProgressUsesTheHostsToken(t *testing.T) {
	t.Parallel()
	p, _ := one(t, "", fakeserver.Fault{On: "call", Do: "progress"}).launch("s")
	p.greet()
	p.send(strings.Replace(callEcho, `"params":{`, `"params":{"_meta":{"progressToken":"mine"},`, 1))
	line, err := p.recv()
	require.NoError(t, err)
	assert.JSONEq(t, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1,"progressToken":"mine"}}`, line)
}

func proveBanner(t *testing.T, _ *lab, p *process, _ fakeserver.Fault) {
	require.Len(t, noise(t, p), 4)
	p.lives()
}

// noise is the lines before the next answer that are no JSON-RPC.
func noise(t *testing.T, p *process) []string {
	t.Helper()
	var lines []string
	for {
		line, err := p.recv()
		require.NoError(t, err)
		var m struct{ JSONRPC string }
		if json.Unmarshal([]byte(line), &m) == nil && m.JSONRPC == "2.0" {
			return lines
		}
		lines = append(lines, line)
	}
}

func provePartial(t *testing.T, b *lab, p *process, _ fakeserver.Fault) {
	beginsALine(t, p)
	p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	b.await("ping", func(e record.Event) bool { return e.RPC != nil && e.RPC.Method == "ping" })
	assert.True(t, p.running())
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	rest, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	assert.NotEmpty(t, rest)
	assert.NotContains(t, string(rest), "\n", "the line has no end")
	assert.NotContains(t, string(rest), `"p"`, "and the ping no answer")
}

// TestPartialOfASize: exactly so many bytes come, fewer than a message has or more than a pipe holds, and no line's end.
func TestPartialOfASize(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 20, 100_000} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: "call", Do: "partial", Bytes: size})
			p, id := b.launch("s")
			p.greet()
			p.send(callEcho)
			assert.Contains(t, b.awaitKind(id, record.Faulted).Fault.Detail, strconv.Itoa(size)+" bytes")
			head := make([]byte, size)
			_, err := io.ReadFull(p.lines, head)
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(`{"jsonrpc":"2.0","id":`, string(head[:min(size, 22)])), "%.40s", head)
			require.NoError(t, p.in.Close())
			assert.Equal(t, 0, p.status())
			rest, err := io.ReadAll(p.lines)
			require.NoError(t, err)
			assert.Empty(t, rest)
			assert.NotContains(t, string(head), "\n")
		})
	}
}

// beginsALine reads the beginning of a message.
func beginsALine(t *testing.T, p *process) {
	t.Helper()
	const begun = `{"jsonrpc":"2.0",`
	head := make([]byte, len(begun))
	_, err := io.ReadFull(p.lines, head)
	require.NoError(t, err)
	require.True(t, string(head) == begun, "%q", head) //nolint:testifylint // it is half a JSON text
}

func proveBadUTF8(t *testing.T, _ *lab, p *process, _ fakeserver.Fault) {
	line, err := p.recv()
	require.NoError(t, err)
	assert.False(t, utf8.ValidString(line))
	assert.True(t, json.Valid([]byte(strings.ToValidUTF8(line, "?"))), "the bytes are all that is wrong")
	assert.Contains(t, line, "\xff")
	p.lives()
}

func proveLongLine(t *testing.T, _ *lab, p *process, f fakeserver.Fault) {
	line, err := p.recv()
	require.NoError(t, err)
	assert.Greater(t, len(line), f.MiB<<20)
	assert.True(t, json.Valid([]byte(line)))
	p.lives()
}

func TestLongLineIs16MiB(t *testing.T) {
	t.Parallel()
	p, _ := one(t, "", fakeserver.Fault{On: "call", Do: "long-line"}).launch("s")
	p.greet()
	p.send(callEcho)
	r := p.answer()
	assert.Greater(t, len(r.raw), 16<<20)
	assert.Less(t, len(r.raw), 16<<20+1000)
	assert.Equal(t, "hi", at(r.Result, "content.0.text"), "it is the right answer all the same")
}

// TestLongLineHidesNoEnd: the host stops in the middle of the line.
func TestLongLineHidesNoEnd(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "initialize", Do: "long-line"})
	p, id := b.launch("s")
	p.send(initialize)
	_, err := io.ReadFull(p.lines, make([]byte, 1<<20))
	require.NoError(t, err)
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	b.awaitKind(id, record.Bye)
}

func proveFlood(t *testing.T, _ *lab, p *process, _ fakeserver.Fault) {
	assert.NotEmpty(t, p.answer().raw)
	p.lives()
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	assert.Equal(t, 1<<20, p.stderr.Len())
}

// TestFloodBlocks: with a stderr that nobody reads the server comes to a halt
// at what a pipe holds, and goes on when it is read.
func TestFloodBlocks(t *testing.T) {
	t.Parallel()
	for _, on := range []string{"start", "call", "eof"} {
		t.Run(on, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: on, Do: "flood-stderr", MiB: 2})
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			p, id := b.launchWith("s", w)
			_ = w.Close()
			switch on {
			case "start":
				p.send(initialize)
			case "call":
				p.greet()
				p.send(callEcho)
			case "eof":
				require.NoError(t, p.in.Close())
			}
			b.awaitKind(id, record.Faulted)
			awaitPipeWrite(t, p, 2)
			assert.Contains(t, b.awaitKind(id, record.WroteStderr).Text, "1024 KiB, which begin: WARN leakbench-fakeserver", "told before anybody reads it")
			assert.NotContains(t, b.story(), "somebody has read it")
			assert.True(t, p.running())
			n, err := io.Copy(io.Discard, io.LimitReader(r, 2<<20))
			require.NoError(t, err)
			assert.Equal(t, int64(2<<20), n)
			b.await("word of the reader", func(e record.Event) bool {
				return e.Kind == record.WroteStderr && e.Text == "somebody has read it: 1024 KiB went out"
			})
			if on != "eof" {
				assert.Nil(t, p.answer().Error)
				require.NoError(t, p.in.Close())
			}
			assert.Equal(t, 0, p.status())
		})
	}
}

func proveStopReading(t *testing.T, b *lab, p *process, _ fakeserver.Fault) {
	p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	proveStuffed(t, b, p)
	rest, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	assert.Empty(t, string(rest), "nothing was answered")
}

func proveStuffed(t *testing.T, b *lab, p *process) {
	t.Helper()
	assertStuffed(t, p)
	require.NoError(t, p.in.Close())
	assertIdle(t, p)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, p.status())
	assert.NotContains(t, b.story(), `"kind":"eof"`)
}

// assertStuffed: what the host writes to stdin no longer goes anywhere.
func assertStuffed(t *testing.T, p *process) {
	t.Helper()
	line := []byte(`{"jsonrpc":"2.0","method":"notifications/none","params":"` + strings.Repeat("x", 1000) + `"}` + "\n")
	written := 0
	for {
		require.NoError(t, p.in.SetWriteDeadline(time.Now().Add(300*time.Millisecond)))
		n, err := p.in.Write(line)
		written += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		require.NoError(t, err)
		require.Less(t, written, 4<<20, "somebody still reads")
	}
	// A pipe holds 64 KiB (pipe(7)), the server's buffer a little more.
	assert.Less(t, written, 256<<10)
}

func proveSpin(t *testing.T, b *lab, p *process, _ fakeserver.Fault) {
	assertSpins(t, p)
	p.send(`{"jsonrpc":"2.0","id":"p","method":"ping"}`)
	require.NoError(t, p.in.Close())
	assertSpins(t, p)
	assert.NotContains(t, b.story(), `"ping"`, "it does nothing else")
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, p.status())
}

func proveSwell(t *testing.T, _ *lab, p *process, f fakeserver.Fault) {
	pid := p.cmd.Process.Pid
	assert.Nil(t, p.answer().Error)
	resident := []int64{rss(t, pid)}
	for range 4 {
		p.send(callEcho)
		assert.Nil(t, p.answer().Error)
		resident = append(resident, rss(t, pid))
	}
	// A little goes and comes beside it: pages of the executable.
	const slack = 8 << 20
	step := int64(f.Step) << 20
	assert.GreaterOrEqual(t, resident[0], step)
	assert.GreaterOrEqual(t, resident[1]-resident[0], step-slack, "%v", resident)
	assert.GreaterOrEqual(t, resident[2], int64(f.MiB)<<20)
	assert.Less(t, resident[4]-resident[2], step-slack, "it is bounded: %v", resident)
}

// TestPing: slow, failing and silent pings, of a server that else works.
func TestPing(t *testing.T) {
	t.Parallel()
	const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	const slow = 200 * time.Millisecond
	works := func(t *testing.T, p *process) {
		p.send(strings.Replace(callEcho, `"id":3`, `"id":"x"`, 1))
		assert.Equal(t, "hi", at(p.answer().Result, "content.0.text"))
	}
	for do, prove := range map[string]func(*testing.T, *process){
		"reject": func(t *testing.T, p *process) { assert.NotNil(t, p.answer().Error); works(t, p) },
		"hang":   works,
		"garbage": func(t *testing.T, p *process) {
			line, err := p.recv()
			require.NoError(t, err)
			assert.False(t, json.Valid([]byte(line)))
			works(t, p)
		},
		"delay": func(t *testing.T, p *process) {
			begun := time.Now()
			works(t, p) // which is not held up
			assert.JSONEq(t, `{"jsonrpc":"2.0","id":"p","result":{}}`, p.answer().raw)
			assert.GreaterOrEqual(t, time.Since(begun), slow-50*time.Millisecond)
		},
		"exit": func(t *testing.T, p *process) { assert.Equal(t, 0, p.status()) },
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			f := fakeserver.Fault{On: "ping", Do: do}
			if do == "delay" {
				f.For = fakeserver.Duration(slow)
			}
			b := one(t, "", f)
			p, id := b.launch("s")
			p.greet()
			p.send(ping)
			prove(t, p)
			assert.True(t, b.awaitKind(id, record.Faulted).Fault.Breaks)
		})
	}
}

// TestAnswersPingButNeverInitialize is what hang does there.
func TestAnswersPingButNeverInitialize(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "initialize", Do: "hang"})
	p, id := b.launch("s")
	p.send(initialize)
	for range 3 {
		p.lives()
	}
	assert.NotContains(t, b.calls(id), "initialize answered")
}

func TestStartBanner(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "start", Do: "banner"})
	p, _ := b.launch("s")
	p.send(initialize)
	assert.Len(t, noise(t, p), 4)
}
