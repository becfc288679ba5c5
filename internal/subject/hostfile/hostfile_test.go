package hostfile_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/yamlfile"
	"github.com/leakbench/leakbench/internal/yamlfile/yamltest"
)

var update = flag.Bool("update", false, "write the expected messages, and the schema")

// TestErrors: each wrong file, and what is said of it.
func TestErrors(t *testing.T) {
	t.Parallel()
	yamltest.Errors(t, *update, func(name string, src []byte) error { _, err := hostfile.Parse(name, src); return err }, nil)
}

func parse(t *testing.T, text string) (s struct {
	record.Profile
	kind record.HostKind
},
) {
	spec, err := hostfile.Parse("x.yaml", []byte(text))
	require.NoError(t, err)
	s.Profile, s.kind = spec.Profile, spec.Kind
	return s
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	s := parse(t, "name: x\nabout: y\ncommand: [z]\ndrive: driver\n")
	assert.Equal(t, record.KindDriver, s.kind)
	assert.Equal(t, 15*time.Second, s.Settle.D())
	assert.Equal(t, 15*time.Second, s.Confirm.D())
	assert.Equal(t, 15*time.Second, s.Stop.D())
	s = parse(t, "name: x\nabout: y\ncommand: [z, '{{server}}']\ndrive: nothing\nsettle: 2s\nstop: {within: 9s}\n")
	assert.Equal(t, record.KindCommand, s.kind)
	assert.Equal(t, 2*time.Second, s.Confirm.D(), "as long as settle")
	assert.Equal(t, 9*time.Second, s.Stop.D())
}

// TestFilesOfWindows: with CRLF, with a byte order mark and in UTF-16, as PowerShell's > writes it, a file says the same, and what is wrong
// in it stands in the same place.
func TestFilesOfWindows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "größe.yaml")
	const good = "name: x\nabout: ü\ncommand: [z, '{{server}}']\ndrive: nothing\nsettle: 5s\n"
	bad := strings.Replace(good, "5s", "5", 1)
	said := ""
	for _, as := range []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		func(s string) string { return "\ufeff" + s },
		func(s string) string {
			b := []byte{0xff, 0xfe}
			for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(s, "\n", "\r\n"))) {
				b = binary.LittleEndian.AppendUint16(b, unit)
			}
			return string(b)
		},
	} {
		require.NoError(t, os.WriteFile(path, []byte(as(good)), 0o600))
		s, err := hostfile.Load(path)
		require.NoError(t, err)
		assert.Equal(t, "ü", s.About)
		require.NoError(t, os.WriteFile(path, []byte(as(bad)), 0o600))
		_, err = hostfile.Load(path)
		require.ErrorContains(t, err, ":5:9: this must be a time")
		said = cmp.Or(said, err.Error())
		assert.Equal(t, said, err.Error())
	}
}

// TestAll reads a file in which every key stands.
func TestAll(t *testing.T) {
	t.Parallel()
	s, err := hostfile.Load("testdata/all.yaml")
	require.NoError(t, err)
	assert.Equal(t, record.KindGateway, s.Kind)
	assert.Equal(t, []string{"gateway", "--port", "{{port}}", "8", ""}, s.Argv)
	assert.Equal(t, []string{"A=1", "B={{run}}"}, s.Env)
	assert.Equal(t, "v", s.HTTP.Headers.Get("x-k"))
	assert.Equal(t, record.PerRequest, s.HTTP.Servers)
	assert.True(t, s.Stop.EOF)
	assert.Equal(t, map[string]any{"theme": "dark", "n": int64(1)}, s.Configs[0].Merge)
	assert.Equal(t, "slow", s.Scenarios["storm"].NotApplicable)
	assert.Equal(t, 7, s.Scenarios["cron"].SpawnsPerSession)
	assert.Equal(t, []string{"1.0", "1.1"}, s.Install.Versions)
	assert.Equal(t, "1.2", s.Version)
	assert.True(t, filepath.IsAbs(s.Dir))
	assert.True(t, strings.HasSuffix(s.InstallDir, "all@1.2"))
}

