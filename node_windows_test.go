package leakbench_test

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

// TestPublishedClientBehindCmd: the published TypeScript SDK launches a .cmd file, as npx is one. Its close ends cmd.exe, and the server
// that ignores the end of its stdin stays.
func TestPublishedClientBehindCmd(t *testing.T) {
	t.Parallel()
	node := os.Getenv(nodeEnv)
	if node == "" {
		t.Skipf("%s names no folder with node.exe", nodeEnv)
	}
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
