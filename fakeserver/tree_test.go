package fakeserver_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

func TestHelpers(t *testing.T) {
	t.Parallel()
	type want struct{ child, group, session, stdin, stdout bool } // whether it is as the server's
	for as, w := range map[string]want{
		"group":   {child: true, group: true, session: true},
		"stdio":   {child: true, group: true, session: true, stdin: true, stdout: true},
		"stdout":  {child: true, group: true, session: true, stdout: true},
		"session": {child: true},
		"daemon":  {},
		"pipes":   {stdout: true},
	} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: "start", Do: "helper", As: as, Count: 2})
			p := startAs(t, unheard, fakeserver.Argv(self(t), b.ledger.Path(), "run-1", "s", "")[1:]...)
			id := "s#1"
			p.greet()
			assert.Contains(t, b.awaitKind(id, record.Faulted).Fault.Detail, "as "+as)
			server := rowOf(p.cmd.Process.Pid)
			helpers := awaitRows(t, "helpers", 2, func() []row { return named(helpersOf(t, b), "helper-"+as) })
			for _, h := range helpers {
				got := want{h.ppid == server.pid, h.pgid == server.pgid, h.sid == server.sid, h.stdin == server.stdin, h.out == server.out}
				assert.Equal(t, w, got, "%+v beside %+v", h, server)
				assert.Equal(t, as == "session", h.sid == h.pid)
			}
			require.NoError(t, p.in.Close())
			assert.Equal(t, 0, p.status())
			assert.Len(t, helpersOf(t, b), 2, "they outlive the server")
			assert.Equal(t, w.stdout, stdoutIsOpen(t, p), "who holds stdout keeps its end from the host")
			require.NoError(t, b.ledger.Close())
			for _, h := range helpers {
				awaitGone(t, h.pid)
			}
			// A child that another test is forking holds every pipe of this process until its exec.
			assert.Eventually(t, func() bool { return !stdoutIsOpen(t, p) }, 10*time.Second, time.Millisecond)
		})
	}
}

// TestDaemonHoldsStderr: with pipes, and with no other daemon, the host sees no end of the stderr of a server that has exited.
func TestDaemonHoldsStderr(t *testing.T) {
	t.Parallel()
	for as, held := range map[string]bool{"pipes": true, "daemon": false} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			r, w, err := os.Pipe()
			require.NoError(t, err)
			defer r.Close()
			b := one(t, "", fakeserver.Fault{On: "start", Do: "helper", As: as})
			p, _ := b.launchWith("s", w)
			require.NoError(t, w.Close())
			p.greet()
			awaitRows(t, "helpers", 1, func() []row { return named(helpersOf(t, b), "helper-"+as) })
			require.NoError(t, p.in.Close())
			assert.Equal(t, 0, p.status())
			open := func() bool {
				require.NoError(t, r.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
				_, err := io.Copy(io.Discard, r)
				return os.IsTimeout(err)
			}
			if held {
				assert.True(t, open())
				require.NoError(t, b.ledger.Close())
			}
			assert.Eventually(t, func() bool { return !open() }, 10*time.Second, time.Millisecond)
		})
	}
}

// named are the rows whose process has come as far as to name itself.
func named(rows []row, comm string) (all []row) {
	for _, r := range rows {
		if r.comm == comm {
			all = append(all, r)
		}
	}
	return all
}

// stdoutIsOpen says that somebody can still write to the host.
func stdoutIsOpen(t *testing.T, p *process) bool {
	t.Helper()
	require.NoError(t, p.out.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err := p.out.Read(make([]byte, 1))
	return os.IsTimeout(err)
}

func TestHelperByOrder(t *testing.T) {
	t.Parallel()
	b := one(t, "")
	p, id := b.launch("s")
	p.greet()
	require.NoError(t, b.ledger.Order(id, []byte(`{"do":"helper","as":"session"}`)))
	awaitRows(t, "helpers", 1, func() []row { return helpersOf(t, b) })
	// One that ends before its server is waited for.
	helper := helpersOf(t, b)[0]
	other, err := os.FindProcess(helper.pid)
	require.NoError(t, err)
	require.NoError(t, other.Kill())
	awaitRows(t, "children", 0, func() []row { return childrenOf(t, p.cmd.Process.Pid) })
}

// TestWhatIsAnnouncedIsDone: a run that counts on a helper has it, also where the server is asked to end in the moment of the order.
func TestWhatIsAnnouncedIsDone(t *testing.T) {
	t.Parallel()
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			b := one(t, "")
			p, id := b.launch("s")
			p.greet()
			require.NoError(t, b.ledger.Order(id, []byte(`{"do":"helper","count":5}`)))
			b.awaitKind(id, record.Faulted)
			require.NoError(t, p.in.Close())
			assert.Equal(t, 0, p.status())
			awaitRows(t, "helpers", 5, func() []row { return helpersOf(t, b) })
		})
	}
}

