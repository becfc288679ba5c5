package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/lab"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// dies is a test process that has launched a server and is killed. Between both stands a shell that does not end with the server.
func dies(out string) {
	self, err := os.Executable()
	exitOn(err)
	l := lab.New(lab.Params{Self: self, Name: "dies", Out: out})
	argv, err := l.Server(context.Background(), "on=eof,do=ignore")
	exitOn(err)
	cmd := exec.CommandContext(context.Background(), "sh", append([]string{"-c", `trap "" HUP TERM; "$@" <&0 & echo $!; wait; sleep 60`, "sh"}, argv...)...)
	cmd.WaitDelay = time.Second
	_, err = cmd.StdinPipe()
	exitOn(err)
	stdout, err := cmd.StdoutPipe()
	exitOn(err)
	exitOn(cmd.Start())
	var server int
	_, err = fmt.Fscan(bufio.NewReader(stdout), &server)
	exitOn(err)
	exitOn(l.Flat(context.Background(), 1))
	var ids []record.Identity
	for _, pid := range []int{cmd.Process.Pid, server} {
		id, err := proc.Identify(pid)
		exitOn(err)
		ids = append(ids, id)
	}
	exitOn(json.NewEncoder(os.Stdout).Encode(ids))
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestNothingOutlivesATestThatIsKilled: neither its server nor what stands before that.
func TestNothingOutlivesATestThatIsKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "dies", t.TempDir())
	cmd.WaitDelay, cmd.Stderr = time.Second, os.Stderr
	_, err = cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var ids []record.Identity
	require.NoError(t, json.NewDecoder(stdout).Decode(&ids))
	require.Len(t, ids, 2)
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, id := range ids {
		require.NoError(t, proc.WaitGone(ctx, id))
	}
}
