package fakeserver_test

import (
	"encoding/json"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// request is the line that brings a moment about.
var requests = map[string]string{
	"discover": discover, "initialize": initialize, "list": listTools, "call": callEcho,
	"list-resources": strings.Replace(listTools, "tools/", "resources/", 1),
	"list-prompts":   strings.Replace(listTools, "tools/", "prompts/", 1),
}

// TestFaultsOfRequests proves each action at each moment that a request brings
// about, from outside: what is on the pipes, whether it lives, how it ended.
func TestFaultsOfRequests(t *testing.T) {
	t.Parallel()
	for name := range proofs {
		assert.Contains(t, fakeserver.Names(fakeserver.Actions), name, "there is a proof of %s, which is no action", name)
	}
	for _, moment := range fakeserver.Moments {
		line, ok := requests[moment.Name]
		if !ok {
			continue
		}
		for _, action := range moment.With {
			t.Run(moment.Name+"/"+action, func(t *testing.T) {
				t.Parallel()
				f := complete(fakeserver.Fault{On: moment.Name, Do: action})
				b := one(t, fakeserver.EraDual, f)
				p, id := b.launch("s")
				if strings.HasPrefix(moment.Name, "list") || moment.Name == "call" {
					p.greet()
				}
				p.send(line)
				if prove := proofs[f.Do]; prove != nil {
					prove(t, b, p, f)
				} else {
					proveAction(t, p, f)
				}
				fault := b.awaitKind(id, record.Faulted).Fault
				assert.Equal(t, f.On, string(fault.On))
				assert.Equal(t, f.Do, string(fault.Do))
				assert.False(t, fault.Passive)
			})
		}
	}
}

// complete adds the field that the action cannot do without.
func complete(f fakeserver.Fault) fakeserver.Fault {
	switch f.Do {
	case "delay":
		f.For = fakeserver.Duration(150 * time.Millisecond)
	case "grow":
		f.MiB = 40
	case "swell":
		f.MiB, f.Step = 60, 25
	case "long-line":
		f.MiB = 2
	case "progress":
		f.Each = fakeserver.Duration(5 * time.Millisecond)
	case "exit", "answer-exit":
		f.Code = 7
	}
	return f
}

func proveAction(t *testing.T, p *process, f fakeserver.Fault) {
	t.Helper()
	sent := time.Now()
	switch f.Do {
	case "reject":
		require.NotNil(t, p.answer().Error)
		p.lives()
	case "hang":
		p.lives() // and nothing came before the ping's answer
	case "twice":
		first, second := p.answer(), p.answer()
		assert.Nil(t, first.Error)
		assert.Equal(t, first.raw, second.raw)
		p.lives()
	case "garbage":
		line, err := p.recv()
		require.NoError(t, err)
		assert.False(t, json.Valid([]byte(line)), line)
		p.lives()
	case "wrong-version":
		assert.Contains(t, p.answer().raw, `"1999-12-31"`)
	case "unsupported-version":
		refused := p.answer()
		require.NotNil(t, refused.Error)
		assert.Equal(t, -32022, refused.Error.Code)
		assert.Contains(t, refused.raw, `"data":{"requested":"2026-07-28","supported":["2026-07-28"]}`)
		p.send(discover)
		assert.Nil(t, p.answer().Error, "the next one is answered")
	case "answer-exit":
		assert.Nil(t, p.answer().Error)
		_, err := p.recv()
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, 7, p.status())
	case "exit":
		_, err := p.recv()
		require.ErrorIs(t, err, io.EOF)
		assert.Equal(t, 7, p.status())
	case "delay":
		assert.Nil(t, p.answer().Error)
		assert.GreaterOrEqual(t, time.Since(sent), time.Duration(f.For))
		p.lives()
	case "grow":
		assert.Nil(t, p.answer().Error)
		assert.GreaterOrEqual(t, rss(t, p.cmd.Process.Pid), int64(f.MiB)<<20)
	case "close-stdout":
		_, err := p.recv()
		require.ErrorIs(t, err, io.EOF)
		assert.True(t, p.running())
		p.send(callEcho) // still read: the pipe has a reader, and the end of stdin is seen
		require.NoError(t, p.in.Close())
		assert.Equal(t, 0, p.status())
	case "helper", "zombies":
		assert.Nil(t, p.answer().Error) // the rest is in tree_test.go
		assert.Len(t, childrenOf(t, p.cmd.Process.Pid), 1)
	default:
		t.Fatalf("no proof for %s", f.Do)
	}
}

func TestWrongVersionAtDiscoverLasts(t *testing.T) {
	t.Parallel()
	p, _ := one(t, fakeserver.EraModern, fakeserver.Fault{On: "discover", Do: "wrong-version"}).launch("s")
	p.send(discover)
	assert.Equal(t, []any{"1999-12-31"}, at(p.answer().Result, "supportedVersions"))
	p.send(strings.Replace(discover, "server/discover", "tools/list", 1))
	r := p.answer()
	require.NotNil(t, r.Error)
	assert.Equal(t, -32022, r.Error.Code)
}

