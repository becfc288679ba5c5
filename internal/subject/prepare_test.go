package subject_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

var flaky = driver.Server{Name: "flaky", Command: "/bin/leak bench", Args: []string{"fakeserver", "it's"}}

func setting(t *testing.T) subject.Setting {
	return subject.Setting{Self: "/bin/self", Run: t.TempDir(), Servers: []driver.Server{flaky}}
}

// TestAMissingWorkdir: exec(3) says of it that there is no such program.
func TestAMissingWorkdir(t *testing.T) {
	t.Parallel()
	s := subject.Spec{Argv: []string{"/bin/x"}, Workdir: "{{run}}/gone"}
	in := setting(t)
	_, err := s.Prepare(in)
	require.EqualError(t, err, "the host's workdir "+in.Run+"/gone is no folder")
}

func TestPrepareFillsEverything(t *testing.T) {
	t.Parallel()
	s := subject.Spec{
		File: "x.yaml", Version: "1.2", Dir: "/dir", InstallDir: "/install",
		Argv:    []string{"{{install}}/x", "--", "{{server}}", "sh:{{server}}", "{{port}}", "{{dir}}/{{version}}", "{{self}}", "{{config}}", "{{unknown}}"},
		Env:     []string{"HOME={{run}}", "SERVER={{server}}"},
		Workdir: "{{run}}",
		Configs: []subject.Config{{Path: "sub/c.json", Template: "{\"c\": {{server.command}}, \"a\": {{server.args}}, \"n\": \"{{server.name}}\", \"p\": {{port}}}"}},
		HTTP:    &subject.HTTP{URL: "http://127.0.0.1:{{port}}/{{label}}", Headers: http.Header{}},
		Ready:   subject.Ready{HTTP: "http://127.0.0.1:{{port}}/ok"},
	}
	in := setting(t)
	p, err := s.Prepare(in)
	require.NoError(t, err)
	port := p.Argv[6]
	assert.Equal(t, []string{
		"/install/x", "--", "/bin/leak bench", "fakeserver", "it's", `sh:'/bin/leak bench' fakeserver 'it'\''s'`,
		port, "/dir/1.2", "/bin/self", filepath.Join(in.Run, "sub/c.json"), "{{unknown}}",
	}, p.Argv)
	assert.Regexp(t, `^\d+$`, port)
	assert.Equal(t, []string{"HOME=" + in.Run, `SERVER='/bin/leak bench' fakeserver 'it'\''s'`}, p.Env)
	assert.Equal(t, in.Run, p.Workdir)
	assert.Equal(t, "http://127.0.0.1:"+port+"/{{label}}", p.URL)
	assert.Equal(t, "http://127.0.0.1:"+port+"/ok", p.Ready.HTTP)
	text, err := os.ReadFile(filepath.Join(in.Run, "sub/c.json"))
	require.NoError(t, err)
	assert.JSONEq(t, `{"c": "/bin/leak bench", "a": ["fakeserver", "it's"], "n": "flaky", "p": `+port+`}`, string(text))
	info, err := os.Stat(filepath.Join(in.Run, "sub/c.json"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestPrepareOverwritesNothing: a path outside the run's folder may be the
// user's own configuration.
func TestPrepareOverwritesNothing(t *testing.T) {
	t.Parallel()
	mine := filepath.Join(t.TempDir(), "mine.json")
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))
	s := subject.Spec{File: "x.yaml", Argv: []string{"x"}, Configs: []subject.Config{{Format: "cursor", Path: mine}}}
	_, err := s.Prepare(setting(t))
	require.ErrorContains(t, err, "overwrites no file")
	text, err := os.ReadFile(mine)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
}

func TestPrepareFormat(t *testing.T) {
	t.Parallel()
	s := subject.Spec{File: "x.yaml", Argv: []string{"x", "{{config}}"}, Configs: []subject.Config{{
		Format: "opencode", Merge: map[string]any{"home": "{{run}}", "list": []any{"{{self}}"}},
	}}}
	in := setting(t)
	in.Servers = append(in.Servers, driver.Server{Name: "steady", Command: "y"})
	p, err := s.Prepare(in)
	require.NoError(t, err)
	text, err := os.ReadFile(p.Argv[1])
	require.NoError(t, err)
	var got map[string]any
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Len(t, got["mcp"], 2)
	assert.Equal(t, in.Run, got["home"])
	assert.Equal(t, []any{"/bin/self"}, got["list"])
}

// TestPrepareSeveralConfigs: each file is written, and may name any other by its path.
func TestPrepareSeveralConfigs(t *testing.T) {
	t.Parallel()
	s := subject.Spec{File: "x.yaml", Argv: []string{"x", "{{config}}", "{{config.hooks}}"}, Env: []string{"T={{tmp}}"}, Configs: []subject.Config{
		{Format: "mcp-json", Merge: map[string]any{"hooks": "{{config.hooks}}"}},
		{Name: "hooks", Path: "hooks.toml", Template: "main = '{{config}}'"},
		{Path: "{{run}}/third", Template: "{{server.name}}"},
	}}
	in := setting(t)
	in.Tmp = filepath.Join(in.Run, "short")
	p, err := s.Prepare(in)
	require.NoError(t, err)
	main, hooks := p.Argv[1], filepath.Join(in.Run, "hooks.toml")
	assert.Equal(t, hooks, p.Argv[2])
	for path, has := range map[string]string{main: `"hooks": "` + hooks, hooks: "main = '" + main + "'", filepath.Join(in.Run, "third"): "flaky"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), has)
	}
	assert.Equal(t, []string{"T=" + in.Tmp}, p.Env)
	info, err := os.Stat(in.Tmp)
	require.NoError(t, err)
	assert.Equal(t, os.ModeDir|0o700, info.Mode())
}

