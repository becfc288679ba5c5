package hostconfig_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/tier"
)

// awkward is a command line that has to be quoted in every language.
var awkward = hostconfig.Server{
	Name: "flaky", Command: "/opt/a b/leak\"bench",
	Args: []string{"fakeserver", "--ledger", `C:\x\n`, "it's", "ü\ttab", "yes", "1.0", "", "# no comment", "{a: b}", "line\nbreak"},
}

var steady = hostconfig.Server{Name: "steady", Command: "/bin/s"}

// parse reads a file by a parser that has not written it, where there is one.
func parse(t *testing.T, language hostconfig.Language, text []byte) map[string]any {
	out := map[string]any{}
	switch language {
	case hostconfig.JSON:
		require.NoError(t, json.Unmarshal(text, &out))
	case hostconfig.YAML:
		require.NoError(t, yaml.Unmarshal(text, &out), "%s", text)
	case hostconfig.TOML:
		require.NoError(t, toml.Unmarshal(text, &out))
	}
	// One idea of numbers and lists for all three.
	plain, err := json.Marshal(out)
	require.NoError(t, err)
	out = map[string]any{}
	require.NoError(t, json.Unmarshal(plain, &out))
	return out
}

type m = map[string]any

func list(words []string) []any {
	all := []any{}
	for _, w := range words {
		all = append(all, w)
	}
	return all
}

// TestEachFormat: what is written is what the host's own documentation shows.
func TestEachFormat(t *testing.T) {
	t.Parallel()
	argv := append([]string{awkward.Command}, awkward.Args...)
	plain := func(more m) m {
		e := m{"command": awkward.Command, "args": list(awkward.Args)}
		for k, v := range more {
			e[k] = v
		}
		return e
	}
	mcp := m{"mcpServers": m{"flaky": plain(nil)}}
	want := map[string]m{
		"claude-desktop": mcp, "cursor": mcp, "mcp-json": mcp, "gemini": mcp,
		"vscode": {"servers": m{"flaky": plain(m{"type": "stdio"})}},
		"codex":  {"mcp_servers": m{"flaky": plain(nil)}},
		"hermes": {"mcp_servers": m{"flaky": plain(m{"enabled": true})}},
		"goose": {"extensions": m{"flaky": m{
			"enabled": true, "type": "stdio", "name": "flaky", "cmd": awkward.Command, "args": list(awkward.Args), "envs": m{}, "timeout": 60.0,
		}}},
		"opencode": {"mcp": m{"flaky": m{"type": "local", "command": list(argv), "enabled": true}}},
		"litellm":  {"mcp_servers": m{"flaky": plain(m{"transport": "stdio"})}},
		"zed":      {"context_servers": m{"flaky": plain(m{"source": "custom"})}},
	}
	require.Len(t, hostconfig.Formats, 11)
	for _, f := range hostconfig.Formats {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			text, err := f.Render(hostconfig.Params{Servers: []hostconfig.Server{awkward}})
			require.NoError(t, err)
			assert.Equal(t, want[f.Name], parse(t, f.Language, text), "%s", text)
		})
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	for _, f := range hostconfig.Formats {
		text, err := f.Render(hostconfig.Params{
			Servers: []hostconfig.Server{awkward, steady},
			Merge:   m{"theme": "dark", f.Keys[0]: m{"other": m{"command": "/bin/true"}}},
			Entry:   m{"timeout": 5, "env": m{"K": "v"}},
		})
		require.NoError(t, err, f.Name)
		got := parse(t, f.Language, text)
		assert.Equal(t, "dark", got["theme"], f.Name)
		servers := got[f.Keys[0]].(m)
		assert.Len(t, servers, 3, f.Name)
		assert.Equal(t, m{"command": "/bin/true"}, servers["other"], f.Name)
		assert.InDelta(t, 5, servers["steady"].(m)["timeout"], 0, f.Name)
		assert.Equal(t, m{"K": "v"}, servers["flaky"].(m)["env"], f.Name)
	}
}

