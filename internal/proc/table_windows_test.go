package proc

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
)

// TestParents: a pid outlives its process, and a younger process that has it now is no parent.
func TestParents(t *testing.T) {
	t.Parallel()
	row := func(pid int, start uint64, comm string) record.Process {
		return record.Process{Identity: record.Identity{PID: pid, Start: start}, Comm: comm}
	}
	table := NewTable()
	table.all = map[int]seen{
		8:  {row(8, 100, "host.exe"), 0},
		12: {row(12, 110, "server.exe"), 8},
		16: {row(16, 120, "orphan.exe"), 4},
		20: {row(20, 90, "older.exe"), 8},
	}
	table.findParents()
	assert.Equal(t, 8, table.all[12].row.PPID)
	assert.Empty(t, table.parentOf(12))
	assert.Zero(t, table.all[16].row.PPID)
	assert.Equal(t, "pid 4 has ended", table.parentOf(16))
	assert.Zero(t, table.all[20].row.PPID, "its parent is younger")
	assert.Equal(t, "pid 8 has ended, and that pid is another process's by now (host.exe)", table.parentOf(20))
}

// TestOwnRow: the row of this process has its command line, which no library splits as the program does.
func TestOwnRow(t *testing.T) {
	t.Parallel()
	own, err := NewTable().One(os.Getpid())
	assert.NoError(t, err)
	assert.Equal(t, Self(), own.Identity)
	assert.Equal(t, os.Getppid(), own.PPID)
	assert.Equal(t, os.Args, own.Args)
	assert.Positive(t, own.RSS)
	assert.NotEmpty(t, own.State)
}

// TestCountsHandles: each handle that is opened is one more of this process.
func TestCountsHandles(t *testing.T) {
	const more = 200
	before, err := NewTable().One(os.Getpid())
	require.NoError(t, err)
	for range more {
		h, err := windows.CreateEvent(nil, 0, 0, nil)
		require.NoError(t, err)
		defer func() { _ = windows.CloseHandle(h) }()
	}
	after, err := NewTable().One(os.Getpid())
	require.NoError(t, err)
	assert.InDelta(t, before.FDs+more, after.FDs, more/4, "other tests open some, too")
}