// TestUnpack: a preset's files are brought up to date, and only where they differ.
func TestUnpack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := subject.Spec{File: "x/host.yaml", Dir: dir, Argv: []string{"{{dir}}/driver.py"}, Files: fstest.MapFS{"driver.py": {Data: []byte("new")}, "sub/a": {Data: []byte("a")}}}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "driver.py"), []byte("old"), 0o600))
	for range 2 {
		_, err := s.Prepare(subject.Setting{})
		require.NoError(t, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "driver.py"))
	require.NoError(t, err)
	assert.Equal(t, "new", string(text))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 2, "nothing temporary is left")
}

func TestCheckTellsWhatIsMissing(t *testing.T) {
	var missing *subject.Missing
	if runtime.GOOS != "windows" { // a stand-in: a machine without Go lacks that first
		programs := t.TempDir()
		require.NoError(t, files.Program(filepath.Join(programs, "go"), []byte("#!/bin/sh\n")))
		t.Setenv("PATH", programs+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	s := subject.Spec{Name: "x", Given: "x@1", Version: "1", File: "x/host.yaml", InstallDir: filepath.Join(t.TempDir(), "none"), Argv: []string{"{{install}}/x"}, Install: &subject.Install{Runtime: "go"}}
	require.ErrorAs(t, s.Check(), &missing)
	assert.Equal(t, "leakbench hosts install x@1", missing.Run)
	require.NoError(t, os.Mkdir(s.InstallDir, 0o700))
	require.ErrorAs(t, s.Check(), &missing, "installed by halves")
	require.NoError(t, files.Program(filepath.Join(s.InstallDir, "x"), []byte("#!/bin/sh\n")))
	require.NoError(t, s.Check())
	require.NoError(t, subject.Spec{Argv: []string{"no-such-program"}}.Check(), "a driver that was looked up")
	s = subject.Spec{Name: "y", File: "y.yaml", Argv: []string{"no-such-program-anywhere"}}
	require.ErrorAs(t, s.Check(), &missing)
	assert.Contains(t, missing.What, "no-such-program-anywhere")
}

// TestCheckSaysHowAProgramIsNamed: what is not executable, in another folder or not there is told before anything is played.
func TestCheckSaysHowAProgramIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("notes.txt", nil, 0o600))
	require.NoError(t, files.Program("gateway", []byte("#!/bin/sh\n")))
	for program, run := range map[string]string{
		"./gateway":                "",
		"gateway":                  "a file in this folder is started by its path: ./gateway",
		"./notes.txt":              "chmod +x ./notes.txt",
		"./no such program":        "check the path of the program",
		"no-such-program-anywhere": "check the name of the program, or give its path",
	} {
		err := subject.Spec{Kind: record.KindCommand, Argv: []string{program}}.Check()
		if run == "" {
			require.NoError(t, err, program)
			continue
		}
		var missing *subject.Missing
		require.ErrorAs(t, err, &missing, program)
		assert.Equal(t, run, missing.Run)
		assert.True(t, strings.HasPrefix(missing.What, program), missing.What)
	}
}

func TestWhichServersItHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		spec subject.Spec
		all  bool
	}{
		{subject.Spec{Kind: record.KindDriver}, true},
		{subject.Spec{Kind: record.KindOneshot}, true},
		{subject.Spec{Kind: record.KindCommand}, false},
		{subject.Spec{Kind: record.KindCommand, Configs: []subject.Config{{Format: "zed"}}}, true},
		{subject.Spec{Kind: record.KindCommand, Configs: []subject.Config{{Template: "x"}}}, false},
		{subject.Spec{Kind: record.KindGateway, HTTP: &subject.HTTP{URL: "http://x"}}, false},
		{subject.Spec{Kind: record.KindGateway, HTTP: &subject.HTTP{URL: "http://x/{{label}}"}}, true},
	} {
		assert.Equal(t, c.all, c.spec.HoldsAll(), strings.TrimSpace(string(c.spec.Kind)))
	}
	assert.True(t, subject.Spec{Kind: record.KindGateway, HTTP: &subject.HTTP{Servers: record.Shared}}.SessionsUnknown())
	assert.False(t, subject.Spec{Kind: record.KindGateway, HTTP: &subject.HTTP{Servers: record.PerSession}}.SessionsUnknown())
}
