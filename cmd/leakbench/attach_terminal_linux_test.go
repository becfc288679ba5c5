package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tenServers is a host with ten servers, all of which it uses. It is ready when it says so, and ends with its stdin.
const tenServers = `
for n in $(seq 20 29); do eval "exec $n> >(exec cat >/dev/null)"; done
echo ready
while read -rt 0.2 line || [ $? -gt 128 ]; do for n in $(seq 20 29); do echo x >&$n; done; done`

// longEnough says that it was watched for 3 s or more: a look that comes late skips a second.
var longEnough = regexp.MustCompile(`watched for (?:([3-9]|\d\d+)(\.\d+)? s|\d+ m)`)

// seen is what a terminal is shown, in frames: each begins at the top of the screen.
type seen struct {
	t   *testing.T
	in  io.Reader
	all string
}

// until reads until what was shown is as it should be.
func (s *seen) until(what string, is func() bool) {
	s.t.Helper()
	buf := make([]byte, 4096)
	for !is() {
		n, err := s.in.Read(buf)
		s.all += string(buf[:n])
		if err != nil {
			require.True(s.t, is(), "%s: %v: %q", what, err, s.all)
			return
		}
	}
}

// frame is the last frame that was shown completely, line by line, without control sequences.
func (s *seen) frame() (lines []string) {
	frames := strings.Split(s.all, "\x1b[H")
	for i := len(frames) - 1; i > 0; i-- {
		if text, _, whole := strings.Cut(frames[i], "\x1b[J"); whole {
			return strings.Split(strings.TrimSuffix(strings.ReplaceAll(sgrCode.ReplaceAllString(text, ""), "\x1b[K", ""), "\r\n"), "\r\n")
		}
	}
	return nil
}

// TestAttachOnATerminal: the table is drawn in place, on a screen of its own, in the size that the terminal has at the moment. Ctrl-C
// ends the watch, and the verdict stands where the table did not.
func TestAttachOnATerminal(t *testing.T) {
	t.Parallel()
	host := exec.CommandContext(t.Context(), "bash", "-c", tenServers)
	host.WaitDelay = 10 * time.Second
	in, err := host.StdinPipe()
	require.NoError(t, err)
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	t.Cleanup(func() { _ = in.Close(); _ = host.Wait() })
	require.True(t, bufio.NewScanner(out).Scan())

	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "attach", strconv.Itoa(host.Process.Pid), "--settle", "1s")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = []string{"TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GORACE=atexit_sleep_ms=0"}
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skipf("no terminal can be made here: %v", err)
	}
	require.NoError(t, err)
	defer terminal.Close()
	s := &seen{t: t, in: terminal}
	shows := func(frame []string, what string) bool { return strings.Contains(strings.Join(frame, "\n"), what) }

	s.until("all of it", func() bool { return shows(s.frame(), "10 alive") && shows(s.frame(), "SESSION") })
	require.True(t, strings.HasPrefix(s.all, "\x1b[?1049h"), "%.40q", s.all)
	assert.Equal(t, 10, strings.Count(strings.Join(s.frame(), "\n"), " server cat "))

	require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Rows: 12, Cols: 70}))
	s.until("less of it", func() bool { return shows(s.frame(), "more processes") })
	assert.LessOrEqual(t, len(s.frame()), 11)
	for _, line := range s.frame() {
		assert.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\r"))), 70, line) // the terminal adds one of its own to each line break
	}
	assert.True(t, shows(s.frame(), "hidden ("), "what there is no room for is named")
	assert.True(t, shows(s.frame(), "too short: "))
	s.until("longer than the settle time", func() bool { return longEnough.MatchString(strings.Join(s.frame(), "\n")) })
	assert.LessOrEqual(t, len(s.frame()), 11)

	_, err = terminal.WriteString("\x03")
	require.NoError(t, err)
	s.until("the verdict", func() bool { return strings.Contains(s.all, "not judged") })
	table, verdict, left := cutLast(s.all, "\x1b[?1049l")
	require.True(t, left, "%q", s.all)
	assert.Equal(t, 1, strings.Count(table, "\x1b[?1049h"))
	assert.Contains(t, sgrCode.ReplaceAllString(verdict, ""), "✓ clean  attach on bash")
	require.NoError(t, cmd.Wait())
}
