package main

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/report"
)

const hidden = "hunter2-Hunter2-hunter2"

// talkative is a host that tells its secrets to whoever asks, and leaves a helper that has them in its command line.
const talkative = `#!/bin/bash
printf '%s\n' "$@" >&2
env >&2
printf '%s\n' "$@"
bash -c 'trap "" TERM; sleep 100 & wait' "$@" &
exec sleep 100
`

// TestSecretsAreWrittenDownNowhere: of a host whose every argument, variable and word is a secret, nothing is in the run
// file, the pages, the summaries and the blob, which an Action uploads. The host's own output stays in the run's folder.
func TestSecretsAreWrittenDownNowhere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/redact/testdata/shapes.txt")
	require.NoError(t, err)
	dir := t.TempDir()
	host := filepath.Join(dir, "talkative")
	require.NoError(t, files.Program(host, []byte(talkative)))
	self, err := os.Executable()
	require.NoError(t, err)
	outputs := []string{}
	for _, name := range report.ReporterNames() {
		outputs = append(outputs, name+"="+filepath.Join(dir, "out."+name))
	}
	args := []string{
		"gate", "shutdown", "--out", filepath.Join(dir, "runs"), "--blob", filepath.Join(dir, "blob.zip"), "--reporter", strings.Join(outputs, ","),
		"--start", "300ms", "--settle", "300ms", "--confirm", "100ms", "--retries", "0", "--", host, "{{server}}",
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), "TOKEN="+hidden, "DATABASE_URL=postgres://me:"+hidden+"@db/shop")
	for _, shape := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		cmd.Args = append(cmd.Args, strings.NewReplacer("HIDDEN", hidden, `\n`, "\n").Replace(shape))
	}
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run()
	assert.NotContains(t, out.String(), hidden)

	seen := map[string]bool{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() || path == host {
			return err
		}
		content, err := os.ReadFile(path)
		name := filepath.Base(path)
		seen[name] = true
		if own := name == "host.stderr.log" || name == "host.stdout.log"; own {
			assert.Contains(t, string(content), hidden, "what the host says is kept where only this user reads it")
		} else {
			at := max(0, bytes.Index(content, []byte(hidden)))
			assert.NotContains(t, string(content), hidden, "%s: %s", path, content[max(0, at-200):min(len(content), at+60)])
		}
		return err
	}))
	for _, name := range []string{"run.jsonl", "report.html", "host.stderr.log", "blob.zip", "out.html", "out.md"} {
		assert.True(t, seen[name], "no %s: %s", name, out.String())
	}
	z, err := zip.OpenReader(filepath.Join(dir, "blob.zip"))
	require.NoError(t, err)
	defer z.Close()
	for _, f := range z.File {
		in, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(in)
		require.NoError(t, err)
		assert.NotContains(t, string(content), hidden, f.Name)
		if strings.HasSuffix(f.Name, ".jsonl") {
			assert.Contains(t, string(content), "[redacted]", "the command is there, without them")
		}
	}
}
