package runner_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

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
  - checkpoint: connected
`

// Each label is tried once without the host, and the run's own numbers know nothing of it.
func TestControls(t *testing.T) {
	t.Parallel()
	v, dir := play(t, many, "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
	assert.Equal(t, 6, v.Spawned)
	run, err := record.Read(dir)
	require.NoError(t, err)
	assert.True(t, run.Header.Limits.Controls)
	seen := map[string]record.Control{}
	for _, e := range run.Events {
		if e.Kind == record.Born {
			assert.Equal(t, 1, e.Birth.Launch, e.Server)
		}
		if e.Kind == record.Controlled {
			assert.NotContains(t, seen, e.Control.Label)
			seen[e.Control.Label] = *e.Control
		}
	}
	require.Len(t, seen, 7)
	nothingRuns(t, run.Header.ID)
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
