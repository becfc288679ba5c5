package subject_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
)

const slowCall = 600_000 // ms: longer than any test

func job(l *lab, session, label, tool string, timeoutMS int64) driver.Job {
	return driver.Job{
		Session: session, Server: l.server(label, session), Tool: tool,
		Args: map[string]any{"text": "x", "ms": slowCall}, TimeoutMS: timeoutMS,
	}
}

// each runs a test for the named hosts; without names for all built-in ones.
func each(t *testing.T, names []string, f func(t *testing.T, name string)) {
	if names == nil {
		for _, s := range subject.Builtin("") {
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, name)
		})
	}
}

var refhosts = []string{"exact", "naive", "reap-all", "orphan-set", "thread-blind"}

// TestWhatAllHostsDo is the driver protocol as every host must speak it.
func TestWhatAllHostsDo(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		spec, err := subject.Lookup(self(t), name)
		require.NoError(t, err)
		l := builtin(t, name, scripts{"s": {}})
		assert.Equal(t, name, l.hello.Host)
		assert.NotEmpty(t, l.hello.Version)
		want := driver.Ops
		if !slices.Contains(refhosts, name) { // a library has no list of servers that its sessions could share
			want = slices.DeleteFunc(slices.Clone(want), func(op string) bool { return op == driver.OpShare })
		}
		assert.Equal(t, want, l.hello.Ops)
		require.NotNil(t, l.hello.Profile)
		assert.Equal(t, spec.Profile, subject.ProfileOf(*l.hello.Profile), "the built-in spec and the host say the same")
		allOps(l)
		assert.Equal(t, 0, l.exit())
	})
}

// allOps plays each operation once. What it relies on is the same for the
// worst of hosts: sessions that are closed by request end.
func allOps(l *lab) {
	l.open("a", "s")
	assert.True(l.t, l.echo("a"))
	assert.Equal(l.t, 1, l.launch("a"))
	assert.False(l.t, l.do(driver.Request{Op: driver.OpCall, Session: "nobody", Tool: "echo"}).OK)
	assert.False(l.t, l.do(driver.Request{Op: driver.OpCall, Session: "a", Tool: "no-such-tool"}).OK)

	call := l.begin(driver.Request{Op: driver.OpCall, Session: "a", Tool: "sleep", Args: map[string]any{"ms": slowCall}})
	l.received("s#1", "sleep")
	l.ok(driver.Request{Op: driver.OpCancel, Target: call.ID})
	assert.False(l.t, l.wait(call).OK)
	slow := driver.Request{Op: driver.OpCall, Session: "a", Tool: "sleep", Args: map[string]any{"ms": slowCall}, TimeoutMS: 100}
	assert.False(l.t, l.do(slow).OK, "the request's own time limit")
	assert.True(l.t, l.echo("a"), "a call that was broken off is not the session's end")

	l.ok(driver.Request{Op: driver.OpReload, Sessions: []driver.SessionServer{{Session: "a", Server: l.server("s", "a")}}})
	assert.Equal(l.t, 2, l.launch("a"))
	l.ok(driver.Request{Op: driver.OpClose, Session: "a"})
	l.saw(record.Died, "s#2")
	assert.False(l.t, l.do(driver.Request{Op: driver.OpCall, Session: "a", Tool: "echo"}).OK)

	l.open("b", "s")
	l.ok(driver.Request{Op: driver.OpStop})
	l.saw(record.Died, "s#3")
}

func TestTick(t *testing.T) {
	t.Parallel()
	each(t, []string{"exact", "naive", "orphan-set", "thread-blind", "mcp-go", "go-sdk"}, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"user": {}, "late": {}, "cut": {}, "fine": {}})
		l.open("u", "user")
		tick := l.begin(driver.Request{Op: driver.OpTick, Jobs: []driver.Job{
			job(l, "j1", "late", "sleep", 300), job(l, "j2", "cut", "sleep", 0), job(l, "j3", "fine", "echo", 0),
		}})
		l.received("cut#1", "sleep")
		l.ok(driver.Request{Op: driver.OpCancel, Session: "j2"})
		jobs := l.wait(tick).Jobs
		require.Len(t, jobs, 3)
		for i, want := range []driver.JobResult{{Session: "j1"}, {Session: "j2"}, {Session: "j3", OK: true}} {
			assert.Equal(t, want.Session, jobs[i].Session)
			assert.Equal(t, want.OK, jobs[i].OK, jobs[i].Error)
			assert.Equal(t, want.OK, jobs[i].Error == "")
		}
		l.saw(record.Died, "fine#1")
		if name == "naive" || name == "thread-blind" {
			l.lives("late#1")
			l.lives("cut#1")
		} else {
			l.saw(record.Died, "late#1")
			l.saw(record.Died, "cut#1")
		}
		assert.True(t, l.echo("u"), "the user's session is none of the tick's business")
		assert.Equal(t, 1, l.launch("u"))
	})
}