func TestLaunchSelectsFaults(t *testing.T) {
	t.Parallel()
	b := newLab(t, map[string]fakeserver.Script{
		"nth":   {Faults: []fakeserver.Fault{{On: "initialize", Do: "reject", Launch: 2}}},
		"every": {Faults: []fakeserver.Fault{{On: "initialize", Do: "reject", Every: 2}}},
	})
	for label, want := range map[string][]bool{"nth": {false, true, false, false}, "every": {false, true, false, true}} {
		for i, rejected := range want {
			p, id := b.launch(label)
			p.send(initialize)
			assert.Equal(t, rejected, p.answer().Error != nil, id)
			assert.Equal(t, i+1, b.awaitKind(id, record.Born).Birth.Launch)
			require.NoError(t, p.in.Close())
			p.status()
			b.awaitKind(id, record.Died)
			phase := map[bool]string{true: "initialize refused", false: "initialize answered"}[rejected]
			assert.Equal(t, []string{"initialize received", phase}, b.calls(id))
		}
	}
}

func TestToolFilter(t *testing.T) {
	t.Parallel()
	p, _ := one(t, "", fakeserver.Fault{On: "call", Do: "reject", Tool: "whoami"}).launch("s")
	p.greet()
	p.send(callEcho)
	assert.Nil(t, p.answer().Error)
	p.send(strings.Replace(callEcho, "echo", "whoami", 1))
	assert.NotNil(t, p.answer().Error)
}

func TestIgnoresEOF(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "eof", Do: "ignore"})
	p, id := b.launch("s")
	p.greet()
	require.NoError(t, p.in.Close())
	fault := b.awaitKind(id, record.Faulted).Fault
	assert.True(t, fault.Passive)
	assert.False(t, fault.Breaks)
	assertIdle(t, p)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	assert.Equal(t, 0, p.status())
	b.awaitKind(id, record.Died)
	assert.Equal(t, []record.Kind{
		record.Born, record.Ready, record.SawEOF, record.Faulted, record.SawSignal, record.Bye, record.Died,
	}, b.kinds(id))
}

func TestIgnoresTerm(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "term", Do: "ignore"})
	p, id := b.launch("s")
	b.awaitKind(id, record.Ready)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		require.NoError(t, p.cmd.Process.Signal(sig))
	}
	for _, name := range []string{"SIGTERM", "SIGINT", "SIGHUP"} {
		b.await(name, func(e record.Event) bool { return e.Kind == record.SawSignal && e.Signal == name })
	}
	p.lives()
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
}

// TestTellsWhetherStdinWasOpen: with a signal comes what the kernel says of
// stdin, also where the server has not read its end yet.
func TestTellsWhetherStdinWasOpen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux is asked")
	}
	b := one(t, "", fakeserver.Fault{On: "eof", Do: "ignore"}, fakeserver.Fault{On: "term", Do: "ignore"})
	p, id := b.launch("s")
	b.awaitKind(id, record.Ready)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	open := b.await("SIGTERM", func(e record.Event) bool { return e.Kind == record.SawSignal && e.Signal == "SIGTERM" })
	assert.Equal(t, "open", open.Text)
	require.NoError(t, p.in.Close())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGHUP)) // without waiting for the end of stdin to be read
	closed := b.await("SIGHUP", func(e record.Event) bool { return e.Kind == record.SawSignal && e.Signal == "SIGHUP" })
	assert.Equal(t, "closed", closed.Text)
}

func TestIgnoresBothButNotTheBench(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "eof", Do: "ignore"}, fakeserver.Fault{On: "term", Do: "ignore"})
	p, id := b.launch("s")
	b.awaitKind(id, record.Ready)
	require.NoError(t, p.in.Close())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	b.awaitKind(id, record.SawEOF)
	b.awaitKind(id, record.SawSignal)
	assertIdle(t, p)
	require.NoError(t, b.ledger.Close())
	assert.Equal(t, 72, p.status())
}

func TestStartFaults(t *testing.T) {
	t.Parallel()
	t.Run("delay", func(t *testing.T) {
		t.Parallel()
		const slow = 200 * time.Millisecond
		b := one(t, "", fakeserver.Fault{On: "start", Do: "delay", For: fakeserver.Duration(slow)})
		begun := time.Now()
		p, id := b.launch("s")
		p.send(initialize)
		assert.Nil(t, p.answer().Error)
		assert.GreaterOrEqual(t, time.Since(begun), slow)
		b.awaitKind(id, record.Ready)
		assert.Equal(t, []record.Kind{record.Born, record.Faulted, record.Ready}, b.kinds(id))
	})
	t.Run("exit", func(t *testing.T) {
		t.Parallel()
		b := one(t, "", fakeserver.Fault{On: "start", Do: "exit", Code: 3})
		p, id := b.launch("s")
		assert.Equal(t, 3, p.status())
		b.awaitKind(id, record.Died)
		assert.Equal(t, []record.Kind{record.Born, record.Faulted, record.Died}, b.kinds(id))
	})
	t.Run("grow", func(t *testing.T) {
		t.Parallel()
		b := one(t, "", fakeserver.Fault{On: "start", Do: "grow", MiB: 50})
		p, id := b.launch("s")
		b.awaitKind(id, record.Ready)
		assert.GreaterOrEqual(t, rss(t, p.cmd.Process.Pid), int64(50)<<20)
		p.lives()
	})
}

