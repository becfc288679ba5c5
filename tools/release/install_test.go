package main

import (
	"archive/tar"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

var here = runtime.GOOS + "/" + runtime.GOARCH

// made makes a release for this platform of a copy of the source.
func made(t *testing.T) *release {
	t.Helper()
	root := t.TempDir()
	for _, name := range []string{
		"go.mod", "go.sum", "LICENSE", "README.md", "CHANGELOG.md", "install.sh",
		"cmd", "internal", "fakeserver", "scenarios", "report", "hosts", "driver", "integrations",
	} {
		from := filepath.Join("..", "..", name)
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			require.NoError(t, os.CopyFS(filepath.Join(root, name), os.DirFS(from)))
			continue
		}
		content, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(root, name), content, 0o644))
	}
	r := &release{
		root: root, out: filepath.Join(t.TempDir(), "dist"), version: "0.1.0", commit: "0123abc", at: time.Unix(1_900_000_000, 0).UTC(),
		platforms: []string{here}, modules: map[string][]module{}, said: io.Discard,
	}
	require.NoError(t, r.make(t.Context()))
	return r
}

// TestADryRun makes a release twice, in two places, and compares: no path and no clock of the machine is in it. Then it uses all that was
// made, in clean folders and without Go.
func TestADryRun(t *testing.T) {
	tier.Only(t, tier.Release)
	notOnWindows(t)
	for _, tool := range []string{"bash", "python3", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
			t.Skip(err)
		}
	}
	r, again := made(t), made(t)
	assert.Equal(t, content(t, r.out, "checksums.txt"), content(t, again.out, "checksums.txt"), "made twice")
	t.Run("lists", func(t *testing.T) { eachFileIsListed(t, r) })
	if r.digest != "" {
		t.Run("image", func(t *testing.T) { theImageIsWhole(t, r) })
	}
	t.Setenv("PATH", withoutGo(t))
	_, err := exec.LookPath("go")
	require.ErrorIs(t, err, exec.ErrNotFound)
	t.Setenv("LEAKBENCH_BINARY", "")
	t.Run("used", func(t *testing.T) {
		t.Run("archive", func(t *testing.T) { t.Parallel(); theArchiveIsInstalled(t, r) })
		t.Run("wheel", func(t *testing.T) { t.Parallel(); theWheelIsInstalled(t, r) })
		t.Run("npm", func(t *testing.T) { t.Parallel(); thePackageIsInstalled(t, r) })
	})
}

func notOnWindows(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("install.sh and integrations/pack are for Linux and macOS")
	}
}

