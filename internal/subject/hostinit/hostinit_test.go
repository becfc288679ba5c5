package hostinit_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/hostinit"
)

// ask answers the questions, a line each, and returns what was asked.
func ask(i *hostinit.Interview, lines ...string) (hostinit.Answers, string, error) {
	var out strings.Builder
	i.In, i.Out = strings.NewReader(strings.Join(lines, "\n")+"\n"), &out
	a, err := i.Ask()
	return a, out.String(), err
}

// file is the host file of the answers, and what it says when it is read.
func file(t *testing.T, a hostinit.Answers) (string, subject.Spec) {
	t.Helper()
	text, err := a.File("mine.yaml")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "mine.yaml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	spec, err := hostfile.Load(path)
	require.NoError(t, err, "%s", text)
	return string(text), spec
}

// TestEachKindOfHost: what is answered is what the file says.
func TestEachKindOfHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		lines []string
		argv  []string
		kind  record.HostKind
		about string
	}{
		{"the usual", []string{"agent --mcp {{server}}", "", ""}, []string{"agent", "--mcp", "{{server}}"}, record.KindCommand, "mine, runs until it is stopped"},
		{"a driver", []string{"./drive.py -v", "driver"}, []string{"./drive.py", "-v"}, record.KindDriver, "mine, speaks the driver protocol"},
		{"one for each job", []string{`sh -c "check '{{server}}'"`, "3"}, []string{"sh", "-c", "check ' {{server}}'"}, record.KindOneshot, "mine, does one thing and ends"},
		{
			"a gateway",
			[]string{"gw --port {{port}} --stdio \"{{server}}\"", "", "", "2"},
			[]string{"gw", "--port", "{{port}}", "--stdio", " {{server}}"},
			record.KindGateway, "mine, serves MCP over HTTP",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a, _, err := ask(&hostinit.Interview{Name: "mine"}, c.lines...)
			require.NoError(t, err)
			_, spec := file(t, a)
			assert.Equal(t, c.argv, spec.Argv)
			assert.Equal(t, c.kind, spec.Kind)
			assert.Equal(t, c.about, spec.About)
			assert.Positive(t, spec.Profile.Settle.D())
			if c.kind == record.KindGateway {
				assert.Equal(t, "http://127.0.0.1:{{port}}/mcp", spec.HTTP.URL)
				assert.Equal(t, record.Shared, spec.HTTP.Servers)
			}
		})
	}
}

