package leaktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
