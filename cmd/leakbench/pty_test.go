//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onTerminal runs the bench on a terminal of a width and returns all that it
// wrote to it.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, append(args, "--out", t.TempDir())...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = append([]string{"TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}, env...)
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: columns})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		t.Skipf("no terminal can be made here: %v", err)
	}
	require.NoError(t, err)
	defer terminal.Close()
	out, err := io.ReadAll(terminal)
	if !errors.Is(err, syscall.EIO) { // how Linux ends a terminal that nobody has open
		require.NoError(t, err)
	}
	exit := (*exec.ExitError)(nil)
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, exitFinding, exit.ExitCode(), "%s", out)
	return strings.ReplaceAll(string(out), "\r\n", "\n")
}

var sgrCode = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestOnATerminal(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name    string
		columns uint16
		env     []string
		color   bool
	}{
		{"narrow", 80, nil, true},
		{"wide", 200, nil, true},
		{"no colour", 80, []string{"NO_COLOR=1"}, false},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			out := onTerminal(t, one.columns, one.env, "run", "cron", "--host", "reap-all")
			live, verdict, ok := cutLast(out, "\r\x1b[K")
			require.True(t, ok, "the status line is cleared: %q", out)
			assert.Contains(t, live, "cron on reap-all")
			assert.Regexp(t, `\d+/\d+  live \d+  faults 0  \d+\.\d s`, live)
			assert.Equal(t, one.color, sgrCode.MatchString(verdict), "colour")
			plain := sgrCode.ReplaceAllString(verdict, "")
			assert.NotContains(t, plain, "\x1b")
			longest := 0
			for line := range strings.Lines(plain) {
				longest = max(longest, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")))
			}
			assert.LessOrEqual(t, longest, int(one.columns))
			assert.Greater(t, longest, int(one.columns)*3/4, "the width is used")
			for _, want := range []string{"✗ leak  cron on reap-all", "expected ", "found ", "values ", "broken     L3", "report ", "again      leakbench run cron --seed "} {
				assert.Contains(t, plain, want)
			}
		})
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func TestForcedColourInAPipe(t *testing.T) {
	t.Setenv("FORCE_COLOR", "1")
	t.Setenv("NO_COLOR", "")
	a := &app{color: "auto"}
	assert.True(t, a.colored(false))
	t.Setenv("NO_COLOR", "1")
	assert.False(t, a.colored(true))
	a.color = "always"
	assert.True(t, a.colored(false))
}
