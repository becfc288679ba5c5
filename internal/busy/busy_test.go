package busy_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/busy"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == busy.Arg {
		os.Exit(busy.Main())
	}
	os.Exit(m.Run())
}

// TestBusyEndsWithItsLeash: stop waits for the processes, so it would hang.
func TestBusyEndsWithItsLeash(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	stop, err := busy.Start(t.Context(), self, 2)
	require.NoError(t, err)
	stop()
	_, err = busy.Start(t.Context(), "/no/such/program", 1)
	require.Error(t, err)
}
