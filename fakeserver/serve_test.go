package fakeserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

func TestSleepHoldsNothingUp(t *testing.T) {
	t.Parallel()
	b := one(t, "")
	p, id := b.launch("s")
	p.greet()
	p.send(callSleep, callSleep[:len(callSleep)-1]+` `+`}`)
	p.lives0(t)
	// The end of stdin ends it too, without an answer.
	require.NoError(t, p.in.Close())
	_, err := p.recv()
	require.ErrorIs(t, err, io.EOF)
	assert.Equal(t, 0, p.status())
	b.awaitKind(id, record.Died)
	assert.Contains(t, b.calls(id), "tools/call received")
	assert.NotContains(t, b.calls(id), "tools/call answered")
}

// lives0 is lives where the answer to a second request with the same id comes
// in between.
func (p *process) lives0(t *testing.T) {
	r := p.answer()
	require.NotNil(t, r.Error)
	assert.Contains(t, r.Error.Message, "in use")
	p.lives()
}

func TestCancelledCallIsNotAnswered(t *testing.T) {
	t.Parallel()
	modernSleep := strings.Replace(callSleep, `"params":{`, `"params":{`+meta+`,`, 1)
	for _, era := range []string{fakeserver.EraLegacy, fakeserver.EraModern} {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			b := one(t, era)
			p, id := b.launch("s")
			if era == fakeserver.EraLegacy {
				p.greet()
				p.send(callSleep)
			} else {
				p.send(modernSleep)
			}
			p.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4,"reason":"t"}}`)
			require.NoError(t, p.in.Close())
			rest, err := io.ReadAll(p.lines)
			require.NoError(t, err)
			assert.Empty(t, string(rest))
			assert.Equal(t, 0, p.status())
			b.awaitKind(id, record.Died)
			calls := b.calls(id)
			assert.Equal(t, []string{"tools/call received", "notifications/cancelled received"}, calls[len(calls)-2:])
		})
	}
}

func TestCancelEndsTheSleep(t *testing.T) {
	t.Parallel()
	p, _ := one(t, "").launch("s")
	p.greet()
	p.send(callSleep, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`)
	// The id is free again, so the first call is off the books.
	p.send(strings.Replace(callEcho, `"id":3`, `"id":4`, 1))
	assert.Equal(t, "hi", at(p.answer().Result, "content.0.text"))
}

// TestPipedRequestsAreAnswered: the end of stdin right behind a request does
// not take its answer away.
func TestPipedRequestsAreAnswered(t *testing.T) {
	t.Parallel()
	p := start(t, "fakeserver")
	p.send(initialize, listTools, callEcho)
	require.NoError(t, p.in.Close())
	rest, err := io.ReadAll(p.lines)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(rest), `"result"`), string(rest))
	assert.Equal(t, 0, p.status())
}

// TestFullStdoutHidesNothing: a host that stops reading still gets rid of the
// server by closing stdin.
func TestFullStdoutHidesNothing(t *testing.T) {
	t.Parallel()
	b := one(t, "")
	p, id := b.launch("s")
	p.greet()
	long := strings.Replace(callEcho, `"hi"`, strconv.Quote(strings.Repeat("x", 100_000)), 1)
	for i := range 5 {
		p.send(strings.Replace(long, `"id":3`, `"id":"f`+strconv.Itoa(i)+`"`, 1))
	}
	b.await("fifth call", func(e record.Event) bool { return e.RPC != nil && e.RPC.ID == `"f4"` })
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	b.awaitKind(id, record.Bye)
}

// TestBrokenPipes: neither a closed stdout nor a closed stderr ends it.
func TestBrokenPipes(t *testing.T) {
	t.Parallel()
	b := one(t, "")
	p, id := b.launch("s")
	p.greet()
	require.NoError(t, p.out.Close())
	p.send(listTools, callEcho)
	b.await("call", func(e record.Event) bool { return e.RPC != nil && e.RPC.Method == "tools/call" })
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	b.awaitKind(id, record.Bye)
}

func TestBrokenStderrByHand(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, self(t), "fakeserver")
	cmd.Stderr, cmd.WaitDelay = w, patience
	cmd.Stdin = strings.NewReader(initialize + "\n")
	out, err := cmd.Output()
	_ = w.Close()
	require.NoError(t, err)
	assert.Contains(t, string(out), "2025-06-18")
}