// TestDocExample: what the page shows can be read, each block of it.
func TestDocExample(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/use/host-file.md")
	require.NoError(t, err)
	var names []string
	for _, block := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, _ := strings.Cut(block, "```")
		s, err := hostfile.Parse("docs/use/host-file.md", []byte(text))
		require.NoError(t, err)
		names = append(names, s.Name)
	}
	assert.Equal(t, []string{"my-gateway", "my-hub", "hermes-test"}, names)
	for _, name := range hostconfig.Names() {
		assert.Contains(t, string(page), "`"+name+"`")
	}
	for _, name := range append(slices.Clone(subject.Placeholders), subject.TemplatePlaceholders...) {
		assert.Contains(t, string(page), "{{"+name+"}}")
	}
}

// TestBlanksInPlaceholders: {{ server }} is {{server}}, wherever it stands.
func TestBlanksInPlaceholders(t *testing.T) {
	t.Parallel()
	s, err := hostfile.Parse("x.yaml", []byte(`name: x
about: y
command: [gateway, "{{ server }}", "--port={{port  }}"]
config: {template: "{{ server.command }}", path: "{{ run }}/a"}
drive: nothing
`))
	require.NoError(t, err)
	assert.Equal(t, []string{"gateway", "{{server}}", "--port={{port}}"}, s.Argv)
	assert.Equal(t, "{{server.command}}", s.Configs[0].Template)
	assert.Equal(t, "{{run}}/a", s.Configs[0].Path)
}

// TestPresets: each is right, named like its folder, and has the lock file
// that it names.
func TestPresets(t *testing.T) {
	t.Parallel()
	require.NotEmpty(t, hostfile.Presets())
	for _, name := range hostfile.Presets() {
		s, err := hostfile.Preset(name, "")
		require.NoError(t, err)
		assert.Equal(t, name, s.Name)
		if s.Install == nil || s.Install.Lock == "" {
			continue
		}
		f, err := s.Files.Open(s.Install.Lock)
		require.NoError(t, err, "the lock file of %s", name)
		f.Close()
		for _, v := range append([]string{s.Install.Version}, s.Install.Versions...) {
			other, err := hostfile.Preset(name, v)
			require.NoError(t, err)
			assert.True(t, strings.HasSuffix(other.InstallDir, name+"@"+v))
		}
		_, err = hostfile.Preset(name, "0.0.0-none")
		assert.ErrorContains(t, err, "0.0.0-none")
	}
}

