package fakeserver_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
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
	// The most that it ever had is known even where it has given something back before anybody looked.
	require.Eventually(t, func() bool {
		status := procFile(t, p.cmd.Process.Pid, "status")
		kib := func(name string) int64 { return number(t, status[slices.Index(status, name)+1]) }
		return kib("RssFile:") < kib("VmHWM:")/3 // it was more than two thirds
	}, patience, 5*time.Millisecond)
	p.lives()
	p.send(listTools, callEcho)
	require.Nil(t, p.answer().Error)
	require.Nil(t, p.answer().Error)
}
