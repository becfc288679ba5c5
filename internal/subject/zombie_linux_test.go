package subject_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

// state is the state letter of /proc/PID/stat, "" for a process that is gone.
func state(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
}

// TestZombies: the server of a session dies by itself.
func TestZombies(t *testing.T) {
	t.Parallel()
	each(t, nil, func(t *testing.T, name string) {
		l := builtin(t, name, scripts{"s": {}})
		l.open("a", "s")
		pid := l.pid("s#1")
		l.order("s#1", "exit")
		want := func(s string) func() bool { return func() bool { return state(pid) == s } }
		if name == "exact" || name == "go-sdk" {
			assert.Eventually(t, want(""), patience, time.Millisecond, "reaped at once, though nobody has touched the session")
		} else {
			require.Eventually(t, want("Z"), patience, time.Millisecond, "nobody waits for a server whose session stands")
		}
		l.open("a", "s")
		l.ok(driver.Request{Op: driver.OpTick})
		if name == "naive" || name == "thread-blind" {
			assert.Equal(t, "Z", state(pid))
		} else {
			assert.Eventually(t, want(""), patience, time.Millisecond)
		}
	})
}
