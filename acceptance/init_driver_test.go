package acceptance_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/hostinit"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// mostSkeleton is how many lines of a driver are the user's own.
const mostSkeleton = 40

// listFails is a server whose tools can't be listed at first: a driver that asks for them when it opens has a server to end.
const listFails = `name: list-fails
title: The list of tools fails when a session is opened
servers: {a: {faults: [{on: list, do: reject, launch: 1}, {on: list, do: hang, launch: 2}]}}
limits: {settle: 5s, confirm: 1s}
steps: [{open: a-1, server: a, expect: fail}, {open: a-1, server: a, timeout: 700ms, expect: fail}, {checkpoint: failed},
        {open: a-1, server: a}, {call: a-1}, {close: a-1, expect: any}]
`

// TestDriversOfInit plays runs with what `leakbench init --driver` writes, as it is written.
func TestDriversOfInit(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Published)
	for _, language := range hostinit.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files, commands, err := hostinit.Driver(language, "mine")
			require.NoError(t, err)
			assert.LessOrEqual(t, bytes.Count(files[0].Content, []byte("\n")), mostSkeleton, files[0].Path)
			for _, f := range files {
				path := filepath.Join(dir, "mine", filepath.FromSlash(f.Path))
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				mode := os.FileMode(0o600)
				if f.Program {
					mode = 0o700
				}
				require.NoError(t, os.WriteFile(path, f.Content, mode))
			}
			prepareDriver[language](t, dir)
			last := strings.Fields(commands[len(commands)-1])
			spec, err := subject.Lookup("", filepath.Join(dir, last[len(last)-1]))
			require.NoError(t, err)
			failing, err := scenarios.Parse(filepath.Join(t.TempDir(), "list-fails.yaml"), []byte(listFails))
			require.NoError(t, err)
			for _, s := range []*scenarios.Scenario{builtin(t, "reload"), failing} {
				judged := playUntil(t, short, cellOf(s, spec), play.Limits{}, breaks(""))
				assert.Equal(t, verdict.Clean, judged.Verdict.Outcome, account(judged))
			}
		})
	}
}

// installed is where a preset's packages are; without them the test is skipped.
func installed(t *testing.T, preset string) string {
	t.Helper()
	spec, err := hostfile.Lookup("", preset)
	require.NoError(t, err)
	needHost(t, spec)
	return spec.InstallDir
}

func command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Minute
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
