package leaktest_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/leaktest"
)

// TestAKeeperThatIsKilled: the test fails, and lives on to say so.
func TestAKeeperThatIsKilled(t *testing.T) {
	t.Parallel()
	r := &recorder{T: t}
	lab := leaktest.New(r, quick)
	c, err := connect(t.Context(), lab.Server())
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, proc.Signal(keeperOf(t, lab.Server()), syscall.SIGKILL))
	leaktest.VerifyNone(r)
	require.NotEmpty(t, r.said)
	assert.Contains(t, r.said[0], "the keeper is gone")
}

// keeperOf is the process below this one that works beside the ledger's socket of a server.
func keeperOf(t *testing.T, server []string) record.Identity {
	t.Helper()
	dir := filepath.Dir(server[3])
	rows, err := proc.NewTable().Below(os.Getpid())
	require.NoError(t, err)
	for _, row := range rows {
		if len(row.Args) > 2 && row.Args[1] == "keeper" && strings.HasPrefix(row.Args[2], dir) {
			return row.Identity
		}
	}
	require.Fail(t, "no keeper in "+dir)
	return record.Identity{}
}

// TestOneThatIsKilled is what TestNothingOutlivesATestThatIsKilled kills.
func TestOneThatIsKilled(t *testing.T) {
	if os.Getenv(killedEnv) == "" {
		return // the other test starts it
	}
	_, err := connect(t.Context(), leaktest.New(t).Server("on=eof,do=ignore"))
	require.NoError(t, err)
	fmt.Println("\nready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

const killedEnv = "LEAKTEST_TEST_KILLED"

// TestNothingOutlivesATestThatIsKilled: not the program, its keeper, or a server.
func TestNothingOutlivesATestThatIsKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestOneThatIsKilled$")
	cmd.Env, cmd.WaitDelay = append(os.Environ(), killedEnv+"=1"), time.Second
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	out := bufio.NewScanner(stdout)
	for out.Scan() && out.Text() != "ready" {
		t.Log(out.Text())
	}
	left, err := proc.NewTable().Below(cmd.Process.Pid)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(left), 3, "the program, its keeper and the server")
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, p := range left {
		require.NoError(t, proc.WaitGone(ctx, p.Identity), "%q", p.Args)
	}
}