// TestLocksAreWrittenOnce: a preset with the packages of another one is like it, and has no copy of its lock file.
func TestLocksAreWrittenOnce(t *testing.T) {
	t.Parallel()
	locks, err := filepath.Glob("../../../hosts/*/*")
	require.NoError(t, err)
	first := map[string]string{}
	for _, path := range locks {
		if base := filepath.Base(path); base != "package-lock.json" && base != "requirements.txt" && base != "Cargo.lock" {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Empty(t, first[string(text)], "%s is the same file: write like: into the host file instead", path)
		first[string(text)] = path
	}
}

// TestLocksHaveNoAddresses: where packages come from is the user's business.
func TestLocksHaveNoAddresses(t *testing.T) {
	t.Parallel()
	locks, err := filepath.Glob("../../../hosts/*/*")
	require.NoError(t, err)
	for _, path := range locks {
		if base := filepath.Base(path); base != "package-lock.json" && base != "requirements.txt" {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "resolved", path)
		assert.NotContains(t, string(text), "index-url", path)
		assert.NotContains(t, string(text), "registry", path)
	}
}

func TestLookup(t *testing.T) {
	t.Parallel()
	s, err := hostfile.Lookup("leakbench", "exact")
	require.NoError(t, err)
	assert.Equal(t, []string{"leakbench", "host", "exact"}, s.Argv)
	s, err = hostfile.Lookup("leakbench", "testdata/all.yaml")
	require.NoError(t, err)
	assert.Equal(t, "all", s.Name)
	s, err = hostfile.Lookup("leakbench", "supergateway@4.0.0")
	require.NoError(t, err)
	assert.Equal(t, "supergateway@4.0.0", s.Given)
	_, err = hostfile.Lookup("leakbench", "supergatway")
	require.ErrorContains(t, err, "did you mean")
	_, err = hostfile.Lookup("leakbench", "./none.yaml")
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = hostfile.Lookup("leakbench", "./none")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// TestSchema: the committed schema is what the reader asks.
func TestSchema(t *testing.T) {
	t.Parallel()
	yamltest.Schema(t, *update, "../../../docs/schema/host.schema.json", hostfile.Schema())
	assert.True(t, json.Valid(hostfile.Schema()))
}

// TestSchemaAgrees: a validator that is not ours takes and refuses by the
// schema what the reader does, of what a schema can tell.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	schema, err := jsonschema.NewCompiler().Compile("../../../docs/schema/host.schema.json")
	require.NoError(t, err)
	files, err := filepath.Glob("../../../hosts/*/host.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range append(files, "testdata/all.yaml") {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = hostfile.Parse(file, src)
		require.NoError(t, err)
		assert.NoError(t, schema.Validate(plain(t, src)), file)
	}
	const right = "name: x\nabout: y\ncommand: [z, '{{server}}', 8]\ndrive: nothing\n"
	require.NoError(t, schema.Validate(plain(t, []byte(right))))
	for _, wrong := range []string{
		strings.Replace(right, "about: y\n", "", 1), strings.Replace(right, "name: x", "name: X", 1), strings.Replace(right, "nothing", "noting", 1),
		strings.Replace(right, "drive: nothing", "drive: {http: {}}", 1), strings.Replace(right, "drive: nothing", "drive: {http: {url: u, transport: udp}}", 1),
		strings.Replace(right, "[z, '{{server}}', 8]", "[]", 1), strings.Replace(right, "[z, '{{server}}', 8]", "z", 1), strings.Replace(right, "8]", "{}]", 1),
		right + "colour: red\n", right + "env: {A: {}}\n", right + "config: {format: ini}\n", right + "ready: soon\n", right + "ready: {htp: x}\n",
		right + "stop: {signal: TERM}\n", right + "stop: {within: 0s}\n", right + "settle: 8\n", right + "launches: 0\n", right + "resident: -1\n",
		right + "not_applicable: {dance: no}\n", right + "scenarios: {Storm: {settle: 1s}}\n", right + "scenarios: {storm: {spawns_per_minute: 0}}\n",
		right + "install: {runtime: go}\n", right + "install: {runtime: go, package: p, version: 'a b'}\n", right + "install: {runtime: go, package: p, version: a, versions: []}\n",
	} {
		_, err := hostfile.Parse("x.yaml", []byte(wrong))
		require.Error(t, err, wrong)
		assert.Error(t, schema.Validate(plain(t, []byte(wrong))), wrong)
	}
}

// plain is YAML as an editor holds it against a schema.
func plain(t *testing.T, src []byte) any {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal(src, &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	return doc
}

// TestAllProblemsOfOneFile: places and order, over several keys of a kind each.
func TestAllProblemsOfOneFile(t *testing.T) {
	t.Parallel()
	_, err := hostfile.Parse("x.yaml", []byte(`name: x
about: y
command: ["{{server}}", "{{sevrer}}"]
drive: driver
ready: {output: "("}
config: {format: cursor, template: "{{self}} {{nobody}}"}
env: {"A=B": 1}
stop: {eof: true}
install: {runtime: go, package: p, version: "a b", lock: a/b}
`))
	var all yamlfile.Errors
	require.ErrorAs(t, err, &all)
	var places []string
	for _, p := range all {
		places = append(places, fmt.Sprintf("%d:%d %.24s", p.Line, p.Column, p.Message))
	}
	assert.Equal(t, []string{
		"3:11 {{server}} cannot be the", "3:25 {{sevrer}} is not a plac", "5:8 a driver host is ready b", "5:17 not a regular expression",
		"6:26 a config takes a format ", "6:36 {{nobody}} is not a plac", `7:7 "A=B" is not the name of`, "8:1 a driver is stopped thro", `9:45 "a b" is not a version`, "9:52 the lock file must be be",
	}, places)
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/errors/*.yaml", "../../../hosts/*/host.yaml"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(f, err)
		for _, path := range paths {
			src, err := os.ReadFile(path)
			require.NoError(f, err)
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, err := hostfile.Parse("fuzz.yaml", src)
		var problems yamlfile.Errors
		if err != nil && !errors.As(err, &problems) {
			t.Fatalf("an error without a place: %v", err)
		}
		if err == nil && (s.Name == "" || s.Kind == "" || len(s.Argv) == 0) {
			t.Fatalf("half a host: %+v", s)
		}
	})
}