// TestBenchDies: SIGKILL of the process that holds the ledger ends a server
// that ignores everything else, in the middle of what it is doing.
func TestBenchDies(t *testing.T) {
	t.Parallel()
	deaf := []fakeserver.Fault{{On: "eof", Do: "ignore"}, {On: "term", Do: "ignore"}}
	long := fakeserver.Duration(5 * time.Minute)
	for name, c := range map[string]struct {
		with fakeserver.Fault
		ask  func(*process)
	}{
		"in a hang":          {fakeserver.Fault{On: "initialize", Do: "hang"}, func(p *process) { p.send(initialize) }},
		"in a slow start":    {fakeserver.Fault{On: "start", Do: "delay", For: long}, func(*process) {}},
		"in a slow exit":     {fakeserver.Fault{On: "exit", Do: "delay", For: long}, func(p *process) { _ = p.in.Close() }},
		"in a slow answer":   {fakeserver.Fault{On: "initialize", Do: "delay", For: long}, func(p *process) { p.send(initialize) }},
		"after close-stdout": {fakeserver.Fault{On: "initialize", Do: "close-stdout"}, func(p *process) { p.send(initialize) }},
		"while it grows":     {fakeserver.Fault{On: "start", Do: "grow", MiB: 300}, func(*process) {}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			faults := append([]fakeserver.Fault{c.with}, deaf...)
			if c.with.On == "exit" {
				faults = faults[:1]
			}
			script, err := json.Marshal(fakeserver.Script{Faults: faults})
			require.NoError(t, err)
			dir, err := ledger.NewDir()
			require.NoError(t, err)
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			bench := start(t, "hold-ledger", dir, string(script))
			hello, err := bench.recv()
			require.NoError(t, err)
			path, ok := strings.CutPrefix(hello, "listening ")
			require.True(t, ok, hello)
			p := start(t, fakeserver.Argv(self(t), path, "run-1", "s", "")[1:]...)
			c.ask(p)
			for line := ""; line != "fault s#1"; {
				line, err = bench.recv()
				require.NoError(t, err)
			}
			assert.True(t, p.running())
			require.NoError(t, bench.cmd.Process.Kill())
			assert.Equal(t, 72, p.status())
		})
	}
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	p := start(t, "fakeserver", "--lifetime", "50ms", "--fault", "on=eof,do=ignore", "--fault", "on=term,do=ignore")
	assert.Equal(t, 73, p.status())
}

func TestCut(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "eof", Do: "ignore"})
	p, id := b.launch("s")
	p.greet()
	require.NoError(t, b.ledger.Cut(id))
	assert.Contains(t, b.awaitKind(id, record.Lost).Text, "cut")
	assert.Equal(t, 72, p.status())
	assert.NotContains(t, b.kinds(id), record.Died)
}

func TestStrangersAreTurnedAway(t *testing.T) {
	t.Parallel()
	b := one(t, "")
	for _, argv := range [][]string{
		fakeserver.Argv(self(t), b.ledger.Path(), "another-run", "s", ""),
		fakeserver.Argv(self(t), b.ledger.Path(), "run-1", "nobody", ""),
		fakeserver.Argv(self(t), b.ledger.Path()+"x", "run-1", "s", ""),
	} {
		p := start(t, argv[1:]...)
		assert.Equal(t, 71, p.status())
	}
	assert.NotContains(t, b.story(), `"born"`)
	assert.Equal(t, 2, strings.Count(b.story(), "ledger-stranger"))
}

func TestKilledServerDies(t *testing.T) {
	t.Parallel()
	b := one(t, "")
	p, id := b.launch("s")
	p.greet()
	require.NoError(t, p.cmd.Process.Kill())
	b.awaitKind(id, record.Died)
	assert.Equal(t, []record.Kind{record.Born, record.Ready, record.Died}, b.kinds(id))
	assert.Equal(t, -1, p.status())
}

// TestByHandTellsOnStderr: the notes are what a person sees without a bench.
func TestByHandTellsOnStderr(t *testing.T) {
	t.Parallel()
	p := start(t, "fakeserver", "--era", "dual", "--launch", "4", "--fault", "on=call,do=exit,code=5,every=2,tool=echo")
	p.greet()
	p.send(callEcho)
	assert.Equal(t, 5, p.status())
	var kinds []string
	scan := bufio.NewScanner(p.stderr)
	for scan.Scan() {
		var n birth.Note
		require.NoError(t, json.Unmarshal(scan.Bytes(), &n))
		kinds = append(kinds, n.Note)
	}
	assert.Equal(t, []string{"ready", "rpc", "rpc", "rpc", "rpc", "fault"}, kinds)
}