func content(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

// eachFileIsListed: in the checksums, and all but the lists themselves in the SBOM.
func eachFileIsListed(t *testing.T, r *release) {
	var sbom struct {
		Components []component `json:"components"`
	}
	require.NoError(t, json.Unmarshal([]byte(content(t, r.out, "leakbench_0.1.0.sbom.json")), &sbom))
	in := func(kind, name, sum string) bool {
		return slices.ContainsFunc(sbom.Components, func(c component) bool {
			return c.Type == kind && c.Name == name && (sum == "" || c.Hashes[0]["content"] == sum)
		})
	}
	entries, err := os.ReadDir(r.out)
	require.NoError(t, err)
	kinds := map[string]bool{}
	for _, e := range entries {
		if e.Name() == "checksums.txt" {
			continue
		}
		sum := sha256.Sum256([]byte(content(t, r.out, e.Name())))
		text := hex.EncodeToString(sum[:])
		assert.Contains(t, content(t, r.out, "checksums.txt"), text+"  "+e.Name()+"\n")
		assert.True(t, strings.HasSuffix(e.Name(), ".sbom.json") || in("file", e.Name(), text), "the SBOM lacks %s", e.Name())
		kinds[filepath.Ext(e.Name())] = true
	}
	for _, kind := range []string{".whl", ".tgz", ".sh"} {
		assert.True(t, kinds[kind], "there is no %s", kind)
	}
	assert.True(t, in("library", "github.com/spf13/cobra", ""), "the SBOM lacks the modules")
	assert.True(t, in("library", "std", ""), "the SBOM lacks Go itself")
	assert.Equal(t, r.digest != "", in("container", imageName, strings.TrimPrefix(r.digest, "sha256:")))
}

// theImageIsWhole reads the archive as a registry would: from the index to the layer, each by its digest.
func theImageIsWhole(t *testing.T, r *release) {
	blobs := map[string][]byte{}
	f, err := os.Open(filepath.Join(r.out, "leakbench_0.1.0_image.tar"))
	require.NoError(t, err)
	defer f.Close()
	read(t, f, func(h *tar.Header, text []byte) { blobs[h.Name] = text })
	type object struct {
		Manifests []descriptor `json:"manifests"`
		Layers    []descriptor `json:"layers"`
	}
	get := func(d descriptor) (o object, text []byte) {
		text = blobs["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		sum := sha256.Sum256(text)
		require.Equal(t, d.Digest, "sha256:"+hex.EncodeToString(sum[:]))
		_ = json.Unmarshal(text, &o)
		return o, text
	}
	var top object
	require.NoError(t, json.Unmarshal(blobs["index.json"], &top))
	require.Len(t, top.Manifests, 1)
	assert.Equal(t, imageName+"@"+top.Manifests[0].Digest+"\n", content(t, r.out, "leakbench_0.1.0_image.txt"))
	index, _ := get(top.Manifests[0])
	require.Len(t, index.Manifests, 1)
	manifest, _ := get(index.Manifests[0])
	_, layer := get(manifest.Layers[0])
	z, err := gzip.NewReader(strings.NewReader(string(layer)))
	require.NoError(t, err)
	modes := map[string]int64{}
	read(t, z, func(h *tar.Header, _ []byte) { modes[h.Name] = h.Mode })
	assert.Equal(t, map[string]int64{"leakbench": 0o755, "tmp/": 0o1777, "work/": 0o1777}, modes)
}

func read(t *testing.T, from io.Reader, each func(h *tar.Header, text []byte)) {
	t.Helper()
	archive := tar.NewReader(from)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		each(h, text)
	}
}

// withoutGo is the PATH, in which a folder that has Go is replaced by links to its other programs.
func withoutGo(t *testing.T) string {
	t.Helper()
	dirs := filepath.SplitList(os.Getenv("PATH"))
	for i, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "go")); err != nil {
			continue
		}
		dirs[i] = t.TempDir()
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			if e.Name() != "go" && e.Name() != "gofmt" {
				require.NoError(t, os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(dirs[i], e.Name())))
			}
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator))
}

