//go:build unix

package known_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/known"
)

// TestAPipeIsNoEmptyList: nobody knows what its writer would have listed.
func TestAPipeIsNoEmptyList(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "known.yaml")
	require.NoError(t, syscall.Mkfifo(path, 0o600))
	_, err := known.Load(path, false)
	require.ErrorContains(t, err, "known.yaml is a pipe that nobody writes to")
}
