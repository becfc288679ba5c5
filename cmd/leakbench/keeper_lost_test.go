package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// TestKilledKeeper kills the process that watches the host: the run is
// inconclusive, no bug of the bench, and the bench ends what came home to it,
// without a cgroup.
func TestKilledKeeper(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc and a subreaper")
	}
	t.Setenv(keeper.NoCgroupEnv, "1")
	dir := t.TempDir()
	scenario := filepath.Join(dir, "deaf-forest.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte(deafForest), 0o644))
	out := filepath.Join(dir, "runs")
	mark := fmt.Sprintf("keeper-%d", os.Getpid())
	cmd, lines := bench(t, mark, scenario, "--out", out, "--", "sh", "-c",
		`sleep 300 & setsid sleep 300 & setsid sh -c 'setsid sleep 300 & sleep 300' & (echo '`+initialize+`'; exec sleep 300) | "$@" >/dev/null; wait`,
		"sh", "{{server}}")
	go func() {
		for lines.Scan() { // drained so that the bench never blocks
		}
	}()
	waitForLine(t, filepath.Join(out, "latest", observe.RunFile), `"kind":"ready"`)
	_ = proc.Signal(keeperOf(t, filepath.Join(out, "latest")), syscall.SIGKILL)
	err := cmd.Wait()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, exitInconclusive, exit.ExitCode())
	goneWithin(t, mark, 2*time.Second*timeScale)
	run, err := record.Read(filepath.Join(out, "latest"))
	require.NoError(t, err)
	v := verdict.Judge(run)
	assert.Equal(t, verdict.Inconclusive, v.Outcome)
	assert.Contains(t, v.Doubts[0].Text, "the keeper is gone")
}

// keeperOf is the keeper of a run under way: the host's parent.
func keeperOf(t *testing.T, dir string) record.Identity {
	t.Helper()
	run, err := record.Read(dir)
	require.NoError(t, err)
	for _, e := range run.Events {
		if e.Kind == record.HostStarted {
			id, err := proc.Identify(e.Process.PPID)
			require.NoError(t, err)
			return id
		}
	}
	t.Fatal("the host was not started")
	return record.Identity{}
}
