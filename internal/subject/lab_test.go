package subject_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/fakeserver" // also makes this test binary the fake server
	"github.com/leakbench/leakbench/hosts/gosdk"
	"github.com/leakbench/leakbench/hosts/mcpgo"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/subject/refhost"
)

// patience is how long a test waits for what must happen. Only a failing test
// waits it out.
const patience = 30 * time.Second

// TestMain makes the test binary the built-in hosts, too.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "host" && os.Args[2] == refhost.GuardArg {
		os.Exit(refhost.Guard(os.Args[3]))
	}
	if len(os.Args) == 3 && os.Args[1] == "host" {
		h, _ := catalogue.Named(os.Args[2])
		h.Name = os.Args[2] // of none, too
		switch h.Name {
		case "mcp-go":
			os.Exit(mcpgo.Main(h.Profile))
		case "go-sdk":
			os.Exit(gosdk.Main(h.Profile))
		}
		os.Exit(refhost.Main(h))
	}
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	// These tests wait for other processes: they need no processor each.
	_ = flag.Set("test.parallel", "12")
	goleak.VerifyTestMain(m)
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// lab is a host, a process of its own, on a real ledger.
type lab struct {
	*subject.Driver
	t      *testing.T
	hello  driver.Hello
	ledger *ledger.Ledger
	cmd    *exec.Cmd
	log    *strings.Builder // the host's stderr; to be read once it has ended
	ended  chan struct{}

	mu     sync.Mutex
	events []record.Event
	news   chan struct{} // closed and replaced at each event
}

// scripts are the servers of a lab, by label.
type scripts map[string]fakeserver.Script

// faulty is a server that does these things wrong.
func faulty(faults ...fakeserver.Fault) fakeserver.Script { return fakeserver.Script{Faults: faults} }

func faultOn(moment, action string) fakeserver.Fault { return fakeserver.Fault{On: moment, Do: action} }

// deaf is a server that nothing but SIGKILL ends.
var deaf = faulty(faultOn("eof", "ignore"), faultOn("term", "ignore"))

// builtin puts a built-in host on the bench.
func builtin(t *testing.T, name string, all scripts) *lab {
	t.Helper()
	spec, err := subject.Lookup(self(t), name)
	require.NoError(t, err)
	return newLab(t, spec.Argv, all)
}

func newLab(t *testing.T, argv []string, all scripts) *lab {
	t.Helper()
	l := &lab{t: t, news: make(chan struct{}), log: &strings.Builder{}, ended: make(chan struct{})}
	l.listen(all)
	l.start(argv)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	hello, err := l.Hello(ctx)
	require.NoError(t, err)
	l.hello = hello
	return l
}

func (l *lab) listen(all scripts) {
	dir, err := ledger.NewDir()
	require.NoError(l.t, err)
	l.t.Cleanup(func() { _ = os.RemoveAll(dir) })
	raw := map[string]json.RawMessage{}
	for label, s := range all {
		require.Empty(l.t, s.Check())
		raw[label], err = json.Marshal(s)
		require.NoError(l.t, err)
	}
	l.ledger, err = ledger.Listen(ledger.Params{
		Dir: dir, Run: "run", Scripts: raw, OnEvent: l.add,
		// The end of a connection is enough here: it comes with the end of the process.
		Identify: func(pid int) (record.Identity, error) { return record.Identity{PID: pid}, nil },
		WaitGone: func(context.Context, record.Identity) error { return nil },
	})
	require.NoError(l.t, err)
	l.t.Cleanup(func() { _ = l.ledger.Close() }) // and with it every server ends
}

func (l *lab) start(argv []string) {
	ctx, cancel := context.WithCancel(context.Background())
	l.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	l.cmd.WaitDelay = patience
	l.cmd.Stderr = l.log
	theirIn, ourIn, err := os.Pipe()
	require.NoError(l.t, err)
	ourOut, theirOut, err := os.Pipe()
	require.NoError(l.t, err)
	l.cmd.Stdin, l.cmd.Stdout = theirIn, theirOut
	require.NoError(l.t, l.cmd.Start())
	theirIn.Close()
	theirOut.Close()
	go func() {
		_ = l.cmd.Wait()
		close(l.ended)
	}()
	l.Driver = subject.Connect(ourOut, ourIn)
	l.t.Cleanup(func() {
		l.Close()
		cancel()
		<-l.ended
		<-l.Done()
		if l.t.Failed() {
			l.t.Logf("the host's log:\n%.4000s", l.log.String())
		}
	})
}

func (l *lab) add(e record.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	close(l.news)
	l.news = make(chan struct{})
}

// await waits until ok holds, which sees all events so far.
func (l *lab) await(what string, ok func([]record.Event) bool) {
	l.t.Helper()
	deadline := time.After(patience)
	for {
		l.mu.Lock()
		news, events := l.news, slices.Clone(l.events)
		l.mu.Unlock()
		if ok(events) {
			return
		}
		select {
		case <-news:
		case <-deadline:
			var story strings.Builder
			for _, e := range events {
				line, _ := json.Marshal(e)
				fmt.Fprintf(&story, "%s\n", line)
			}
			require.FailNow(l.t, "this did not happen: "+what, "%s", story.String())
		}
	}
}

