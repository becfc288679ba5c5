package birth_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/socket"
)

// socketEnv makes this binary a server, which dials that socket.
const socketEnv = "LEAKBENCH_TEST_SOCKET"

const patience = 30 * time.Second

func TestMain(m *testing.M) {
	if path := os.Getenv(socketEnv); path != "" {
		os.Exit(serve(path))
	}
	os.Exit(m.Run())
}

// serve is a server that tells which orders it gets, until the bench is gone.
func serve(path string) int {
	c, w, err := birth.Dial(path, birth.Certificate{Run: "birth", Label: "s", PID: os.Getpid()})
	switch {
	case errors.Is(err, birth.ErrRefused):
		return 3
	case err != nil:
		return 4
	}
	defer c.Close()
	if c.Note(birth.Note{Note: birth.NoteReady, Text: fmt.Sprintf("launch %d, seed %d, script %s", w.Launch, w.Seed, w.Script)}) != nil {
		return 5
	}
	for o := range c.Orders() {
		if c.Note(birth.Note{Note: birth.NoteFault, Data: o.Do}) != nil {
			return 5
		}
	}
	return 0
}

// server is a process that was started, with the bench's end of its connection.
type server struct {
	cmd  *exec.Cmd
	conn *socket.Conn
	in   *bufio.Reader
}

func start(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), socketEnv+"="+path)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
	require.NoError(t, cmd.Start())
	return cmd
}

// born is a server whose certificate was read.
func born(t *testing.T) server {
	t.Helper()
	dir, err := os.MkdirTemp("", "lb-") // the path of a socket must be short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "s")
	listener, err := socket.Listen(path)
	require.NoError(t, err)
	defer listener.Close()
	s := server{cmd: start(t, path)}
	late := time.AfterFunc(patience, func() { listener.Close() })
	defer late.Stop()
	s.conn, err = listener.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { s.conn.Close() })
	require.NoError(t, s.conn.SetDeadline(time.Now().Add(patience)))
	s.in = bufio.NewReader(s.conn)
	var c birth.Certificate
	s.read(t, &c)
	assert.Equal(t, birth.Certificate{Run: "birth", Label: "s", PID: s.cmd.Process.Pid}, c)
	return s
}

func (s server) read(t *testing.T, into any) {
	t.Helper()
	line, err := s.in.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(line), into))
}

func (s server) say(t *testing.T, line string) {
	t.Helper()
	_, err := s.conn.Write([]byte(line + "\n"))
	require.NoError(t, err)
}

// ends waits for the server's end, and asserts its status.
func (s server) ends(t *testing.T, status int) {
	t.Helper()
	_ = s.cmd.Wait()
	assert.Equal(t, status, s.cmd.ProcessState.ExitCode())
}

// TestALife: certificate, welcome, notes and orders; the end of the bench is the end of the server.
func TestALife(t *testing.T) {
	t.Parallel()
	s := born(t)
	s.say(t, `{"launch":2,"seed":7,"script":{"era":"dual"}}`)
	var n birth.Note
	s.read(t, &n)
	assert.Equal(t, birth.NoteReady, n.Note)
	assert.Equal(t, `launch 2, seed 7, script {"era":"dual"}`, n.Text)
	assert.WithinDuration(t, time.Now(), time.Unix(0, n.At), patience)
	for _, do := range []string{`{"do":"exit"}`, `"<&>"`} {
		s.say(t, `{"do":`+do+`}`)
		var n birth.Note
		s.read(t, &n)
		assert.Equal(t, birth.NoteFault, n.Note)
		assert.Equal(t, do, string(n.Data))
	}
	require.NoError(t, s.conn.Close())
	s.ends(t, 0)
}

// TestWelcomes that are none end the server, and one that refuses it is told apart.
func TestWelcomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line   string
		status int
	}{
		"refused": {`{"error":"wrong run"}`, 3}, "no JSON": {"hello", 4}, "too long": {strings.Repeat(" ", birth.MaxLine+1), 4}, "none": {"", 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := born(t)
			_, _ = s.conn.Write([]byte(c.line + "\n"))
			_ = s.conn.Close()
			s.ends(t, c.status)
		})
	}
}

// TestAnOrderThatIsNone ends the server: a bench that can't be understood is as good as gone.
func TestAnOrderThatIsNone(t *testing.T) {
	t.Parallel()
	s := born(t)
	s.say(t, `{"launch":1}`)
	var n birth.Note
	s.read(t, &n)
	s.say(t, "hello")
	s.ends(t, 0)
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	s := server{cmd: start(t, filepath.Join(t.TempDir(), "none"))}
	s.ends(t, 4)
}

func TestALineThatIsTooLong(t *testing.T) {
	t.Parallel()
	const quotes = 2 + 1 // with the newline
	line, err := birth.EncodeLine(strings.Repeat("x", birth.MaxLine-quotes))
	require.NoError(t, err)
	assert.Len(t, line, birth.MaxLine)
	_, err = birth.EncodeLine(strings.Repeat("x", birth.MaxLine-quotes+1))
	require.ErrorContains(t, err, "is longer than")
	_, err = birth.EncodeLine(func() {})
	require.Error(t, err)
}