func TestSlowExit(t *testing.T) {
	t.Parallel()
	const slow = 200 * time.Millisecond
	for name, ask := range map[string]func(*process) error{
		"eof":  func(p *process) error { return p.in.Close() },
		"term": func(p *process) error { return p.cmd.Process.Signal(syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: "exit", Do: "delay", For: fakeserver.Duration(slow)})
			p, id := b.launch("s")
			b.awaitKind(id, record.Ready)
			asked := time.Now()
			require.NoError(t, ask(p))
			assert.Equal(t, 0, p.status())
			assert.GreaterOrEqual(t, time.Since(asked), slow)
			b.awaitKind(id, record.Died)
			kinds := b.kinds(id)
			assert.Equal(t, []record.Kind{record.Faulted, record.Bye, record.Died}, kinds[len(kinds)-3:])
		})
	}
}

func TestOrders(t *testing.T) {
	t.Parallel()
	give := func(t *testing.T, order string) (*lab, *process, string) {
		b := one(t, "")
		p, id := b.launch("s")
		p.greet()
		require.NoError(t, b.ledger.Order(id, json.RawMessage(order)))
		return b, p, id
	}
	t.Run("exit", func(t *testing.T) {
		t.Parallel()
		b, p, id := give(t, `{"on":"order","do":"exit","code":9}`)
		assert.Equal(t, 9, p.status())
		b.awaitKind(id, record.Died)
		assert.Equal(t, []record.Kind{record.Born, record.Ready, record.Faulted, record.Died}, b.kinds(id))
	})
	t.Run("hang", func(t *testing.T) {
		t.Parallel()
		b, p, id := give(t, `{"do":"hang"}`)
		assert.True(t, b.awaitKind(id, record.Faulted).Fault.Breaks)
		p.send(callEcho)
		b.await("call", func(e record.Event) bool { return e.RPC != nil && e.RPC.Method == "tools/call" })
		require.NoError(t, p.in.Close())
		_, err := p.recv()
		require.ErrorIs(t, err, io.EOF, "it answered")
		assert.Equal(t, 0, p.status())
	})
	t.Run("close-stdout", func(t *testing.T) {
		t.Parallel()
		_, p, _ := give(t, `{"on":"order","do":"close-stdout"}`)
		proveAction(t, p, fakeserver.Fault{Do: "close-stdout"})
	})
	t.Run("grow", func(t *testing.T) {
		t.Parallel()
		b, p, id := give(t, `{"on":"order","do":"grow","mib":45}`)
		require.NoError(t, b.ledger.Order(id, json.RawMessage(`{"do":"hang"}`))) // obeyed after it
		b.await("hang", func(e record.Event) bool { return e.Fault != nil && e.Fault.Do == "hang" })
		assert.GreaterOrEqual(t, rss(t, p.cmd.Process.Pid), int64(45)<<20)
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		b, p, id := give(t, `{"on":"order","do":"reject"}`)
		doubt := b.awaitKind(id, record.Doubted).Doubt
		assert.Equal(t, "ledger-refused-order", string(doubt.Code))
		assert.Contains(t, doubt.Text, "on: order goes with do: hang, ")
		p.lives()
	})
}

// assertIdle: a server that ignores what it should obey waits, it does not spin. In the time in which a process beside it
// that spins has used 30 clock ticks, it has used next to none.
func assertIdle(t *testing.T, p *process) {
	t.Helper()
	spins := start(t, "spin")
	before := cpuTicks(t, p.cmd.Process.Pid)
	require.Eventually(t, func() bool { return cpuTicks(t, spins.cmd.Process.Pid) >= 30 }, patience, 10*time.Millisecond)
	require.NoError(t, spins.cmd.Process.Kill())
	assert.True(t, p.running())
	assert.LessOrEqual(t, cpuTicks(t, p.cmd.Process.Pid)-before, int64(10))
}

// rss is the resident memory in bytes.
func rss(t *testing.T, pid int) int64 {
	t.Helper()
	fields := procFile(t, pid, "statm")
	return number(t, fields[1]) * int64(os.Getpagesize())
}

func cpuTicks(t *testing.T, pid int) int64 {
	t.Helper()
	fields := procFile(t, pid, "stat")
	return number(t, fields[13]) + number(t, fields[14])
}
