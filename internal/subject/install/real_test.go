package install_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/subject/install"
	"github.com/leakbench/leakbench/internal/tier"
)

// peer skips a test where a package manager is missing.
func peer(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "LEAKBENCH_REQUIRE=all, and there is no %s", program)
			t.Skip("there is no " + program)
		}
	}
}

// tarball is a package of files.
func tarball(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for name, text := range files {
		require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

// TestNodePackagesRunNothing: npm itself installs a package whose scripts would leave a mark, and refuses one with another hash.
func TestNodePackagesRunNothing(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	peer(t, "node", "npm")
	mark := filepath.Join(t.TempDir(), "pwned")
	writes := "echo x>" + mark // for sh and for cmd.exe
	manifest, err := json.Marshal(map[string]any{
		"name": "evil", "version": "1.0.0", "scripts": map[string]string{"preinstall": writes, "install": writes, "postinstall": writes},
	})
	require.NoError(t, err)
	evil := tarball(t, map[string]string{"package/package.json": string(manifest)})
	sum := sha512.Sum512(evil)
	right := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	for _, integrity := range []string{right, "sha512-" + base64.StdEncoding.EncodeToString(make([]byte, 64))} {
		base := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(base, "evil.tgz"), evil, 0o600))
		at := "file:" + filepath.ToSlash(filepath.Join(base, "evil.tgz"))
		made, err := install.Install(t.Context(), install.Params{
			Name: "evil", Runtime: "node", Package: "evil", Version: "1.0.0", Pinned: "1.0.0", Lock: "package-lock.json", Dir: filepath.Join(base, "hosts", "evil@1.0.0"),
			Files: fstest.MapFS{
				"package.json": {Data: fmt.Appendf(nil, `{"dependencies":{"evil":%q}}`, at)},
				"package-lock.json": {Data: fmt.Appendf(nil, `{"lockfileVersion":3,"requires":true,"packages":{"":{"dependencies":{"evil":%q}},`+
					`"node_modules/evil":{"version":"1.0.0","resolved":%q,"integrity":%q,"hasInstallScript":true}}}`, at, at, integrity)},
			},
		})
		assert.True(t, made)
		if integrity == right {
			require.NoError(t, err)
			assert.DirExists(t, filepath.Join(base, "hosts", "evil@1.0.0", "node_modules", "evil"))
		} else {
			require.ErrorContains(t, err, "EINTEGRITY")
			assert.NoDirExists(t, filepath.Join(base, "hosts", "evil@1.0.0"))
		}
	}
	assert.NoFileExists(t, mark)
}

// TestPythonPackagesRunNothing: pip itself refuses a source distribution, which runs code when it is installed, a wheel with
// another hash and one without any.
func TestPythonPackagesRunNothing(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	peer(t, python)
	mark := filepath.Join(t.TempDir(), "pwned")
	source := tarball(t, map[string]string{"evil-1.0.0/setup.py": fmt.Sprintf("open(%q, 'w')\nfrom setuptools import setup\nsetup(name='evil', version='1.0.0')\n", mark)})
	var wheel bytes.Buffer
	z := zip.NewWriter(&wheel)
	for name, text := range map[string]string{
		"good.py": "", "good-1.0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: good\nVersion: 1.0.0\n",
		"good-1.0.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n", "good-1.0.0.dist-info/RECORD": "",
	} {
		w, err := z.Create(name)
		require.NoError(t, err)
		_, err = w.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	hash := func(b []byte) string { sum := sha256.Sum256(b); return " --hash=sha256:" + hex.EncodeToString(sum[:]) }
	for name, c := range map[string]struct {
		file    string
		content []byte
		hash    string
		refused string
	}{
		"a wheel":                     {"good-1.0.0-py3-none-any.whl", wheel.Bytes(), hash(wheel.Bytes()), ""},
		"a wheel with another hash":   {"good-1.0.0-py3-none-any.whl", wheel.Bytes(), hash([]byte("x")), "DO NOT MATCH THE HASHES"},
		"a wheel without a hash":      {"good-1.0.0-py3-none-any.whl", wheel.Bytes(), "", "require-hashes"},
		"a source with the right one": {"evil-1.0.0.tar.gz", source, hash(source), "No matching distribution found for evil==1.0.0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(base, c.file), c.content, 0o600))
			pkg := c.file[:4]
			_, err := install.Install(t.Context(), install.Params{
				Name: pkg, Runtime: "python", Package: pkg, Version: "1.0.0", Pinned: "1.0.0", Lock: "requirements.txt", Dir: filepath.Join(base, "hosts", pkg+"@1.0.0"),
				Files: fstest.MapFS{"requirements.txt": {Data: []byte("--no-index\n--find-links " + filepath.ToSlash(base) + "\n" + pkg + "==1.0.0" + c.hash + "\n")}},
			})
			if c.refused == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.refused)
			}
			assert.NoFileExists(t, mark)
		})
	}
}
