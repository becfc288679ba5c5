//go:build unix

package fakeserver_test

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/observe/ledger"
)

// rawBench is a bench that does nothing by itself.
type rawBench struct {
	t        *testing.T
	path     string
	listener *net.UnixListener
	conn     *net.UnixConn
	lines    *lines.Reader
}

func newRawBench(t *testing.T) *rawBench {
	dir, err := ledger.NewDir()
	require.NoError(t, err)
	b := &rawBench{t: t, path: filepath.Join(dir, "s")}
	b.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: b.path, Net: "unix"})
	require.NoError(t, err)
	t.Cleanup(func() {
		if b.conn != nil {
			_ = b.conn.Close()
		}
		_ = b.listener.Close()
		_ = os.RemoveAll(dir)
	})
	return b
}

func (b *rawBench) accept() {
	var err error
	require.NoError(b.t, b.listener.SetDeadline(time.Now().Add(patience)))
	b.conn, err = b.listener.AcceptUnix()
	require.NoError(b.t, err)
	b.lines = lines.New(b.conn, birth.MaxLine)
}

func (b *rawBench) read(into any) {
	b.t.Helper()
	require.NoError(b.t, b.conn.SetReadDeadline(time.Now().Add(patience)))
	line, err := b.lines.Next()
	require.NoError(b.t, err)
	require.NoError(b.t, json.Unmarshal(line, into))
}

func (b *rawBench) note() birth.Note {
	b.t.Helper()
	var n birth.Note
	b.read(&n)
	return n
}

func (b *rawBench) write(message any) {
	line, err := json.Marshal(message)
	require.NoError(b.t, err)
	_, err = b.conn.Write(append(line, '\n'))
	require.NoError(b.t, err)
}

func (b *rawBench) silentFor(d time.Duration) bool {
	require.NoError(b.t, b.conn.SetReadDeadline(time.Now().Add(d)))
	_, err := b.lines.Next()
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// waiting is what lies in the socket's buffer this instant.
func (b *rawBench) waiting() string {
	raw, err := b.conn.SyscallConn()
	require.NoError(b.t, err)
	buf := make([]byte, 64<<10)
	n := 0
	require.NoError(b.t, raw.Control(func(fd uintptr) {
		n, _, err = syscall.Recvfrom(int(fd), buf, syscall.MSG_DONTWAIT|syscall.MSG_PEEK)
	}))
	require.NoError(b.t, err)
	return string(buf[:n])
}

// TestScriptComesBeforeStdin: nothing is read before the script is there.
func TestScriptComesBeforeStdin(t *testing.T) {
	t.Parallel()
	b := newRawBench(t)
	p := start(t, fakeserver.Argv(self(t), b.path, "r", "s", "")[1:]...)
	b.accept()
	var c birth.Certificate
	b.read(&c)
	assert.Equal(t, p.cmd.Process.Pid, c.PID)
	p.send(initialize)
	// The request stays in the pipe as long as the bench keeps silent.
	assert.True(t, b.silentFor(200*time.Millisecond))
	b.write(birth.Welcome{Launch: 5, Script: json.RawMessage(`{"faults":[{"on":"initialize","do":"reject","launch":3}]}`)})
	assert.Equal(t, "ready", b.note().Note)
	assert.Equal(t, "rpc", b.note().Note)
	assert.Equal(t, "opens", b.note().Note)
	b.write(birth.Order{Do: json.RawMessage("null"), Opens: 3})
	var fault birth.Fault
	note := b.note()
	assert.Equal(t, "fault", note.Note)
	require.NoError(t, json.Unmarshal(note.Data, &fault))
	assert.Equal(t, 3, fault.Launch, "it counts from the first request of a session, not from the birth")
	assert.NotNil(t, p.answer().Error)
	b.conn.Close()
	assert.Equal(t, 72, p.status())
}

// TestAnnouncedBeforeCommitted reads the bench's socket without waiting, at
// the moment at which a action shows: the announcement must be there already.
func TestAnnouncedBeforeCommitted(t *testing.T) {
	t.Parallel()
	for _, action := range []string{"reject", "garbage", "wrong-version", "exit", "close-stdout"} {
		t.Run(action, func(t *testing.T) {
			t.Parallel()
			b := newRawBench(t)
			p := start(t, fakeserver.Argv(self(t), b.path, "r", "s", "")[1:]...)
			b.accept()
			b.read(&birth.Certificate{})
			script, err := json.Marshal(fakeserver.Script{Faults: []fakeserver.Fault{{On: "initialize", Do: action}}})
			require.NoError(t, err)
			b.write(birth.Welcome{Launch: 1, Script: script})
			p.send(initialize)
			_, _ = p.recv()
			assert.Contains(t, b.waiting(), `"note":"fault"`)
			b.conn.Close()
			p.status()
		})
	}
}
