package fakeserver_test

import (
	"encoding/json"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

func launcher(as string, more ...fakeserver.Fault) fakeserver.Script {
	return fakeserver.Script{Faults: append([]fakeserver.Fault{{On: "start", Do: "launcher", As: as}}, more...)}
}

func script(faults ...fakeserver.Fault) fakeserver.Script { return fakeserver.Script{Faults: faults} }

func labOf(t *testing.T, s fakeserver.Script) *lab {
	t.Helper()
	return newLab(t, map[string]fakeserver.Script{"s": s})
}

func TestLaunchers(t *testing.T) {
	t.Parallel()
	for as, comm := range map[string]string{"wrapper": "launcher", "shell": "sh", "own-group": "launcher", "own-session": "launcher"} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			b := labOf(t, launcher(as))
			p, born := b.behind(t, launcher(as))
			p.greet()
			parent, server := rowOf(p.cmd.Process.Pid), rowOf(born.Birth.PID)
			assert.Equal(t, parent.pid, server.ppid, "the server is the launcher's child")
			assert.Equal(t, comm, parent.comm)
			assert.NotEqual(t, "fakeserver", parent.args[1])
			assert.Equal(t, as == "wrapper" || as == "shell", server.pgid == parent.pgid)
			assert.Equal(t, as == "own-session", server.sid != parent.sid)
			assert.Equal(t, as == "own-group" || as == "own-session", server.pgid == server.pid)
			assert.Equal(t, [3]string{parent.stdin, parent.out, parent.errs}, [3]string{server.stdin, server.out, server.errs}, "stdio is handed down")
			assert.Equal(t, record.Birth{
				Identity: record.Identity{PID: server.pid, Start: 1}, PPID: parent.pid, PGID: server.pgid, SID: server.sid, Label: "s", Session: "main", Launch: 1,
			}, *born.Birth)
			require.NoError(t, p.in.Close())
			assert.Equal(t, 0, p.status(), "the launcher ends with the server")
			b.awaitKind("s#1", record.Died)
			assert.Equal(t, []record.Kind{record.Born, record.Faulted, record.Ready, record.SawEOF, record.Bye, record.Died}, b.kinds("s#1"))
		})
	}
}

// TestLaunchersPassNoSignalOn: who signals what it launched reaches the
// launcher, and its group where the server is in that.
func TestLaunchersPassNoSignalOn(t *testing.T) {
	t.Parallel()
	for as, inGroup := range map[string]bool{"wrapper": true, "shell": true, "own-group": false, "own-session": false} {
		t.Run(as, func(t *testing.T) {
			t.Parallel()
			s := launcher(as, fakeserver.Fault{On: "term", Do: "ignore"})
			b := labOf(t, s)
			p, born := b.behind(t, s)
			p.greet()
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			assert.Equal(t, -1, p.status())
			p.lives()
			assert.NotContains(t, b.kinds("s#1"), record.SawSignal)
			assert.NotEqual(t, p.cmd.Process.Pid, rowOf(born.Birth.PID).ppid)
			err := killGroup(p.cmd.Process.Pid, syscall.SIGTERM)
			if !inGroup {
				require.ErrorIs(t, err, syscall.ESRCH, "nobody is left in the group")
				return
			}
			require.NoError(t, err)
			b.awaitKind("s#1", record.SawSignal)
		})
	}
}

// TestLauncherStatus: it exits as its server does.
func TestLauncherStatus(t *testing.T) {
	t.Parallel()
	s := launcher("", fakeserver.Fault{On: "initialize", Do: "exit", Code: 9})
	p, _ := labOf(t, s).behind(t, s)
	p.send(initialize)
	assert.Equal(t, 9, p.status())
}

// TestLauncherOfSomeLaunches: at the others the launched process is the server.
func TestLauncherOfSomeLaunches(t *testing.T) {
	t.Parallel()
	s := script(fakeserver.Fault{On: "start", Do: "launcher", Every: 2}, fakeserver.Fault{On: "initialize", Do: "reject", Launch: 2})
	b := labOf(t, s)
	for launch := 1; launch <= 4; launch++ {
		p, born := b.behind(t, s)
		p.send(initialize)
		assert.Equal(t, launch == 2, p.answer().Error != nil)
		assert.Equal(t, launch, born.Birth.Launch)
		assert.Equal(t, launch%2 == 0, born.Birth.PPID == p.cmd.Process.Pid, "launch %d", launch)
		assert.Equal(t, launch%2 == 1, born.Birth.PID == p.cmd.Process.Pid, "launch %d", launch)
		require.NoError(t, p.in.Close())
		assert.Equal(t, 0, p.status())
	}
}

func TestNoLauncherLaunchedIt(t *testing.T) {
	t.Parallel()
	b := labOf(t, launcher(""))
	p := start(t, fakeserver.Argv(self(t), b.ledger.Path(), "run-1", "s", "")[1:]...)
	assert.Equal(t, 71, p.status())
	assert.Contains(t, p.stderr.String(), "none launched this server")
}

func TestLauncherByHand(t *testing.T) {
	t.Parallel()
	p := start(t, "fakeserver", "--fault", "on=start,do=launcher,as=own-group")
	p.greet()
	children := awaitRows(t, "children", 1, func() []row { return childrenOf(t, p.cmd.Process.Pid) })
	assert.Equal(t, children[0].pid, children[0].pgid)
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
}

// TestContainer: what the host launched is a proxy; the server is nobody's
// child, and killing the proxy leaves it alone.
func TestContainer(t *testing.T) {
	t.Parallel()
	s := script(fakeserver.Fault{On: "start", Do: "container"})
	t.Run("orderly", func(t *testing.T) {
		t.Parallel()
		b := labOf(t, s)
		p, born := b.behind(t, s)
		p.greet()
		proxy, server := rowOf(p.cmd.Process.Pid), rowOf(born.Birth.PID)
		assert.NotEqual(t, proxy.pid, server.ppid)
		assert.NotEqual(t, proxy.sid, server.sid)
		assert.NotEqual(t, server.pid, server.sid, "forked again after setsid")
		assert.Empty(t, childrenOf(t, proxy.pid))
		assert.Contains(t, server.stdin, "socket:")
		p.send(callEcho)
		require.NoError(t, p.in.Close())
		assert.Nil(t, p.answer().Error)
		assert.Equal(t, 0, p.status())
		b.awaitKind("s#1", record.Bye)
		awaitGone(t, server.pid)
	})
	t.Run("proxy killed", func(t *testing.T) {
		t.Parallel()
		b := labOf(t, s)
		p, born := b.behind(t, s)
		p.greet()
		require.NoError(t, p.cmd.Process.Kill())
		assert.Equal(t, -1, p.status())
		// The end of its socket is there to be read. It reads no end of stdin in it: it obeys the bench as before, and the
		// first that it sees of its end is a signal.
		require.NoError(t, b.ledger.Order("s#1", json.RawMessage(`{"do":"grow","mib":20}`)))
		b.await("grow", func(e record.Event) bool { return e.Fault != nil && e.Fault.Do == "grow" })
		server, err := os.FindProcess(born.Birth.PID)
		require.NoError(t, err)
		require.NoError(t, server.Signal(syscall.SIGTERM))
		b.awaitKind("s#1", record.Bye)
		assert.NotContains(t, b.kinds("s#1"), record.SawEOF)
	})
}
