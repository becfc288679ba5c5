package await_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/await"
)

// TestExit: it returns when the child has exited, no sooner, and leaves it to be waited for.
func TestExit(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), "cat")
	child.Cancel, child.WaitDelay = func() error { return child.Process.Kill() }, time.Second
	stdin, err := child.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	exited := make(chan bool, 1)
	go func() { exited <- await.Exit(child.Process.Pid) }()
	select {
	case <-exited:
		t.Fatal("the child lives")
	case <-time.After(100 * time.Millisecond):
	}
	require.NoError(t, stdin.Close())
	select {
	case told := <-exited:
		assert.True(t, told)
	case <-time.After(30 * time.Second):
		t.Fatal("its exit was not told")
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child.Process.Pid))
	require.NoError(t, err)
	assert.Contains(t, strings.SplitAfter(string(stat), ")")[1], " Z ", "its parent has not waited for it yet")
	require.NoError(t, child.Wait())
}
