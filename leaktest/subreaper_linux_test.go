package leaktest_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// subreaper is 1 where this process adopts what its descendants orphan.
func subreaper(t *testing.T) (yes int32) {
	t.Helper()
	require.NoError(t, unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&yes)), 0, 0, 0))
	return yes
}
