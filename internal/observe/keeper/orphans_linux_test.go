package keeper_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// The kernel ends the host with its keeper. What the host had started is known by the ledger alone.
func TestSweepInThePlaceOfAKeeper(t *testing.T) {
	t.Parallel()
	f := start(t, "setsid") // its run has no token, by which others of this test could be taken for it
	f.killed = true
	server, err := proc.Identify(f.pids["setsid"])
	require.NoError(t, err)
	require.NoError(t, proc.Signal(f.Hello.Identity, syscall.SIGKILL))
	<-f.Done()
	require.NoError(t, proc.WaitGone(t.Context(), f.host.Process.Identity))
	now, err := proc.Identify(server.PID)
	require.NoError(t, err, "nobody has ended it yet")
	require.Equal(t, server, now)
	_, err = f.SweepInItsPlace(keeper.Left{
		Host: f.host.Process.Identity, Servers: []record.Identity{server}, Knows: func(record.Identity) bool { return false },
	})
	assert.NoError(t, err)
	assert.NoError(t, proc.WaitGone(t.Context(), server))
}
