package birth_test

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// TestAComplaint: a server that finds no socket says so at an address that is in no folder.
func TestAComplaint(t *testing.T) {
	t.Parallel()
	const path = "/nowhere/none" // a folder of a test may be too long for a socket
	run := "birth-" + filepath.Base(filepath.Dir(t.TempDir()))
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: birth.Complaints(run), Net: "unix"})
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, listener.SetDeadline(time.Now().Add(patience)))
	failed := make(chan error, 1)
	go func() {
		_, _, err := birth.Dial(path, birth.Certificate{Run: run, Label: "s", PID: os.Getpid()})
		failed <- err
	}()
	conn, err := listener.AcceptUnix()
	require.NoError(t, err)
	require.NoError(t, conn.SetDeadline(time.Now().Add(patience)))
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	var said birth.Complaint
	require.NoError(t, json.Unmarshal([]byte(line), &said))
	assert.NotEmpty(t, said.Error)
	said.Error = ""
	want := birth.Complaint{Certificate: birth.Certificate{Run: run, Label: "s", PID: os.Getpid()}, UID: os.Getuid(), Path: path, Gone: true}
	assert.Equal(t, want, said)
	require.ErrorContains(t, <-failed, "failed to reach the bench")
}
