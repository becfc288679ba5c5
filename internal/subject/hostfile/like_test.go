package hostfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject/hostfile"
)

// TestLike: a variant is installed from what the other preset is installed from, in a folder of its own, and gets nothing else of it.
func TestLike(t *testing.T) {
	t.Parallel()
	for variant, of := range map[string]string{"fastmcp-list": "fastmcp", "supergateway-sse": "supergateway", "typescript-sdk-auto": "typescript-sdk"} {
		one, err := hostfile.Preset(of, "")
		require.NoError(t, err)
		two, err := hostfile.Preset(variant, "")
		require.NoError(t, err)
		assert.Equal(t, of, two.Install.Like)
		assert.True(t, strings.HasSuffix(two.InstallDir, variant+"@"+two.Version), two.InstallDir)
		for path, text := range contents(t, one.Files) {
			theirs, there := contents(t, two.Files)[path]
			switch {
			case strings.HasPrefix(path, "driver."):
				assert.False(t, there, "%s has the driver %s of %s", variant, path, of)
			case path == "host.yaml":
				assert.Contains(t, theirs, "like: "+of)
			default:
				assert.Equal(t, text, theirs, path)
			}
		}
		two.Install.Like, two.Install.Files = "", one.Install.Files
		assert.Equal(t, one.Install, two.Install)
	}
}

// contents are the files of a folder, as they are copied.
func contents(t *testing.T, dir fs.FS) map[string]string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, dir))
	all := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(to), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(filepath.Join(to, path))
			all[path] = string(text)
		}
		return err
	}))
	return all
}

// TestLikeOfAUser: a host file of a user may be like a preset, too.
func TestLikeOfAUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mine.yaml")
	const text = "name: mine\nabout: y\ncommand: [\"{{install}}/bin/fastmcp\", \"{{server}}\"]\ndrive: nothing\nlike: fastmcp\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	s, err := hostfile.Load(path)
	require.NoError(t, err)
	assert.Nil(t, s.Files, "nothing is written beside the user's file")
	assert.Equal(t, "fastmcp", s.Install.Package)
	assert.True(t, strings.HasSuffix(s.InstallDir, "mine@"+s.Install.Version), s.InstallDir)
	all := contents(t, s.Install.Files)
	assert.Len(t, all, 1)
	assert.Contains(t, all["requirements.txt"], "fastmcp=="+s.Install.Version)
}

// TestLikeInACircle: no preset can take its packages from itself, or from one that takes them from it.
func TestLikeInACircle(t *testing.T) {
	t.Parallel()
	presets := fstest.MapFS{
		"a/host.yaml": {Data: []byte("name: a\nlike: b\n")}, "b/host.yaml": {Data: []byte("name: b\nlike: a\n")},
		"self/host.yaml": {Data: []byte("name: self\nlike: self\n")}, "bare/host.yaml": {Data: []byte("name: bare\n")},
	}
	for name, want := range map[string]string{
		"a":    "x.yaml:2:7: the preset a is itself like b; name a preset with an install section\n    like: a\n          ^",
		"self": "x.yaml:2:7: the preset self is like itself\n    like: self\n          ^",
		"bare": "x.yaml:2:7: the preset bare has no packages to install\n    like: bare\n          ^",
	} {
		assert.EqualError(t, hostfile.CheckLike(presets, "name: x\nlike: "+name+"\n", name), want)
	}
}
