package cpuload_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/cpuload"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == cpuload.Arg {
		os.Exit(cpuload.Main())
	}
	os.Exit(m.Run())
}

// TestBusyEndsWithItsLeash: stop waits for the processes, so it would hang.
func TestBusyEndsWithItsLeash(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	stop, err := cpuload.Start(t.Context(), self, 2)
	require.NoError(t, err)
	stop()
	_, err = cpuload.Start(t.Context(), "/no/such/program", 1)
	require.Error(t, err)
}
