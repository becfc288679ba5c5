//go:build unix

package record

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// allocated is how many bytes of disk a file takes.
func allocated(t *testing.T, f *os.File) int64 {
	t.Helper()
	var st syscall.Stat_t
	require.NoError(t, syscall.Fstat(int(f.Fd()), &st))
	return st.Blocks * 512 // of 512 bytes, whatever the file system's are: stat(2)
}
