package fakeserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
)

// patience is how long a test waits for what must happen. Only a failing test
// waits it out.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold-ledger" {
		holdLedger()
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "foster" {
		os.Exit(foster(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == "spin" {
		var over atomic.Bool
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			over.Store(true)
		}()
		for !over.Load() { // until the test is over, whatever becomes of that
		}
		return
	}
	reexectest.MostlyWaits(3)
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// lab is a bench: a real ledger and the events it reported.
type lab struct {
	t      testing.TB
	ledger *ledger.Ledger

	mu     sync.Mutex
	events []record.Event
	news   chan struct{} // closed and replaced at each event
}

func newLab(t testing.TB, scripts map[string]fakeserver.Script) *lab {
	t.Helper()
	return newSeededLab(t, 0, scripts)
}

func newSeededLab(t testing.TB, seed uint64, scripts map[string]fakeserver.Script) *lab {
	t.Helper()
	dir, err := ledger.NewDir()
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := &lab{t: t, news: make(chan struct{})}
	raw := map[string]json.RawMessage{}
	for label, s := range scripts {
		require.Empty(t, s.Check())
		raw[label], err = json.Marshal(s)
		require.NoError(t, err)
	}
	b.ledger, err = ledger.Listen(ledger.Params{
		Dir: dir, Run: "run-1", Scripts: raw, Seed: seed,
		OnEvent: b.add, Identify: identify, WaitGone: waitGone,
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.ledger.Close() })
	return b
}

// one is a lab with one server "s" that has these faults.
func one(t testing.TB, era string, faults ...fakeserver.Fault) *lab {
	t.Helper()
	return newLab(t, map[string]fakeserver.Script{"s": {Era: era, Faults: faults}})
}

func (b *lab) add(e record.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	close(b.news)
	b.news = make(chan struct{})
}

// await returns the first event that matches, waiting for it.
func (b *lab) await(what string, match func(record.Event) bool) record.Event {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		news, events := b.news, b.events
		b.mu.Unlock()
		for _, e := range events {
			if match(e) {
				return e
			}
		}
		select {
		case <-news:
		case <-deadline:
			require.FailNow(b.t, "no "+what, "%s", b.story())
		}
	}
}

func (b *lab) awaitKind(server string, kind record.Kind) record.Event {
	b.t.Helper()
	return b.await(string(kind)+" of "+server, func(e record.Event) bool { return e.Kind == kind && e.Server == server })
}

// kinds is the story of one server, without its messages.
func (b *lab) kinds(server string) []record.Kind {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []record.Kind
	for _, e := range b.events {
		if e.Server == server && e.Kind != record.RPC {
			all = append(all, e.Kind)
		}
	}
	return all
}

// calls is the messages of one server, as "method phase".
func (b *lab) calls(server string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []string
	for _, e := range b.events {
		if e.Server == server && e.Kind == record.RPC {
			all = append(all, string(e.RPC.Method)+" "+string(e.RPC.Phase))
		}
	}
	return all
}

func (b *lab) story() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var text strings.Builder
	for _, e := range b.events {
		line, _ := json.Marshal(e)
		fmt.Fprintf(&text, "%s\n", line)
	}
	return text.String()
}

// process is a fake server with pipes of its own.
type process struct {
	t      testing.TB
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	lines  *bufio.Reader
	stderr *bytes.Buffer
	ended  chan struct{}
	err    error
}

// launch starts a server of the lab and waits until it is born; the second
// result is its id on the ledger.
func (b *lab) launch(label string) (*process, string) {
	b.t.Helper()
	return b.launchWith(label, nil)
}

// launchWith is launch with a stderr that nobody reads but the test.
func (b *lab) launchWith(label string, stderr *os.File) (*process, string) {
	b.t.Helper()
	p := startWith(b.t, stderr, fakeserver.Argv(self(b.t), b.ledger.Path(), "run-1", label, "main")[1:]...)
	born := b.await("birth", func(e record.Event) bool { return e.Kind == record.Born && e.Birth.PID == p.cmd.Process.Pid })
	return p, born.Server
}

