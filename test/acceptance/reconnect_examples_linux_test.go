package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
)

// TestReconnectInGo: the client of examples/reconnect/go, by its driver.
func TestReconnectInGo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "driver")
	command(t, ".", "go", "build", "-o", path, "./examples/reconnect/go/driver")
	playReconnecting(t, "reconnect-go", path)
}

// TestReconnectInPythonAndNode: the clients of examples/reconnect, by their drivers.
func TestReconnectInPythonAndNode(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	integrations, err := filepath.Abs("integrations")
	require.NoError(t, err)
	t.Run("python", func(t *testing.T) {
		t.Parallel()
		needsInterpreter(t, "python-")
		playReconnecting(t, "reconnect-python", filepath.Join("examples", "reconnect", "python", "driver.py"),
			"PYTHONPATH="+filepath.Join(integrations, "python"), "PYTHONDONTWRITEBYTECODE=1")
	})
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		needsInterpreter(t, "node-")
		dir := t.TempDir()
		require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("examples", "reconnect", "node"))))
		require.NoError(t, os.Mkdir(filepath.Join(dir, "node_modules"), 0o700))
		require.NoError(t, os.Symlink(filepath.Join(integrations, "node", "leakbench"), filepath.Join(dir, "node_modules", "leakbench")))
		playReconnecting(t, "reconnect-node", filepath.Join(dir, "driver.mjs"))
	})
}

// soon is enough for what nobody ends: none of these servers takes long to exit.
var soon = play.Limits{Settle: 500 * time.Millisecond, Confirm: 100 * time.Millisecond}

// playReconnecting plays a storm with a client that reconnects in its calls: with the bug it keeps the servers that it has replaced.
func playReconnecting(t *testing.T, name, path string, env ...string) {
	t.Helper()
	spec, err := subject.Lookup("", path)
	require.NoError(t, err)
	spec.Name, spec.Env = name, env
	fixed := playUntil(t, short, cellOf(builtin(t, "storm"), spec), play.Limits{}, breaks(""))
	assert.Empty(t, brokenLaws(fixed.Verdict), account(fixed))
	spec.Name, spec.Env = name+" with the bug", append([]string{"DROPS=1"}, env...)
	dropping := playUntil(t, short, cellOf(builtin(t, "storm"), spec), soon, breaks("L1"))
	for _, f := range dropping.Verdict.Findings {
		assert.Equal(t, "superseded", f.Kind, account(dropping))
	}
	assert.NotEmpty(t, dropping.Verdict.Findings, account(dropping))
}

// TestNodeDriverGivesUp: what was cancelled has failed, even if it succeeds while it is being ended. Else the driver answers that it has
// opened the session that it has just closed.
func TestNodeDriverGivesUp(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	needsInterpreter(t, "node-")
	library, err := filepath.Abs(filepath.Join("integrations", "node", "leakbench", "driver.mjs"))
	require.NoError(t, err)
	program := `
		import { limited } from '` + library + `';
		let opened;
		const client = new Promise(resolve => { opened = resolve; });
		const end = () => { opened('opened'); return new Promise(resolve => setImmediate(resolve)); };
		const cancel = new AbortController();
		const given = limited(client, { signal: cancel.signal }, end);
		cancel.abort();
		console.log(await given.catch(e => e.message));`
	node := exec.CommandContext(t.Context(), "node", "--input-type=module", "--eval", program)
	node.WaitDelay = time.Second
	said, err := node.CombinedOutput()
	require.NoError(t, err, "%s", said)
	assert.Equal(t, "cancelled\n", string(said))
}