// TestReapAllKillsSiblings is what hermes-agent#12430 was rejected for.
func TestReapAllKillsSiblings(t *testing.T) {
	t.Parallel()
	l := builtin(t, "reap-all", scripts{"user": {}, "job": {}, "sibling": {}})
	l.open("u", "user")
	tick := l.begin(driver.Request{Op: driver.OpTick, Jobs: []driver.Job{job(l, "j1", "sibling", "sleep", 0)}})
	l.received("sibling#1", "sleep")
	l.ok(driver.Request{Op: driver.OpTick, Jobs: []driver.Job{job(l, "j2", "job", "echo", 0)}})
	for _, server := range []string{"job#1", "sibling#1", "user#1"} {
		l.saw(record.Died, server)
	}
	assert.False(t, l.wait(tick).Jobs[0].OK)
	assert.False(t, l.echo("u"))
	l.open("u", "user")
	assert.True(t, l.echo("u"))
}

// TestSuperseded: the server of the old connection has closed its stdout, and
// waits for the end of its stdin.
func TestSuperseded(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"flaky": {}, "other": {}})
		l.open("o", "other")
		l.open("f", "flaky")
		l.order("flaky#1", "close-stdout")
		assert.False(t, l.echo("f"))
		l.open("f", "flaky")
		assert.Equal(t, 2, l.launch("f"))
		// Reference hosts sweep, if at all, before a tick is answered.
		l.ok(driver.Request{Op: driver.OpTick})
		switch name {
		case "naive", "thread-blind":
			l.order("flaky#1", "exit")
			all := l.now()
			assert.False(t, has(all, record.SawEOF, "flaky#1") || has(all, record.SawSignal, "flaky#1"), "nobody asked it to end")
		default:
			l.saw(record.Died, "flaky#1")
		}
		assert.Equal(t, name != "reap-all", l.echo("o"))
		assert.True(t, l.echo("f"))
	})
}

// TestNeverConnected: launches 2 and on of a label are refused at initialize.
func TestNeverConnected(t *testing.T) {
	t.Parallel()
	each(t, refhosts, func(t *testing.T, name string) {
		var refuse []fakeserver.Fault
		for launch := 2; launch <= 10; launch++ {
			refuse = append(refuse, fakeserver.Fault{On: "initialize", Do: "reject", Launch: launch})
		}
		l := builtin(t, name, scripts{"flaky": faulty(refuse...), "never": faulty(faultOn("initialize", "reject"))})
		begun := time.Now()
		assert.False(t, l.do(l.openRequest("n", "never")).OK)
		assert.Greater(t, time.Since(begun), (10+20+40)*time.Millisecond, "with growing pauses in between")
		assert.Equal(t, 1+3, l.births("never"), "a first connect has 3 retries")
		l.open("f", "flaky")
		begun = time.Now()
		assert.False(t, l.do(l.openRequest("f", "flaky")).OK)
		assert.Greater(t, time.Since(begun), (10+20+40+80+160)*time.Millisecond)
		assert.Equal(t, 1+1+5, l.births("flaky"), "a reconnect has 5")
		l.ok(driver.Request{Op: driver.OpTick})
		for _, server := range []string{"never#1", "never#4", "flaky#2", "flaky#7"} {
			if name == "naive" || name == "thread-blind" {
				l.lives(server)
			} else {
				l.saw(record.Died, server)
			}
		}
	})
}

// TestTwoOpensAtOnce of one session: one connection remains.
func TestTwoOpensAtOnce(t *testing.T) {
	t.Parallel()
	each(t, []string{"exact", "orphan-set", "mcp-go", "go-sdk"}, func(t *testing.T, name string) {
		slow := fakeserver.Fault{On: "initialize", Do: "delay", For: fakeserver.Duration(200 * time.Millisecond)}
		l := builtin(t, name, scripts{"s": faulty(slow)})
		first, second := l.begin(l.openRequest("a", "s")), l.begin(l.openRequest("a", "s"))
		assert.True(t, l.wait(first).OK)
		assert.True(t, l.wait(second).OK)
		mine := l.launch("a")
		l.saw(record.Died, fmt.Sprintf("s#%d", 3-mine))
		assert.True(t, l.echo("a"))
	})
}

// TestExactEndsHelpers: what a server has started in its process group goes
// with it, whether its session is closed or it ends by itself.
func TestExactEndsHelpers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no process groups")
	}
	l := builtin(t, "exact", scripts{"s": {}, "helper": deaf})
	for launch, end := range []func(server string){
		func(string) { l.ok(driver.Request{Op: driver.OpClose, Session: "a"}) },
		func(server string) { l.order(server, "exit") },
	} {
		req, helper := l.openRequest("a", "s"), l.server("helper", "a")
		line := subject.Expand([]string{"-c", "{{server}} & exec \"$@\"", "sh"}, append([]string{helper.Command}, helper.Args...))
		req.Server.Args = slices.Concat(line, []string{req.Server.Command}, req.Server.Args)
		req.Server.Command = "sh"
		l.ok(req)
		id := fmt.Sprintf("helper#%d", launch+1)
		l.saw(record.Ready, id)
		end(fmt.Sprintf("s#%d", launch+1))
		l.saw(record.Died, id)
	}
}

