//go:build unix

package ledger_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

// Not parallel: the environment is the process's.
func TestNewDir(t *testing.T) {
	base, err := os.MkdirTemp("/tmp", "lt-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	long := filepath.Join(base, strings.Repeat("l", 120))
	require.NoError(t, os.Mkdir(long, 0o755))
	for name, c := range map[string]struct{ tmp, runtimeDir, in string }{
		"TMPDIR fits":            {base, "/nowhere", base},
		"TMPDIR is too long":     {long, base, base},
		"both are too long":      {long, long, "/tmp"},
		"TMPDIR is not there":    {filepath.Join(base, "no"), base, base},
		"TMPDIR is no full path": {"x", "", "/tmp"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", c.tmp)
			t.Setenv("XDG_RUNTIME_DIR", c.runtimeDir)
			dir, err := ledger.NewDir()
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			assert.Equal(t, c.in, filepath.Dir(dir))
			info, err := os.Stat(dir)
			require.NoError(t, err)
			assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
			assert.Less(t, len(dir)+32, 104)
			hosts := filepath.Join(ledger.HostDir(dir), "99")
			require.NoError(t, os.MkdirAll(hosts, 0o700))
			socket, err := net.Listen("unix", filepath.Join(hosts, "a-host's-own.socket-name"))
			require.NoError(t, err)
			defer socket.Close()
		})
	}
}

func TestListenErrors(t *testing.T) {
	t.Parallel()
	full := ledger.Params{
		Dir: filepath.Join(t.TempDir(), strings.Repeat("d", 120)), Run: "r",
		OnEvent: func(record.Event) {}, Identify: identify, WaitGone: waitGone,
	}
	_, err := ledger.Listen(full)
	require.ErrorContains(t, err, "the system allows")
	_, err = ledger.Listen(ledger.Params{Dir: "/"})
	require.ErrorContains(t, err, "must be set")
	full.Dir = "/no/such/folder"
	_, err = ledger.Listen(full)
	require.ErrorContains(t, err, "failed to open the birth socket")
}