func start(t testing.TB, args ...string) *process {
	t.Helper()
	return startAs(t, func(*exec.Cmd) {}, args...)
}

func startWith(t testing.TB, stderr *os.File, args ...string) *process {
	t.Helper()
	return startAs(t, func(cmd *exec.Cmd) {
		if stderr != nil {
			cmd.Stderr = stderr
		}
	}, args...)
}

func startAs(t testing.TB, prepare func(*exec.Cmd), args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{t: t, ended: make(chan struct{}), stderr: &bytes.Buffer{}}
	p.cmd = exec.CommandContext(ctx, self(t), args...)
	p.cmd.WaitDelay = patience
	p.cmd.Stderr = p.stderr
	var childIn, childOut *os.File
	var err error
	childIn, p.in, err = os.Pipe()
	require.NoError(t, err)
	p.out, childOut, err = os.Pipe()
	require.NoError(t, err)
	p.cmd.Stdin, p.cmd.Stdout = childIn, childOut
	p.lines = bufio.NewReader(p.out)
	prepare(p.cmd)
	require.NoError(t, p.cmd.Start())
	_ = childIn.Close()
	_ = childOut.Close()
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-p.ended
		_ = p.in.Close()
		_ = p.out.Close()
	})
	return p
}

func (p *process) send(lines ...string) {
	p.t.Helper()
	_, err := io.WriteString(p.in, strings.Join(lines, "\n")+"\n")
	require.NoError(p.t, err)
}

// recv is the next line of stdout; io.EOF at its end.
func (p *process) recv() (string, error) {
	p.t.Helper()
	require.NoError(p.t, p.out.SetReadDeadline(time.Now().Add(patience)))
	line, err := p.lines.ReadString('\n')
	return strings.TrimSpace(line), err
}

// answer is the next line of stdout, decoded.
func (p *process) answer() reply {
	p.t.Helper()
	line, err := p.recv()
	require.NoError(p.t, err, "stderr: %s", p.stderr)
	var r reply
	require.NoError(p.t, json.Unmarshal([]byte(line), &r), line)
	r.raw = line
	return r
}

type reply struct {
	ID     json.RawMessage `json:"id"`
	Result map[string]any  `json:"result"`
	Error  *struct {
		Code    int            `json:"code"`
		Message string         `json:"message"`
		Data    map[string]any `json:"data"`
	} `json:"error"`
	raw string
}

// status waits for the end of the process; -1 is an end by a signal.
func (p *process) status() int {
	p.t.Helper()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		require.FailNow(p.t, "the server does not end")
		return 0
	}
}

// lives answers a ping: the server reads stdin and writes stdout.
func (p *process) lives() {
	p.t.Helper()
	p.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	require.JSONEq(p.t, `{"jsonrpc":"2.0","id":"alive","result":{}}`, p.answer().raw)
}

// sleeps has the server answer a call that takes it some time.
func (p *process) sleeps(d time.Duration) {
	p.t.Helper()
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"nap","method":"tools/call","params":{"name":"sleep","arguments":{"ms":%d}}}`, d.Milliseconds()))
	require.Nil(p.t, p.answer().Error)
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	listTools  = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	callEcho   = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hi"}}}`
	callSleep  = `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"sleep","arguments":{"ms":600000}}}`
	meta       = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	discover   = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`
)

// greet does the legacy handshake.
func (p *process) greet() {
	p.t.Helper()
	p.send(initialize)
	require.Nil(p.t, p.answer().Error)
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// identify is enough for tests, whose processes are reaped by themselves: no
// pid of theirs is taken by another before its ledger connection ended.
func identify(pid int) (record.Identity, error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return record.Identity{}, err
	}
	if err := p.Signal(syscall.Signal(0)); err != nil {
		return record.Identity{}, err
	}
	return record.Identity{PID: pid, Start: 1}, nil
}

func waitGone(ctx context.Context, id record.Identity) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := identify(id.PID); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(errors.New("still there"), ctx.Err())
		case <-tick.C:
		}
	}
}