func TestZombies(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "call", Do: "zombies", Count: 3})
	p, _ := b.launch("s")
	p.greet()
	assert.Empty(t, childrenOf(t, p.cmd.Process.Pid))
	p.send(callEcho)
	assert.Nil(t, p.answer().Error)
	children := childrenOf(t, p.cmd.Process.Pid)
	require.Len(t, children, 3)
	for _, c := range children {
		assert.Equal(t, "Z", c.state)
	}
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	for _, c := range children {
		awaitGone(t, c.pid)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	for _, as := range []string{"file", "port"} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: "start", Do: "lock", As: as, Code: 5})
			first, _ := b.launch("s")
			first.greet()
			if as == "port" {
				conn, err := net.DialTimeout("tcp", "127.0.0.1:"+portOf(t, b), patience)
				require.NoError(t, err)
				require.NoError(t, conn.Close())
			}
			second, id := b.launch("s")
			assert.Equal(t, 5, second.status())
			assert.Contains(t, second.stderr.String(), "is taken by another launch of s")
			b.awaitKind(id, record.Died)
			assert.Equal(t, []record.Kind{record.Born, record.Faulted, record.Faulted, record.WroteStderr, record.Bye, record.Died}, b.kinds(id))
			assert.Contains(t, b.awaitKind(id, record.Bye).Text, as+" is taken")
			first.lives()
			require.NoError(t, first.cmd.Process.Kill()) // it is free however its holder ends
			first.status()
			third, _ := b.launch("s")
			third.greet()
		})
	}
}

func portOf(t *testing.T, b *lab) string {
	t.Helper()
	text, err := os.ReadFile(b.beside("leakbench-port-s"))
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

func TestKillSiblings(t *testing.T) {
	t.Parallel()
	for as, sig := range map[string]syscall.Signal{"term": syscall.SIGTERM, "kill": syscall.SIGKILL} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			action := fakeserver.Fault{On: "start", Do: "kill-siblings", As: as, Launch: 3}
			b := newLab(t, map[string]fakeserver.Script{"s": script(action), "other": script(action)})
			first, one := b.launch("s")
			second, two := b.launch("s")
			bystander, _ := b.launch("other")
			for _, p := range []*process{first, second, bystander} {
				p.greet()
			}
			third, three := b.launch("s")
			fault := b.awaitKind(three, record.Faulted).Fault
			assert.ElementsMatch(t, []int{first.cmd.Process.Pid, second.cmd.Process.Pid}, fault.Targets)
			for id, p := range map[string]*process{one: first, two: second} {
				assert.Equal(t, map[bool]int{true: -1, false: 0}[sig == syscall.SIGKILL], p.status())
				b.awaitKind(id, record.Died)
				assert.Equal(t, sig == syscall.SIGTERM, len(b.kinds(id)) > 3, "%v", b.kinds(id))
			}
			third.greet()
			bystander.lives()
		})
	}
}

