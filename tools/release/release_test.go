package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNotes(t *testing.T) {
	t.Parallel()
	const changelog = "# Changelog\n\n## [Unreleased]\n\n- new ([x](docs/x.md))\n\n## [0.1.0] - 2030-01-31\n\n- first\n\n## [0.0.1]\n\n- before\n"
	for version, want := range map[string]string{
		"0.1.0": "# leakbench 0.1.0\n\n- first\n",
		"0.0.1": "# leakbench 0.0.1\n\n- before\n",
		"0.2.0": "# leakbench 0.2.0\n\n- new ([x](https://github.com/leakbench/leakbench/blob/v0.2.0/docs/x.md))\n",
	} {
		said, err := notes(changelog, version)
		require.NoError(t, err)
		assert.Equal(t, want, said)
	}
	_, err := notes("# Changelog\n\n## [Unreleased]\n\n## [0.0.1]\n\n- before\n", "0.1.0")
	assert.ErrorContains(t, err, "the changelog says nothing of 0.1.0")
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, "old"), nil, 0o600))
	require.ErrorContains(t, emptyFolder(full), "is not empty: remove it")
	cases := map[string]string{
		"--platforms plan9/amd64":        "no release is made for plan9/amd64, but for linux/amd64",
		"--dry-run --version next":       `"next" is no version; one is called 0.1.0`,
		"--dry-run --version 1.0.0/../x": "is no version",
	}
	if _, err := (&release{root: "."}).git(t.Context(), "rev-parse", "HEAD"); err == nil {
		cases["--version 99.0.0"] = "go run ./tools/release --dry-run makes one"
	}
	for args, says := range cases {
		var out bytes.Buffer
		assert.ErrorContains(t, run(t.Context(), strings.Fields(args), &out), says, args)
	}
}

// TestAMachineThatLacksTools is told all that it lacks, before anything is made.
func TestAMachineThatLacksTools(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := &release{root: "../..", out: filepath.Join(t.TempDir(), "dist")}
	err := r.make(t.Context())
	for _, part := range []string{"this machine can't make a release", "install Go", "Python 3 with pip", "Node.js with npm"} {
		require.ErrorContains(t, err, part)
	}
	assert.NoDirExists(t, r.out)
}

// TestTheTagThatWasPushed: a commit may have several tags, and a release is of the one that was asked for.
func TestTheTagThatWasPushed(t *testing.T) {
	t.Parallel()
	r := &release{root: t.TempDir()}
	for _, args := range [][]string{
		{"init", "-q"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "a"},
		{"tag", "v0.1.0"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "tag", "-a", "-m", "a", "v0.1.0-rc.1"},
	} {
		_, err := r.git(t.Context(), args...)
		require.NoError(t, err)
	}
	for _, version := range []string{"0.1.0", "0.1.0-rc.1"} {
		r.version = version
		tag, err := r.tag(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "v"+version, tag)
	}
	r.version = "0.2.0"
	_, err := r.tag(t.Context())
	require.EqualError(t, err, "the tag v0.2.0 does not name this commit")
}