func TestRetrySucceeds(t *testing.T) {
	t.Parallel()
	l := builtin(t, "exact", scripts{"flaky": faulty(fakeserver.Fault{On: "initialize", Do: "exit", Launch: 2})})
	l.open("f", "flaky")
	l.open("f", "flaky")
	assert.Equal(t, 3, l.launch("f"))
}

// TestNoAnswerWithinTheLimit: the request's own time limit ends a connect.
func TestNoAnswerWithinTheLimit(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"mute": faulty(faultOn("initialize", "hang"))})
		req := l.openRequest("m", "mute")
		req.TimeoutMS = 300
		resp := l.do(req)
		assert.False(t, resp.OK)
		assert.Regexp(t, "time limit|deadline exceeded", resp.Error)
		assert.LessOrEqual(t, l.births("mute"), 1, "no retry after the limit")
	})
}

// TestStopWhileConnecting: a host that is stopped does not wait for a server
// that never answers.
func TestStopWhileConnecting(t *testing.T) {
	t.Parallel()
	each(t, refhosts, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"mute": faulty(faultOn("initialize", "hang"))})
		open := l.begin(l.openRequest("m", "mute"))
		l.await("the hang", func(all []record.Event) bool { return has(all, record.Faulted, "mute#1") })
		l.ok(driver.Request{Op: driver.OpStop})
		assert.Equal(t, 0, l.exit())
		l.saw(record.Died, "mute#1")
		assert.Equal(t, 1, l.births("mute"), "no retry after the stop")
		_ = open // answered, or cut off by the exit: both will do
	})
}

// TestTerm: SIGTERM, with a server that only SIGKILL ends.
func TestTerm(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"deaf": deaf})
		l.open("d", "deaf")
		l.signal(syscall.SIGTERM)
		code := l.exit()
		switch name {
		case "naive":
			assert.Equal(t, 0, code)
			l.order("deaf#1", "exit")
		case "mcp-go", "go-sdk": // have no handler
			assert.Equal(t, -1, code)
			l.order("deaf#1", "exit")
		default:
			assert.Equal(t, 0, code)
			l.saw(record.Died, "deaf#1")
		}
	})
}

// TestKill: nobody can end a deaf server after SIGKILL but the kernel.
func TestKill(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"deaf": deaf})
		l.open("d", "deaf")
		l.signal(syscall.SIGKILL)
		assert.Equal(t, -1, l.exit())
		if name == "exact" && runtime.GOOS == "linux" {
			l.saw(record.Died, "deaf#1")
			return
		}
		l.saw(record.SawEOF, "deaf#1")
		l.order("deaf#1", "exit")
	})
}

// TestBenchGone: a host whose stdin ends exits at once, and says so.
func TestBenchGone(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"s": {}})
		l.open("a", "s")
		l.Close()
		assert.Equal(t, 1, l.exit())
		l.saw(record.Died, "s#1")
	})
}

// TestGracefulFirst: the hosts with a ladder give a server the time that they
// declare. The reference host's is too short to rely on what a server gets
// done in it on a busy machine: here only that it does not kill too early.
func TestGracefulFirst(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]time.Duration{"exact": 600 * time.Millisecond, "mcp-go": 5 * time.Second, "go-sdk": 10 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "exact" {
				tier.Only(t, tier.Published)
			}
			l := builtin(t, name, scripts{"s": {}, "deaf": deaf})
			l.open("d", "deaf")
			begun := time.Now()
			l.ok(driver.Request{Op: driver.OpClose, Session: "d"})
			assert.GreaterOrEqual(t, time.Since(begun), least)
			l.saw(record.Died, "deaf#1")
			if name == "exact" {
				return
			}
			assert.True(t, has(l.now(), record.SawEOF, "deaf#1"))
			assert.True(t, has(l.now(), record.SawSignal, "deaf#1"))
			l.open("a", "s")
			l.ok(driver.Request{Op: driver.OpClose, Session: "a"})
			l.saw(record.Bye, "s#1")
			assert.False(t, has(l.now(), record.SawSignal, "s#1"))
		})
	}
}

// TestMissingCommand: nothing is started.
func TestMissingCommand(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, nil)
		req := driver.Request{Op: driver.OpOpen, Session: "a", Server: &driver.Server{Name: "x", Command: "no-such-program-anywhere"}}
		resp := l.do(req)
		assert.False(t, resp.OK)
		assert.Contains(t, resp.Error, "no-such-program-anywhere")
		jobs := l.ok(driver.Request{Op: driver.OpTick, Jobs: []driver.Job{{Session: "j", Server: *req.Server, Tool: "echo"}}}).Jobs
		assert.False(t, jobs[0].OK)
	})
}

func TestUnknownReferenceHost(t *testing.T) {
	t.Parallel()
	l := &lab{t: t, log: &strings.Builder{}, ended: make(chan struct{})}
	l.start([]string{self(t), "host", "exakt"})
	assert.Equal(t, 2, l.exit())
	assert.Contains(t, l.log.String(), `no reference host "exakt"`)
	<-l.Done()
	_, err := l.Hello(t.Context())
	require.ErrorContains(t, err, "the driver has ended")
}