// TestRecognize: each format's own file, at its usual place, is taken for it,
// and gives back the servers and the rest.
func TestRecognize(t *testing.T) {
	t.Parallel()
	for _, f := range hostconfig.Formats {
		text, err := f.Render(hostconfig.Params{Servers: []hostconfig.Server{awkward, steady}, Merge: m{"theme": "dark"}})
		require.NoError(t, err)
		found, err := hostconfig.Recognize("/home/u/"+f.Usual[0], text)
		require.NoError(t, err, f.Name)
		assert.Equal(t, f.Name, found.Format.Name)
		steady := steady
		steady.Args = []string{}
		require.Len(t, found.Servers, 2, f.Name)
		assert.Equal(t, awkward, found.Servers[0], f.Name)
		assert.Equal(t, steady.Command, found.Servers[1].Command, f.Name)
		assert.Empty(t, found.Servers[1].Args, f.Name)
		assert.Equal(t, m{"theme": "dark"}, found.Rest, f.Name)
	}
	found, err := hostconfig.Recognize("settings.json", []byte("{\n // mine\n \"context_servers\": {\"a\": {\"command\": \"x\",},},\n}"))
	require.NoError(t, err, "editors allow comments and trailing commas")
	assert.Equal(t, "zed", found.Format.Name)
	for path, text := range map[string]string{
		"mcp.json": `{"servers": `, "x.json": `{"theme": "dark"}`, "y.yaml": "a: [", "z.toml": "a = = b", "empty.json": "null",
		"remote.json": `{"mcpServers": {"a": {"url": "https://example.org/mcp"}}}`,
	} {
		_, err := hostconfig.Recognize(path, []byte(text))
		require.ErrorContains(t, err, path)
	}
	_, err = hostconfig.Recognize("deep.json", bytes.Repeat([]byte("["), 1<<20))
	require.ErrorContains(t, err, "depth", "a file of brackets ends no process")
	_, err = hostconfig.Recognize("bare.json", []byte(`{"mcpServers": {"a": {"env": {"TOKEN": hunter2}}}}`))
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "hunter2")
}

// TestTOMLByAnother: Python's parser reads the TOML as ours does.
func TestTOMLByAnother(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	python, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			t.Fatal("no python3")
		}
		t.Skip("no python3, whose tomllib is the second opinion")
	}
	f, _ := hostconfig.Named("codex")
	text, err := f.Render(hostconfig.Params{Servers: []hostconfig.Server{awkward}})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "config.toml")
	require.NoError(t, os.WriteFile(path, text, 0o600))
	out, err := exec.CommandContext(t.Context(), python, "-c", "import tomllib,json,sys;print(json.dumps(tomllib.load(open(sys.argv[1],'rb'))))", path).Output()
	require.NoError(t, err)
	got := m{}
	require.NoError(t, json.Unmarshal(out, &got))
	entry := got["mcp_servers"].(m)["flaky"].(m)
	assert.Equal(t, awkward.Command, entry["command"])
	assert.Equal(t, list(awkward.Args), entry["args"])
}

func FuzzRecognize(f *testing.F) {
	for _, format := range hostconfig.Formats {
		text, err := format.Render(hostconfig.Params{Servers: []hostconfig.Server{awkward}})
		require.NoError(f, err)
		f.Add(format.Usual[0], text)
	}
	f.Fuzz(func(t *testing.T, path string, text []byte) {
		found, err := hostconfig.Recognize(path, text)
		if err == nil && !slices.Contains(hostconfig.Names(), found.Format.Name) {
			t.Fatalf("recognised as %q", found.Format.Name)
		}
	})
}

// TestYAMLIsQuoted: each text stands in double quotes, so that readers of
// YAML 1.1 and 1.2 take it for the same.
func TestYAMLIsQuoted(t *testing.T) {
	t.Parallel()
	f, _ := hostconfig.Named("hermes")
	texts := []string{"yes", "on", "~", ".inf", "<<", "=", "12:30:45", "0o7", "1_000", "? x", "\x01", "\u2028", "{{port}}", "- a", " x "}
	text, err := f.Render(hostconfig.Params{Servers: []hostconfig.Server{{Name: "<<", Command: "no", Args: texts}}})
	require.NoError(t, err)
	for _, s := range texts {
		assert.Contains(t, string(text), "- "+strconv.Quote(s)+"\n")
	}
	assert.Contains(t, string(text), "\"<<\":\n")
	assert.Equal(t, list(texts), parse(t, hostconfig.YAML, text)["mcp_servers"].(m)["<<"].(m)["args"])
}

// TestAliases: what is said once and meant often is read, and a small file that
// unfolds into a huge one is refused.
func TestAliases(t *testing.T) {
	t.Parallel()
	found, err := hostconfig.Recognize("config.yaml", []byte("x: &x {command: a, args: [b]}\nmcp_servers: {one: *x, two: {<<: *x, command: c}}\n"))
	require.NoError(t, err)
	assert.Equal(t, []hostconfig.Server{{Name: "one", Command: "a", Args: []string{"b"}}, {Name: "two", Command: "c", Args: []string{"b"}}}, found.Servers)
	bomb := "a0: &a0 [x]\n"
	for i := range 9 {
		bomb += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d,", i), 8), i)
	}
	_, err = hostconfig.Recognize("config.yaml", []byte(bomb))
	assert.ErrorContains(t, err, "aliases")
}