// TestAConfigIsAskedFor where the command does not name the server. Of the
// user's file only the names of other keys are taken over.
func TestAConfigIsAskedFor(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	near, far := filepath.Join(dir, ".mcp.json"), filepath.Join(home, ".hermes", "config.yaml")
	require.NoError(t, os.WriteFile(near, []byte(`{"mcpServers": {"fs": {"command": "npx"}}, "apiKey": "secret", "model": "x"}`), 0o600))
	require.NoError(t, os.MkdirAll(filepath.Dir(far), 0o700))
	require.NoError(t, os.WriteFile(far, []byte("mcp_servers: {fs: {command: npx}}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "opencode.json"), []byte("{"), 0o600), "what can't be read is none")
	found := hostinit.Look(dir, home)
	require.Len(t, found, 2)
	assert.Equal(t, []string{near, far}, []string{found[0].Path, found[1].Path}, "what is near comes first")

	a, asked, err := ask(&hostinit.Interview{Name: "mine", Found: found}, "agent", "", "", "2")
	require.NoError(t, err)
	assert.Contains(t, asked, near+" has MCP servers, in the format mcp-json.")
	text, spec := file(t, a)
	assert.Equal(t, "mcp-json", spec.Configs[0].Format)
	assert.Equal(t, 2, spec.Launches)
	assert.Contains(t, text, "It says more (apiKey, model)")
	assert.NotContains(t, text, "secret")
	assert.Contains(t, text, "# The shape of "+near)
	assert.Contains(t, text, "The command does not name the file")

	a, _, err = ask(&hostinit.Interview{Name: "mine", Found: found}, "agent --config {{config}}", "", "codex", "")
	require.NoError(t, err)
	text, spec = file(t, a)
	assert.Equal(t, "codex", spec.Configs[0].Format)
	assert.NotContains(t, text, "The shape of", "another format than that of the file")
	assert.NotContains(t, text, "The command does not name the file")
}

// TestWrongAnswers: a script fails with the first one, somebody at a terminal is
// asked again.
func TestWrongAnswers(t *testing.T) {
	t.Parallel()
	good := []string{"agent {{server}}", "runs", "1"}
	for _, c := range []struct {
		at          int
		wrong, want string
	}{
		{0, `agent "`, "that is not a command line"},
		{0, "", "that is not a command"},
		{0, "{{server}} x", "cannot be the command itself"},
		{1, "srves", "did you mean serves?"},
		{1, "telepathy", "is not one of serves, runs, exits, driver"},
		{1, "5", `"5" is not one of serves`},
		{2, "0", `"0" is not a number from 1 to 100`},
		{2, "many", `"many" is not a number`},
	} {
		lines := append(append(append([]string{}, good[:c.at]...), c.wrong), good[c.at:]...)
		_, _, err := ask(&hostinit.Interview{Name: "mine"}, lines...)
		require.ErrorContains(t, err, c.want)
		a, asked, err := ask(&hostinit.Interview{Name: "mine", Again: true}, lines...)
		require.NoError(t, err)
		assert.Contains(t, asked, c.want)
		assert.Equal(t, "nothing", a.Drive)
	}
	_, asked, err := ask(&hostinit.Interview{Again: true}, "{{server}}", "{{server}}", "{{server}}", "{{server}}", "{{server}}", "agent")
	require.ErrorContains(t, err, "cannot be the command itself", "not for ever")
	assert.Equal(t, 5, strings.Count(asked, "Which command starts it?"))
	_, _, err = ask(&hostinit.Interview{}, "agent {{port}}", "serves", "mcp-json", "ftp://x")
	require.ErrorContains(t, err, "is not a URL")
	_, err = (&hostinit.Interview{Name: "mine", In: strings.NewReader(""), Out: io.Discard}).Ask()
	require.ErrorIs(t, err, hostinit.ErrNoAnswer)
}

// TestAtMostFiveQuestions: whatever is answered.
func TestAtMostFiveQuestions(t *testing.T) {
	t.Parallel()
	for _, doing := range []string{"serves", "runs", "exits", "driver"} {
		_, asked, err := ask(&hostinit.Interview{Name: "mine"}, "agent --port {{port}}", doing, "", "", "", "", "")
		require.NoError(t, err)
		assert.LessOrEqual(t, 1+strings.Count(asked, "["), 5, "one without and the others with what an empty line takes: %s", asked)
	}
}

// TestNameFrom: a file whose name says nothing gets one.
func TestNameFrom(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"my Gateway.yaml": "my-gateway", "x/host.yml": "my-host", "ü.yaml": "my-host", strings.Repeat("a", 50) + ".yaml": strings.Repeat("a", 40)} {
		assert.Equal(t, want, hostinit.NameFrom(path))
	}
}

// TestAPathIsNoYAML: what a path holds can't leave its comment.
func TestAPathIsNoYAML(t *testing.T) {
	t.Parallel()
	a := hostinit.Answers{
		Name: "mine", Command: []string{"agent", "a\"b\n: {{config}}"}, Drive: "nothing", Format: "mcp-json",
		From: &hostinit.Config{Path: "x\nname: other", Found: hostconfig.Found{Rest: map[string]any{"a\nb": 1}}},
	}
	text, spec := file(t, a)
	assert.Equal(t, "mine", spec.Name)
	assert.Equal(t, []string{"agent", "a\"b\n: {{config}}"}, spec.Argv)
	assert.Contains(t, text, "# The shape of x?name: other.")
}

func TestReadConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := hostinit.ReadConfig(filepath.Join(dir, "missing.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = hostinit.ReadConfig(dir)
	require.ErrorContains(t, err, "is not a configuration file")
	large := filepath.Join(dir, "large.json")
	require.NoError(t, os.WriteFile(large, make([]byte, 1<<20+1), 0o600))
	_, err = hostinit.ReadConfig(large)
	require.ErrorContains(t, err, "is not a configuration file")
	empty := filepath.Join(dir, "empty.json")
	require.NoError(t, os.WriteFile(empty, []byte("{}"), 0o600))
	_, err = hostinit.ReadConfig(empty)
	require.ErrorContains(t, err, "has no MCP servers where any known format has them")
}
