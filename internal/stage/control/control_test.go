package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	_ "github.com/leakbench/leakbench/fakeserver" // this test binary is also the fake server
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/control"
	"github.com/leakbench/leakbench/internal/stage/reexec"
	"github.com/leakbench/leakbench/scenarios"
)

func TestMain(m *testing.M) {
	if status, ok := reexec.Main(os.Args); ok {
		os.Exit(status)
	}
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// many has a server for each way to end, or not to.
const many = `name: many
title: servers that end in different ways
servers:
  tidy: {faults: [{on: exit, do: delay, for: 10ms, launch: 1}, {on: start, do: banner, every: 1}, {on: start, do: grow, mib: 9, probability: 0.5}]}
  deaf: {faults: [{on: eof, do: ignore}]}
  slow: {faults: [{on: exit, do: delay, for: 150ms}]}
  mute: {optional: true, faults: [{on: initialize, do: hang}]}
  new: {era: modern}
  below: {faults: [{on: start, do: launcher}]}
  apart: {faults: [{on: start, do: container}]}
limits: {settle: 3s, confirm: 1s}
steps:
  - open: a
    server: tidy
  - open: b
    server: deaf
  - open: c
    server: slow
  - open: d
    server: new
  - open: e
    server: below
  - open: f
    server: apart
`

// Each server is tried once, by its script less what only some launches do.
func TestEachServerIsTried(t *testing.T) {
	t.Parallel()
	const run = "feedc0ffee42"
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Parse("many.yaml", []byte(many))
	require.NoError(t, err)
	var mu sync.Mutex
	seen := map[string]record.Control{}
	require.NoError(t, control.Try(t.Context(), control.Params{
		Self: self, Log: filepath.Join(t.TempDir(), "keeper.log"), Run: run, Servers: s.Servers,
		Done: func(c record.Control) {
			mu.Lock()
			defer mu.Unlock()
			assert.NotContains(t, seen, c.Label)
			seen[c.Label] = c
		},
	}))
	require.Len(t, seen, 7)
	for _, label := range []string{"tidy", "new"} {
		c := seen[label]
		assert.True(t, c.Answered && c.SawEOF && c.Exited, "%+v", c)
		assert.Empty(t, c.Faults)
	}
	for label, do := range map[string]record.Action{"below": "launcher", "apart": "container"} {
		c := seen[label]
		assert.True(t, c.Answered && c.SawEOF && c.Exited, "%+v", c)
		if assert.Len(t, c.Faults, 1) {
			assert.Equal(t, do, c.Faults[0].Do)
		}
	}
	assert.True(t, seen["slow"].Exited, "%+v", seen["slow"])
	assert.GreaterOrEqual(t, seen["slow"].After.D(), 150*time.Millisecond)
	assert.True(t, seen["deaf"].SawEOF && !seen["deaf"].Exited, "%+v", seen["deaf"])
	assert.Equal(t, record.DoIgnore, seen["deaf"].Faults[0].Do)
	assert.False(t, seen["mute"].Answered, "%+v", seen["mute"])
	nothingRuns(t, run)
}

// Without the program that plays all parts nothing can be tried, which is an error.
func TestNothingToTryWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := control.Try(t.Context(), control.Params{Self: filepath.Join(dir, "none"), Log: filepath.Join(dir, "keeper.log"), Run: "1"})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// nothingRuns checks that no process has the run's token in its command line,
// the controls' included.
func nothingRuns(t *testing.T, id string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return // the Linux run of the suite checks it
	}
	for _, e := range entries {
		line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		assert.NotContains(t, strings.ReplaceAll(string(line), "\x00", " "), id)
	}
}
