package subject_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// remote is the driver of the documentation for a host of its own, which is the Python agent.
func remote(t *testing.T, script fakeserver.Script) *lab {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skip(err)
	}
	agent, err := filepath.Abs("../../testdata/blackbox/agent.py")
	require.NoError(t, err)
	command, err := json.Marshal([]string{interpreter, agent, "--control"})
	require.NoError(t, err)
	return newLab(t, []string{"env", "HOST=" + string(command), interpreter, "../../examples/example_remote_driver.py"}, scripts{"s": script})
}

// stat is the state and the parent of a process; a state of "" is none.
func stat(pid int) (state string, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

func TestRemoteDriver(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	l := remote(t, fakeserver.Script{})
	l.open("a", "s")
	assert.True(t, l.echo("a"))
	l.ok(driver.Request{Op: driver.OpClose, Session: "a"})
	l.saw(record.SawEOF, "s#1")
	l.open("b", "s")
	l.ok(driver.Request{Op: driver.OpStop})
	l.saw(record.SawEOF, "s#2")
	assert.Equal(t, 0, l.exit())
}

// TestRemoteDriverIsKilled: SIGTERM reaches the host, which ends its servers in order; with SIGKILL it dies, too, and they see their stdin end.
func TestRemoteDriverIsKilled(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			l := remote(t, fakeserver.Script{})
			l.open("a", "s")
			_, host := stat(l.pid("s#1"))
			require.Greater(t, host, 1)
			l.signal(signal)
			status := l.exit()
			if signal == syscall.SIGTERM {
				state, _ := stat(host)
				assert.Empty(t, state, "the driver waits for its host")
				assert.Equal(t, 0, status)
			}
			l.saw(record.SawEOF, "s#1")
			l.saw(record.Died, "s#1")
			assert.Eventually(t, func() bool { state, _ := stat(host); return state == "" || state == "Z" }, 20*time.Second, time.Millisecond)
		})
	}
}