// sh runs a script in a folder.
func sh(t *testing.T, dir, script string, env ...string) (said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, append(os.Environ(), env...), 10*time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// works runs the program that was installed: its version, and a run.
func works(t *testing.T, r *release, dir, install, program string, env ...string) {
	t.Helper()
	said, err := sh(t, dir, install+"\n"+program+" version\n"+program+" run storm --host exact --out runs", append(env, "FROM="+r.out)...)
	require.NoError(t, err, said)
	assert.Contains(t, said, "leakbench 0.1.0 commit 0123abc of 2030-03-17T17:46:40Z built with "+runtime.Version())
	assert.Regexp(t, `(?m)^.*\bclean\b`, said)
}

func theArchiveIsInstalled(t *testing.T, r *release) {
	server := httptest.NewServer(http.FileServer(http.Dir(r.out)))
	defer server.Close()
	install := `curl -fsSO "$LEAKBENCH_FROM/install.sh"; sh install.sh "$PWD/bin"`
	works(t, r, t.TempDir(), install, "bin/leakbench", "LEAKBENCH_FROM="+server.URL, "LEAKBENCH_PROVENANCE=skip")
}

func theWheelIsInstalled(t *testing.T, r *release) {
	install := `python3 -m venv v; v/bin/pip install -q --disable-pip-version-check --no-index --find-links "$FROM" leakbench`
	works(t, r, t.TempDir(), install, "v/bin/leakbench")
}

func thePackageIsInstalled(t *testing.T, r *release) {
	install := `npm init -y >npm.log; npm install --silent --no-audit --no-fund --offline "$FROM"/*.tgz`
	works(t, r, t.TempDir(), install, "node_modules/.bin/leakbench")
}

// fakeRelease is a release of a program that only says its name, for this platform, and a gh that answers as it is told.
func fakeRelease(t *testing.T) (dir, path string) {
	t.Helper()
	dir, path = t.TempDir(), t.TempDir()
	archive := "leakbench_0.1.0_" + strings.ReplaceAll(here, "/", "_") + ".tar.gz"
	said, err := sh(t, dir, `printf '#!/bin/sh\necho leakbench fake\n' >leakbench; chmod +x leakbench; tar -czf "$ARCHIVE" leakbench; rm leakbench
(sha256sum "$ARCHIVE" 2>/dev/null || shasum -a 256 "$ARCHIVE") >checksums.txt`, "ARCHIVE="+archive)
	require.NoError(t, err, said)
	gh := "#!/bin/sh\ncase \"$*\" in *--help) [ -n \"${GH_OLD:-}\" ] || echo --signer-workflow; exit 0 ;; esac\necho \"$@\" >>\"$GH_ASKED\"\necho no such signer\nexit ${GH_SAYS:-0}\n"
	require.NoError(t, os.WriteFile(filepath.Join(path, "gh"), []byte(gh), 0o755))
	return dir, path
}

// TestInstall: what is not verified is not installed, and what could not be verified is said.
func TestInstall(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Release)
	notOnWindows(t)
	script, err := filepath.Abs("../../install.sh")
	require.NoError(t, err)
	const signed = "has signed the provenance"
	for name, c := range map[string]struct {
		spoil string // what is done to the release
		env   []string
		says  string
		fails bool
	}{
		"signed":              {"touch provenance.jsonl", nil, signed, false},
		"signed by another":   {"touch provenance.jsonl", []string{"GH_SAYS=1"}, "is not that of a release of leakbench/leakbench: no such signer", true},
		"unsigned":            {"", nil, "provenance.jsonl can't be had", true},
		"old gh":              {"", []string{"GH_OLD=1"}, "not verified, because no gh is there that can", false},
		"old gh, required":    {"", []string{"GH_OLD=1", "LEAKBENCH_PROVENANCE=require"}, "install a newer gh", true},
		"required":            {"touch provenance.jsonl", []string{"LEAKBENCH_PROVENANCE=require"}, signed, false},
		"skipped":             {"", []string{"LEAKBENCH_PROVENANCE=skip"}, "was not verified (LEAKBENCH_PROVENANCE=skip)", false},
		"a word":              {"", []string{"LEAKBENCH_PROVENANCE=yes"}, "it is auto, require or skip", true},
		"a changed byte":      {"touch provenance.jsonl; printf x >>leakbench_*", nil, "is not what checksums.txt of v0.1.0 says", true},
		"not in the list":     {"touch provenance.jsonl; echo 0 other >checksums.txt", nil, "does not name leakbench_0.1.0_", true},
		"no such release":     {"", []string{"LEAKBENCH_VERSION=v9.9.9"}, "is v9.9.9 a release?", true},
		"no release is named": {"", []string{"LEAKBENCH_VERSION="}, "set LEAKBENCH_VERSION", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, path := fakeRelease(t)
			said, err := sh(t, dir, c.spoil)
			require.NoError(t, err, said)
			to, asked := filepath.Join(t.TempDir(), "bin"), filepath.Join(t.TempDir(), "asked")
			env := []string{"PATH=" + path + ":" + os.Getenv("PATH"), "LEAKBENCH_VERSION=v0.1.0", "LEAKBENCH_FROM=" + dir, "GH_ASKED=" + asked}
			said, err = sh(t, dir, "sh "+script+" "+to, append(env, c.env...)...)
			assert.Contains(t, said, c.says)
			assert.Equal(t, !c.fails, strings.Contains(said, "leakbench fake"), said)
			if c.fails {
				require.Error(t, err)
				assert.NoFileExists(t, filepath.Join(to, "leakbench"))
				return
			}
			require.NoError(t, err, said)
			if strings.Contains(said, signed) {
				assert.Regexp(t, `attestation verify \S+\.tar\.gz --bundle \S+/provenance\.jsonl --repo leakbench/leakbench .*`+
					`--signer-workflow leakbench/leakbench/\.github/workflows/release\.yml`, content(t, filepath.Dir(asked), "asked"))
			}
		})
	}
}
