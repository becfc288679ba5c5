package proc

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// enough is after how many looks a stranger is known.
const enough = strangeFor + 1

func looks(t *testing.T, table *Table, root, n int) {
	t.Helper()
	for range n {
		_, err := table.Below(root)
		require.NoError(t, err)
	}
}

// TestStrangers: what can't come to be below the root is not read again for as long as it runs, and its number tells nothing after that.
func TestStrangers(t *testing.T) {
	t.Parallel()
	_, root := nap(t)
	other, otherID := nap(t)
	table := NewTable()
	looks(t, table, root.PID, enough-1)
	assert.Empty(t, table.strange.at)
	looks(t, table, root.PID, 1)
	require.True(t, table.strange.knows(otherID.PID))
	assert.True(t, table.strange.knows(os.Getpid()), "a parent of the root is one, too")
	looks(t, table, root.PID, 1)
	assert.False(t, table.strange.knows(root.PID))
	assert.GreaterOrEqual(t, table.find(root.PID), 0, "the root is read each time")
	assert.Negative(t, table.find(otherID.PID), "its row was not read")

	_ = other.Process.Kill()
	_ = other.Wait()
	looks(t, table, root.PID, 1)
	assert.False(t, table.strange.knows(otherID.PID), "another one may have its number now")
	assert.Len(t, table.strange.polled, len(table.strange.at), "its handle was let go")

	looks(t, table, otherRoot(t), 1)
	assert.Empty(t, table.strange.at, "who is a stranger of one root may be below another")
}

func otherRoot(t *testing.T) int {
	_, id := nap(t)
	return id.PID
}

// TestStrangersHaveNoRoot: what orphans leave comes to the first process, and a look for others' sake leaves out nobody.
func TestStrangersHaveNoRoot(t *testing.T) {
	t.Parallel()
	_, id := nap(t)
	table := NewTable()
	looks(t, table, 1, enough+1)
	assert.Empty(t, table.strange.at)
	rows, err := table.Below(1)
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(rows, func(p record.Process) bool { return p.Identity == id }))

	_, root := nap(t)
	looks(t, table, root.PID, enough)
	require.True(t, table.strange.knows(id.PID))
	family, err := table.Family(root, func(other record.Identity, _ int) bool { return other == id })
	require.NoError(t, err)
	require.Len(t, family.Others, 1)
	assert.Equal(t, id, family.Others[0].Identity)
}

// TestStrangersOfAnotherNamespace: when the parent of such a process ends, it comes to the namespace's init, which may be below the root.
func TestStrangersOfAnotherNamespace(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sleep", "300")
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	err := cmd.Start()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EINVAL) {
		t.Skip("no user and pid namespaces here:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	_, plain := nap(t)
	_, root := nap(t)
	table := NewTable()
	looks(t, table, root.PID, enough+2)
	assert.True(t, table.strange.knows(plain.PID))
	assert.False(t, table.strange.knows(cmd.Process.Pid))
}
