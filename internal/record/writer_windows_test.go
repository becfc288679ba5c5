package record

import (
	"os"
	"testing"
)

func allocated(t *testing.T, _ *os.File) int64 {
	t.Helper()
	t.Skip("the blocks of a file can't be counted here")
	return 0
}
