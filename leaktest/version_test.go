package leaktest_test

import (
	"archive/zip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// TestAVersion is what go get leads to: a module that requires a version of this one, from a proxy. The program is of that version.
func TestAVersion(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	const version = "v0.0.1-test"
	proxy, dir := t.TempDir(), external(t)
	publish(t, filepath.Join(proxy, filepath.FromSlash(ours), "@v"), version)
	downloads := filepath.Join(strings.TrimSpace(goIn(t, dir, "env", "GOMODCACHE")), "cache", "download")
	cache := filepath.Join(t.TempDir(), "modules") // the version must not stay in the user's
	env := []string{
		"GOMODCACHE=" + cache, "GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(downloads), "GONOSUMDB=*",
		"LEAKBENCH_BINARY=",
	}
	t.Cleanup(func() {
		cmd := exec.Command("go", "clean", "-modcache") // it is read-only
		cmd.Env, cmd.WaitDelay = append(os.Environ(), env...), time.Minute
		assert.NoError(t, cmd.Run())
	})
	goWith(t, dir, env, "mod", "edit", "-dropreplace="+ours, "-require="+ours+"@"+version)
	goWith(t, dir, env, "list", "-mod=mod", "-deps", "-test", ".") // what go get does
	goWith(t, filepath.Join(cache, filepath.FromSlash(ours)+"@"+version), env, "mod", "download")
	env = append(env, "GOPROXY=off") // all is there: no network is needed
	out := goWith(t, dir, env, "test", "-count=1", "-v", "-run=^TestStormFixed$", "-artifacts", "-outputdir="+dir, ".")
	assert.Contains(t, out, "leaktest: building the leakbench program ("+version+"), once")
	runs, err := filepath.Glob(filepath.Join(dir, "_artifacts", "*", "2*", "run.jsonl"))
	require.NoError(t, err)
	require.Len(t, runs, 1)
	run, err := os.ReadFile(runs[0])
	require.NoError(t, err)
	assert.Contains(t, string(run), `"version":"`+version+`"`)

	goWith(t, dir, append(env, "GOFLAGS=-mod=mod"), "mod", "vendor") // without what only the program needs
	out = goWith(t, dir, append(env, "GOFLAGS=-mod=vendor"), "test", "-count=1", "-v", "-run=^TestStormFixed$", ".")
	assert.NotContains(t, out, "building", "it is built already")
}

// publish makes a version of this module of what the program and this package are built from, as a proxy has it.
func publish(t *testing.T, dir, version string) {
	t.Helper()
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dir, 0o755))
	files := []string{"go.mod", "go.sum"}
	const all = `{{if not .Standard}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$d}}/{{.}}{{"\n"}}{{end}}{{end}}`
	for file := range strings.FieldsSeq(goIn(t, root, "list", "-deps", "-f", all, "./cmd/leakbench", "./leaktest")) {
		if name, err := filepath.Rel(root, file); err == nil && filepath.IsLocal(name) {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	archive, err := os.Create(filepath.Join(dir, version+".zip"))
	require.NoError(t, err)
	defer archive.Close()
	w := zip.NewWriter(archive)
	for _, name := range slices.Compact(files) {
		to, err := w.Create(ours + "@" + version + "/" + filepath.ToSlash(name))
		require.NoError(t, err)
		from, err := os.Open(filepath.Join(root, name))
		require.NoError(t, err)
		_, err = io.Copy(to, from)
		from.Close()
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	for suffix, text := range map[string][]byte{".mod": mod, ".info": []byte(`{"Version":"` + version + `"}`)} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, version+suffix), text, 0o600))
	}
}
