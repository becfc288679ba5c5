//go:build linux

package proc_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/proc/portable"
	"github.com/leakbench/leakbench/internal/record"
)

// TestSecondOpinion compares the table with what gopsutil says of the same
// processes.
func TestSecondOpinion(t *testing.T) {
	t.Parallel()
	root, pids := forest(t, "plain", "setsid", "escaped", "grandchild", "zombie", "stopped", "sleep=20")
	state(t, pids["zombie"], "Z")
	state(t, pids["stopped"], "T")
	state(t, pids["sleep"], "S")
	// The two look one after the other: until the forest has come to rest they
	// may see different things.
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		ours, err := proc.NewTable().Below(root.id.PID)
		require.NoError(c, err)
		theirs, err := portable.NewTable().Below(root.id.PID)
		require.NoError(c, err)
		require.Len(c, theirs, len(ours))
		for _, a := range ours {
			b, ok := find(theirs, a.PID)
			require.True(c, ok, "pid %d", a.PID)
			agree(c, a, b)
		}
		_, self := find(theirs, os.Getpid())
		assert.False(c, self, "it stands above the root")
	}, 10*time.Second, 20*time.Millisecond)
	_, err := portable.NewTable().Below(1 << 30)
	require.ErrorIs(t, err, portable.ErrGone)
}

func agree(t assert.TestingT, a, b record.Process) {
	name := a.Comm
	assert.Equal(t, b.PPID, a.PPID, name)
	assert.Equal(t, b.PGID, a.PGID, name)
	assert.Equal(t, b.SID, a.SID, name)
	assert.Equal(t, b.Comm, a.Comm, name)
	assert.Equal(t, b.Args, a.Args, name)
	runs := strings.NewReplacer("R", "S") // it may wake between the two looks
	assert.Equal(t, runs.Replace(string(b.State)), runs.Replace(string(a.State)), name)
	if a.State != "Z" {
		assert.Equal(t, b.FDs, a.FDs, name)
	}
	assert.Equal(t, b.Threads, a.Threads, name)
	// The kernel counts pages per CPU and folds them together late.
	assert.InDelta(t, b.RSS, a.RSS, 1<<20, name)
	assert.InDelta(t, b.CPU.D().Seconds(), a.CPU.D().Seconds(), 0.5, name)
}

func TestPortableEvidence(t *testing.T) {
	t.Parallel()
	c := fake(t, nil, "idle")
	id, err := portable.Identify(c.id.PID)
	require.NoError(t, err)
	require.NoError(t, portable.Check(id))
	e := portable.Examine([]record.Identity{id})[0]
	assert.Equal(t, c.Args, e.Args)
	assert.NotEmpty(t, e.Unseen)
	other := id
	other.Start += 5000
	require.ErrorIs(t, portable.Check(other), portable.ErrGone)
	assert.Empty(t, portable.Examine([]record.Identity{other})[0].Args)
	c.end()
	require.ErrorIs(t, portable.Check(id), portable.ErrGone)
}