// TestWatchdogs: a watchdog that looks every 20 ms, and should not bark, has looked several times when its server has
// answered a call that takes longer than that.
func TestWatchdogs(t *testing.T) {
	t.Parallel()
	dog := func(as string) fakeserver.Script {
		return launcher("", fakeserver.Fault{On: "start", Do: "watchdog", As: as, For: fakeserver.Duration(20 * time.Millisecond)},
			fakeserver.Fault{On: "eof", Do: "ignore"}, fakeserver.Fault{On: "term", Do: "ignore"})
	}
	behindFoster := func(t *testing.T, as string) (*lab, *process, record.Event) {
		b := labOf(t, dog(as))
		p, born := b.behind(t, dog(as), "foster")
		p.greet()
		p.sleeps(100 * time.Millisecond)
		return b, p, born
	}
	orphan := func(t *testing.T, p *process, born record.Event) {
		parent, err := os.FindProcess(born.Birth.PPID)
		require.NoError(t, err)
		require.NoError(t, parent.Kill())
		require.Eventually(t, func() bool { return rowOf(born.Birth.PID).ppid == p.cmd.Process.Pid }, patience, time.Millisecond, "it comes home to the subreaper")
		p.sleeps(200 * time.Millisecond)
	}
	t.Run("ppid does not see a subreaper", func(t *testing.T) {
		t.Parallel()
		_, p, born := behindFoster(t, "ppid")
		orphan(t, p, born)
	})
	t.Run("ppid sees pid 1", func(t *testing.T) {
		t.Parallel()
		b := labOf(t, dog("ppid"))
		p, born := b.behind(t, dog("ppid"))
		p.greet()
		require.NoError(t, p.cmd.Process.Kill())
		p.status()
		if home := rowOf(born.Birth.PID).ppid; home > 1 {
			t.Skipf("orphans come home to pid %d here, a subreaper, not to pid 1", home)
		}
		assert.Equal(t, "watchdog: its parent is pid 1", b.awaitKind("s#1", record.Bye).Text)
		awaitGone(t, born.Birth.PID)
	})
	t.Run("pid takes a zombie for its parent", func(t *testing.T) {
		t.Parallel()
		b, p, born := behindFoster(t, "pid")
		orphan(t, p, born)
		assert.Equal(t, "Z", rowOf(born.Birth.PPID).state)
		require.NoError(t, p.cmd.Process.Signal(syscall.Signal(10))) // SIGUSR1: it waits for its children now
		assert.Equal(t, fmt.Sprintf("watchdog: nobody has the pid %d", born.Birth.PPID), b.awaitKind("s#1", record.Bye).Text)
		assert.Equal(t, 0, p.status())
	})
	t.Run("created barks at nothing", func(t *testing.T) {
		t.Parallel()
		b := labOf(t, dog("created"))
		p, born := b.behind(t, dog("created"))
		assert.Contains(t, b.awaitKind("s#1", record.Bye).Text, "watchdog: its parent was created at")
		b.await("bark", func(e record.Event) bool { return e.Fault != nil && e.Fault.On == "watchdog" && e.Fault.Breaks })
		assert.Equal(t, p.cmd.Process.Pid, born.Birth.PPID)
		assert.Equal(t, 0, p.status())
	})
}

// TestTreeEndsWithBench: SIGKILL of the process that holds the ledger ends
// launchers, servers behind them, daemons and helpers, whatever they ignore.
func TestTreeEndsWithBench(t *testing.T) {
	t.Parallel()
	for _, as := range []string{"wrapper", "shell", "own-session", "container"} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			needsProc(t)
			s := script(fakeserver.Fault{On: "eof", Do: "ignore"}, fakeserver.Fault{On: "term", Do: "ignore"},
				fakeserver.Fault{On: "start", Do: "zombies"}, fakeserver.Fault{On: "start", Do: "launcher", As: as})
			if as == "container" {
				s.Faults[3] = fakeserver.Fault{On: "start", Do: as}
			}
			for _, kind := range []string{"group", "stdio", "stdout", "session", "daemon"} {
				s.Faults = append(s.Faults, fakeserver.Fault{On: "start", Do: "helper", As: kind})
			}
			bench, path := holdBench(t, s)
			p := start(t, s.Argv(self(t), path, "run-1", "s", "")[1:]...)
			p.greet()
			tree := func() []row {
				return table(t, func(r row) bool { return strings.Contains(strings.Join(r.args, " "), path) })
			}
			awaitRows(t, "processes", 7, tree)
			require.NoError(t, bench.cmd.Process.Kill())
			begun := time.Now()
			awaitRows(t, "processes", 0, tree)
			t.Logf("gone after %v", time.Since(begun))
			p.status()
		})
	}
}

// holdBench is a bench that can be killed, and the path of its ledger.
func holdBench(t *testing.T, s fakeserver.Script) (*process, string) {
	t.Helper()
	dir, err := ledger.NewDir()
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bench := start(t, "hold-ledger", dir, jsonOf(t, s))
	hello, err := bench.recv()
	require.NoError(t, err)
	path, ok := strings.CutPrefix(hello, "listening ")
	require.True(t, ok, hello)
	return bench, path
}
