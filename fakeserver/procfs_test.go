package fakeserver_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// procFile is a file of /proc/PID, in fields. None of its processes here has
// a space in its name.
func procFile(t *testing.T, pid int, name string) []string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("looks into /proc")
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, name))
	require.NoError(t, err)
	return strings.Fields(string(text))
}

func number(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	require.NoError(t, err)
	return n
}

// TestSlims: a waiting server gives back what its start has mapped, and goes
// on working without it.
func TestSlims(t *testing.T) {
	t.Parallel()
	p := start(t, "fakeserver")
	p.greet()
	mapped := func() int64 { return number(t, procFile(t, p.cmd.Process.Pid, "statm")[2]) } // pages of files
	before := mapped()
	require.Eventually(t, func() bool { return mapped() < before*3/4 }, patience, 5*time.Millisecond)
	p.lives()
	p.send(listTools, callEcho)
	require.Nil(t, p.answer().Error)
	require.Nil(t, p.answer().Error)
}
