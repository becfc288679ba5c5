package ledger_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

// A server that can't reach the ledger says so all the same, a few times.
func TestComplaintsAreTold(t *testing.T) {
	t.Parallel()
	run := "complaints-" + strconv.Itoa(os.Getpid())
	b := open(t, func(p *ledger.Params) { p.Run = run })
	c := me("s")
	c.Run = run
	for range 3 { // the same one is told once
		_, _, err := birth.Dial("/nowhere/none", c)
		require.ErrorContains(t, err, "failed to reach the bench")
	}
	d := b.await(1, record.Doubted)[0].Doubt
	assert.Equal(t, record.DoubtLedgerNoAccess, d.Code)
	assert.Contains(t, d.Text, `a server of "s" could not reach the ledger: it does not see `+filepath.Dir(b.Path()))
	assert.Contains(t, d.Text, filepath.Dir(filepath.Dir(b.Path()))+" of its own")
	c.Role = birth.RoleLauncher
	_, _, err := birth.Dial("/nowhere/none", c)
	require.Error(t, err)
	assert.Contains(t, b.await(2, record.Doubted)[1].Doubt.Text, `a launcher of "s"`)
	for _, line := range []string{"", "no complaint\n", `{"run":"another","label":"s"}` + "\n"} {
		conn, err := net.Dial("unix", birth.Complaints(run))
		require.NoError(t, err)
		_, err = conn.Write([]byte(line))
		require.NoError(t, err)
		require.NoError(t, conn.(*net.UnixConn).CloseWrite())
		_, _ = conn.Read(make([]byte, 1)) // until it is served
	}
	assert.Len(t, b.await(2, record.Doubted), 2)
	require.NoError(t, b.Close())
	// A process that a parallel test forks holds the socket until it executes its program.
	require.Eventually(t, func() bool {
		conn, err := net.Dial("unix", birth.Complaints(run))
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, 10*time.Second, 5*time.Millisecond, "it ends with the ledger")
}
