package acceptance_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
)

// statelessDriver is a client that launches a server for each request, as the tools of several agent frameworks do. Its
// functions block.
const statelessDriver = `
import json, subprocess
from leakbench import driver
class Client:
    def open(self, command, args):
        self.argv = [command, *args]
        self.ask("tools/list", {})
    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["content"][0]["text"]
    def ask(self, method, params):
        server = subprocess.Popen(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            def request(id, method, params):
                say({"id": id, "method": method, "params": params})
                while "result" not in (answer := json.loads(server.stdout.readline())): pass
                return answer["result"]
            def say(message):
                server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n"); server.stdin.flush()
            request(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "stateless", "version": "1"}})
            say({"method": "notifications/initialized"})
            return request(2, method, params)
        finally:
            if KEEP: kept.append(server)
            else: server.stdin.close(); server.wait()
    def close(self): pass
kept = []
driver.run("stateless", "1", driver.Clients(Client), kind="library", profile=PROFILE)
`

// TestServerForEachRequest: a driver can say that its host has one, and is then judged by it.
func TestServerForEachRequest(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.BlackBox)
	python, err := exec.LookPath("python3")
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skip(err)
	}
	const declared = `{"servers": "per-request", "settle": "200ms", "confirm": "200ms", "stop": "2s"}`
	for name, c := range map[string]struct {
		keep, profile string
		outcome       verdict.Outcome
		laws          string
	}{
		"declared":   {"False", declared, verdict.Clean, ""},
		"leaks":      {"True", declared, verdict.Leak, "L1"},
		"undeclared": {"False", `{"settle": "200ms", "confirm": "200ms", "stop": "2s"}`, verdict.Leak, "L3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(filepath.Join(dir, "leakbench"), os.DirFS("integrations/python/leakbench")))
			program := "#!" + python + strings.NewReplacer("KEEP", c.keep, "PROFILE", c.profile).Replace(statelessDriver)
			require.NoError(t, files.Program(filepath.Join(dir, "driver.py"), []byte(program)))
			spec, err := subject.Lookup("", filepath.Join(dir, "driver.py"))
			require.NoError(t, err)
			judged := playUntil(t, short, cellOf(builtin(t, "subagents"), spec), play.Limits{}, breaks(c.laws))
			assert.Equal(t, c.outcome, judged.Verdict.Outcome, account(judged))
		})
	}
}
