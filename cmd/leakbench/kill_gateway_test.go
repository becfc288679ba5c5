package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe"
)

// TestKillBesideHost kills benches that have processes beside the keeper's: the
// clients before a gateway, and commands for each job below a scheduler.
func TestKillBesideHost(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc and a subreaper")
	}
	for _, c := range []struct{ name, scenario, command, drive string }{
		{"gateway", "vanish", `[sh, -c, "mkdir {{tmp}}/d; echo {{tmp}} >{{run}}/tmp; exec \"$@\"", sh, gateway, "{{port}}", leaky, "{{server}}"]`, `{http: {url: "http://127.0.0.1:{{port}}/mcp"}}`},
		{"oneshot", "checks", `[sh, -c, "mkdir {{tmp}}/d; echo {{tmp}} >{{run}}/tmp; sleep 300 & {{server}} </dev/zero >/dev/null"]`, "oneshot"},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGINT} {
			t.Run(c.name+"/"+signal.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				file, out := filepath.Join(dir, "host.yaml"), filepath.Join(dir, "runs")
				text := fmt.Sprintf("name: %s\nabout: a host\ncommand: %s\ndrive: %s\n", c.name, c.command, c.drive)
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				mark := fmt.Sprintf("beside-%d-%s-%d", os.Getpid(), c.name, signal)
				cmd, lines := bench(t, mark, c.scenario, "--host", file, "--out", out)
				go func() {
					for lines.Scan() { // drained so that the bench never blocks
					}
				}()
				waitForLine(t, filepath.Join(out, "latest", observe.RunFile), `"kind":"born"`)
				require.NotEmpty(t, survivors(mark))
				folders := hostFolders(t, out)
				require.NoError(t, cmd.Process.Signal(signal))
				took := goneWithin(t, mark, 2*time.Second*timeScale)
				err := cmd.Wait()
				require.Error(t, err)
				if signal == syscall.SIGINT {
					assert.Equal(t, 130, cmd.ProcessState.ExitCode())
				}
				for _, folder := range folders {
					assert.NoDirExists(t, folder, "the host's {{tmp}}")
				}
				t.Logf("all gone after %v", took.Round(time.Millisecond))
			})
		}
	}
}

// hostFolders are the {{tmp}} of the latest run: its host has written them down, and made something in each.
func hostFolders(t *testing.T, out string) (all []string) {
	t.Helper()
	var notes []string
	for _, pattern := range []string{"tmp", "job-*/tmp"} {
		found, err := filepath.Glob(filepath.Join(out, "latest", "host", pattern))
		require.NoError(t, err)
		notes = append(notes, found...)
	}
	require.NotEmpty(t, notes)
	for _, note := range notes {
		text, err := os.ReadFile(note)
		require.NoError(t, err)
		if folder := strings.TrimSpace(string(text)); folder != "" { // it is being written
			assert.Less(t, len(folder)+len("/24-bytes-of-a-name-follow"), 104, "room for a socket")
			assert.DirExists(t, filepath.Join(folder, "d"))
			all = append(all, folder)
		}
	}
	return all
}
