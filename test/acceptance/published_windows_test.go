package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/scenarios"
)

// nodeEnv names a folder with node.exe and the preset typescript-sdk-v1, installed. `.ci/wine test` makes it.
const nodeEnv = "LEAKBENCH_NODE"

// pythonEnv names a folder with python.exe and the packages of the preset python-sdk, likewise.
const pythonEnv = "LEAKBENCH_PYTHON"

// folderOf is the folder that a variable names, of a runtime that may be missing.
func folderOf(t *testing.T, name string) string {
	t.Helper()
	folder := os.Getenv(name)
	if folder == "" {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "%s names no folder", name)
		t.Skipf("%s names no folder", name)
	}
	return folder
}

// TestPublishedPython: the published Python SDK assigns each server to a Job Object right after its launch, and ends that. Nothing stays, not
// even behind launchers: those start the server later.
func TestPublishedPython(t *testing.T) {
	t.Parallel()
	python := folderOf(t, pythonEnv)
	here, err := os.Getwd()
	require.NoError(t, err)
	spec, err := hostfile.Parse("python.yaml", fmt.Appendf(nil, `name: python
about: the published Python SDK on python.exe
command: ['%s\python.exe', '%s']
env: {PYTHONPATH: '%s'}
drive: driver
settle: 7s
confirm: 1s
stop: {within: 8s}
start: 60s
`, python, filepath.Join(here, "hosts", "lib", "python", "python_sdk.py"), filepath.Join(here, "integrations", "python")))
	require.NoError(t, err)
	judged := playUntil(t, short, cellOf(builtin(t, "wrapper"), spec), play.Limits{}, breaks(""))
	assert.Empty(t, brokenLaws(judged.Verdict), account(judged))
	assert.Empty(t, judged.Verdict.Doubts)
}

// TestPublishedClientBehindCmd: the published TypeScript SDK launches a .cmd file, as npx is one. Its close ends cmd.exe, and the server
// that ignores the end of its stdin stays.
func TestPublishedClientBehindCmd(t *testing.T) {
	t.Parallel()
	node := folderOf(t, nodeEnv)
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	script := filepath.Join(dir, "server.cmd")
	require.NoError(t, os.WriteFile(script, fmt.Appendf(nil, "@\"%s\" %%*\r\n", self), 0o600))
	driver, err := os.ReadFile(filepath.Join(node, "driver.mjs"))
	require.NoError(t, err)
	const command = "command: server.command"
	require.Contains(t, string(driver), command)
	wrapped := strings.Replace(string(driver), command, "command: process.env.SERVER_CMD", 1)
	require.NoError(t, os.WriteFile(filepath.Join(node, "behind-cmd.mjs"), []byte(wrapped), 0o600))
	spec, err := hostfile.Parse("node.yaml", fmt.Appendf(nil, `name: node
about: the published TypeScript SDK on node.exe, with servers behind a .cmd file
command: ['%[1]s\node.exe', --expose-gc, '%[1]s\behind-cmd.mjs']
env: {SERVER_CMD: '%[2]s'}
drive: driver
settle: 5s
confirm: 1s
stop: {within: 6s}
start: 60s
`, node, script))
	require.NoError(t, err)
	scenario, err := scenarios.Load(filepath.Join("testdata", "windows", "behind-cmd.yaml"))
	require.NoError(t, err)
	judged := playUntil(t, short, cellOf(scenario, spec), play.Limits{}, breaks("L1 L2"))
	assert.Equal(t, "L1 L2", brokenLaws(judged.Verdict), account(judged))
	assert.Empty(t, judged.Verdict.Doubts)
	require.NotEmpty(t, judged.Verdict.Findings)
	left := judged.Verdict.Findings[0]
	assert.Equal(t, "shielded", left.Kind)
	require.NotEmpty(t, left.Evidence)
	stdin := left.Evidence[0].Descriptors[0]
	assert.True(t, stdin.Known && len(stdin.Holders) == 0, "its end of the pipe is closed, and it is still there: %+v", stdin)
	assert.Contains(t, left.Evidence[0].Parent, "has ended")
}
