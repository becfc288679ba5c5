package keeper_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/socket/sockettest"
)

// userEnv is whom this binary becomes before it is a keeper.
const userEnv = "LEAKBENCH_TEST_USER"

func init() {
	if uid, err := strconv.Atoi(os.Getenv(userEnv)); err == nil {
		_ = syscall.Setuid(uid)
	}
}

// TestNobodyElseIsTheKeeper: neither another user nor another process of this one, though both are first.
func TestNobodyElseIsTheKeeper(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	dir, own := sockettest.OpenDir(t), t.TempDir()
	ready, proceed := filepath.Join(own, "ready"), filepath.Join(own, "go")
	program := filepath.Join(own, "program")
	require.NoError(t, files.Program(program, fmt.Appendf(nil, "#!/bin/sh\nchmod 0777 \"$2\"; : >%s\nwhile [ ! -e %s ]; do sleep 0.01; done\nexec %s \"$@\"\n", ready, proceed, self)))
	type result struct {
		k   *keeper.Keeper
		err error
	}
	started := make(chan result, 1)
	go func() {
		k, err := keeper.Start(t.Context(), keeper.Params{Self: program, Dir: dir, Log: filepath.Join(own, "log")})
		started <- result{k, err}
	}()
	require.Eventually(t, func() bool { _, err := os.Stat(ready); return err == nil }, 20*time.Second, 5*time.Millisecond)
	path := filepath.Join(dir, "k")
	mine, err := net.Dial("unix", path)
	require.NoError(t, err)
	for _, conn := range []net.Conn{sockettest.DialAs(t, 54321, path), mine} {
		defer conn.Close()
		_, _ = conn.Write([]byte(`{"hello":{"pid":1,"start":1}}` + "\n"))
		_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		_, err := conn.Read(make([]byte, 1))
		require.Error(t, err, "it is hung up on")
		require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	}
	require.NoError(t, os.WriteFile(proceed, nil, 0o600))
	r := <-started
	require.NoError(t, r.err)
	assert.NotEqual(t, 1, r.k.Hello.PID)
	require.NoError(t, r.k.Close())
}

// TestAKeeperThatBecomesAnotherUser is hung up on, though it is the process that was started.
func TestAKeeperThatBecomesAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may become another user")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	own := t.TempDir()
	for user, refused := range map[string]bool{"0": false, "54321": true} {
		program := filepath.Join(own, user)
		require.NoError(t, files.Program(program, fmt.Appendf(nil, "#!/bin/sh\nchmod 0777 \"$2\"\n%s=%s exec %s \"$@\"\n", userEnv, user, self)))
		k, err := keeper.Start(t.Context(), keeper.Params{Self: program, Dir: sockettest.OpenDir(t), Log: filepath.Join(own, "log")})
		if !refused {
			require.NoError(t, err)
			require.NoError(t, k.Close())
			continue
		}
		if err == nil {
			_ = k.Close()
		}
		require.ErrorContains(t, err, "the keeper did not come up: it exited at once")
	}
}
