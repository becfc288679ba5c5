package lab_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play/lab"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "dies" {
		dies(os.Args[2])
		return
	}
	reexectest.Main(m)
}

func newLab(t *testing.T) *lab.Lab {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	l := lab.New(lab.Params{Self: self, Name: t.Name(), Out: t.TempDir(), Settle: 500 * time.Millisecond, Confirm: 100 * time.Millisecond})
	t.Cleanup(func() { _ = l.Close(context.WithoutCancel(t.Context())) })
	return l
}

// start launches a server below a shell, which is no server itself, and returns what ends its stdin.
func start(t *testing.T, argv []string) (cmd *exec.Cmd, closeStdin func()) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "sh", append([]string{"-c", `"$@"; exit`, "sh"}, argv...)...)
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	t.Cleanup(func() { stdin.Close() })
	return cmd, func() { stdin.Close() }
}

func TestWhatIsLaunchedIsCounted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	argv, err := l.Server(t.Context())
	require.NoError(t, err)
	cmd, end := start(t, argv)
	require.NoError(t, l.Flat(t.Context(), 1))
	assert.Equal(t, 1, l.Alive())
	end()
	require.NoError(t, cmd.Wait())
	require.NoError(t, l.Flat(t.Context(), 0))
	require.NoError(t, l.Close(t.Context()))
	require.NoError(t, l.Close(t.Context()), "once more")
}

// TestWhatStaysIsKilled also says that the shell goes with its server.
func TestWhatStaysIsKilled(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	argv, err := l.Server(t.Context(), "on=eof,do=ignore")
	require.NoError(t, err)
	cmd, end := start(t, argv)
	require.NoError(t, l.Flat(t.Context(), 1))
	end()
	err = l.Flat(t.Context(), 0)
	var f *lab.Failure
	require.ErrorAs(t, err, &f)
	assert.Equal(t, verdict.Leak, f.Outcome)
	assert.Contains(t, f.Text, "server1#1")
	assert.FileExists(t, f.Page)
	require.Error(t, cmd.Wait(), "killed")
	assert.Equal(t, 0, l.Alive())
	require.NoError(t, l.Close(t.Context()), "it has been said")
}

// TestWhatIsKilledIsMissed: the newest server must live.
func TestWhatIsKilledIsMissed(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	_, err := l.Server(t.Context())
	require.NoError(t, err)
	argv, err := l.Server(t.Context())
	require.NoError(t, err)
	start(t, argv)
	err = l.Flat(t.Context(), 1)
	require.Error(t, err, "the first server was not launched")
}

func TestAnUnusedLabLeavesNothing(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	out := t.TempDir()
	l := lab.New(lab.Params{Self: self, Name: "unused", Out: out})
	_, err = l.Server(t.Context(), "on=tomorrow,do=ignore")
	require.ErrorContains(t, err, "tomorrow")
	_, err = l.Server(t.Context())
	require.NoError(t, err)
	require.NoError(t, l.Close(t.Context()))
	left, err := filepath.Glob(filepath.Join(out, "*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestSideBySideIsNoDuplicate: what is launched side by side is for whatever the test wants, and no duplicate.
func TestSideBySideIsNoDuplicate(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	argv, err := l.Server(t.Context())
	require.NoError(t, err)
	for range 2 {
		shakeHands(t, argv)
	}
	require.NoError(t, l.Flat(t.Context(), 2))
	err = l.Flat(t.Context(), 1)
	var f *lab.Failure
	require.ErrorAs(t, err, &f)
	assert.Contains(t, f.Text, "L1 abandoned")
	assert.Contains(t, f.Text, "server1#1 is one more than the host was asked to keep")
	assert.Contains(t, f.Text, "within 500 ms", "what the lab was told")
}

// shakeHands launches a server that stays to the end of the test, and waits for its answer.
func shakeHands(t *testing.T, argv []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.WaitDelay = 5 * time.Second
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	_, err = io.WriteString(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n")
	require.NoError(t, err)
	answer, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Contains(t, answer, `"result"`)
}