// saw waits for an event of a server.
func (l *lab) saw(kind record.Kind, server string) {
	l.t.Helper()
	l.await(string(kind)+" of "+server, func(all []record.Event) bool { return has(all, kind, server) })
}

func has(all []record.Event, kind record.Kind, server string) bool {
	return slices.ContainsFunc(all, func(e record.Event) bool { return e.Kind == kind && e.Server == server })
}

func (l *lab) now() []record.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// births counts the servers of a label that were born so far.
func (l *lab) births(label string) int {
	n := 0
	for _, e := range l.now() {
		if e.Kind == record.Born && e.Birth.Label == label {
			n++
		}
	}
	return n
}

// pid of a server that was born.
func (l *lab) pid(server string) int {
	l.t.Helper()
	for _, e := range l.now() {
		if e.Kind == record.Born && e.Server == server {
			return e.Birth.PID
		}
	}
	require.FailNow(l.t, "never born: "+server)
	return 0
}

// messages are the methods that a server received.
func (l *lab) messages(server string) []string {
	var all []string
	for _, e := range l.now() {
		if e.Kind == record.RPC && e.Server == server && e.RPC.Phase == "received" {
			all = append(all, string(e.RPC.Method))
		}
	}
	return all
}

// order makes a server do something now.
func (l *lab) order(server, action string) {
	l.t.Helper()
	require.NoError(l.t, l.ledger.Order(server, json.RawMessage(`{"on":"order","do":"`+action+`"}`)))
	l.saw(record.Faulted, server)
	if action == "exit" {
		l.saw(record.Died, server)
	}
}

// lives shows that a server is alive and that nobody has asked it to end: it
// still obeys. It does not live on.
func (l *lab) lives(server string) {
	l.t.Helper()
	all := l.now()
	for _, kind := range []record.Kind{record.SawEOF, record.SawSignal, record.Died} {
		require.False(l.t, has(all, kind, server), "%s: %s", server, kind)
	}
	l.order(server, "exit")
}

// server is how the host launches a label for a session.
func (l *lab) server(label, session string) driver.Server {
	argv := fakeserver.Argv(self(l.t), l.ledger.Path(), "run", label, session)
	return driver.Server{Name: label, Command: argv[0], Args: argv[1:]}
}

func (l *lab) do(req driver.Request) driver.Response {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	resp, err := l.Do(ctx, req)
	require.NoError(l.t, err, "%s %s", req.Op, req.Session)
	return resp
}

func (l *lab) ok(req driver.Request) driver.Response {
	l.t.Helper()
	resp := l.do(req)
	require.True(l.t, resp.OK, "%s %s: %s", req.Op, req.Session, resp.Error)
	return resp
}

func (l *lab) begin(req driver.Request) *subject.Pending {
	l.t.Helper()
	p, err := l.Begin(req)
	require.NoError(l.t, err)
	return p
}

func (l *lab) wait(p *subject.Pending) driver.Response {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	resp, err := p.Wait(ctx)
	require.NoError(l.t, err)
	return resp
}

func (l *lab) openRequest(session, label string) driver.Request {
	server := l.server(label, session)
	return driver.Request{Op: driver.OpOpen, Session: session, Server: &server}
}

func (l *lab) open(session, label string) {
	l.t.Helper()
	l.ok(l.openRequest(session, label))
}

// echo reports whether a session answers.
func (l *lab) echo(session string) bool {
	l.t.Helper()
	resp := l.do(driver.Request{Op: driver.OpCall, Session: session, Tool: "echo", Args: map[string]any{"text": "hällo\n"}, TimeoutMS: 10_000})
	if resp.OK {
		require.JSONEq(l.t, `"hällo\n"`, string(resp.Result))
	}
	return resp.OK
}

// launch says which launch of its label serves a session.
func (l *lab) launch(session string) int {
	l.t.Helper()
	resp := l.ok(driver.Request{Op: driver.OpCall, Session: session, Tool: "whoami"})
	var text string
	require.NoError(l.t, json.Unmarshal(resp.Result, &text))
	var who struct {
		Launch  int
		Session string
	}
	require.NoError(l.t, json.Unmarshal([]byte(text), &who))
	require.Equal(l.t, session, who.Session)
	return who.Launch
}

// received waits until a server works on a call of the tool.
func (l *lab) received(server, tool string) {
	l.t.Helper()
	l.await("a call of "+tool+" at "+server, func(all []record.Event) bool {
		return slices.ContainsFunc(all, func(e record.Event) bool {
			return e.Kind == record.RPC && e.Server == server && e.RPC.Tool == tool && e.RPC.Phase == "received"
		})
	})
}

// exit waits for the host's end.
func (l *lab) exit() int {
	l.t.Helper()
	select {
	case <-l.ended:
		return l.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		require.FailNow(l.t, "the host does not end")
		return 0
	}
}

// signal signals the host.
func (l *lab) signal(sig syscall.Signal) {
	l.t.Helper()
	require.NoError(l.t, l.cmd.Process.Signal(sig))
}
