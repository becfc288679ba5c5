//go:build unix

package reexec_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/reexec"
)

// The test binary plays the parts, as the program does.
func TestMain(m *testing.M) {
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	os.Exit(m.Run())
}

// play runs a part, with an empty stdin.
func play(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, self, args...)
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Kill() }, time.Second
	cmd.Stdin = strings.NewReader("")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err = cmd.Run()
	require.NoError(t, ctx.Err(), "%v did not end", args)
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// TestHosts say hello on stdout, by the name under which the catalogue has them, and end when the bench is gone.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"exact", "naive", "mcp-go", "go-sdk"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, stdout, stderr := play(t, "host", name)
			assert.Equal(t, 1, status, stderr)
			hello, _, _ := strings.Cut(stdout, "\n")
			assert.Contains(t, hello, `"`+name+`"`)
		})
	}
}

func TestAHostThatIsNone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"comet", "trick-healthy"} { // the second one is a host of the tests alone
		status, stdout, stderr := play(t, "host", name)
		assert.Equal(t, 2, status)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "leakbench host NAME")
		assert.Contains(t, stderr, "naive")
	}
}

func TestAKeeperWithoutABench(t *testing.T) {
	t.Parallel()
	status, _, stderr := play(t, "keeper", "/nowhere/k")
	assert.NotZero(t, status)
	assert.NotEmpty(t, stderr)
}

func TestWhatIsNoPart(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"leakbench"}, {"leakbench", "run"}, {"leakbench", "hosts"}, {"leakbench", ""}} {
		_, ok := reexec.Main(args)
		assert.False(t, ok, "%q", args)
	}
}
