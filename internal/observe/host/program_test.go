//go:build unix

package host_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

// paramsOf are those of a run whose program is another than this one.
func paramsOf(t *testing.T, source, program string) host.Params {
	t.Helper()
	s, err := scenarios.Parse("test.yaml", []byte(source))
	require.NoError(t, err)
	spec, err := subject.Lookup(program, "exact")
	require.NoError(t, err)
	return host.Params{Self: program, Scenario: s, Host: spec, Dir: filepath.Join(t.TempDir(), "run"), Seed: 1}
}

// TestAKeeperThatCannotStart: nothing was started, and nothing is left of the run.
func TestAKeeperThatCannotStart(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\necho 'runtime: failed to create new OS thread (have 2 already; errno=11)' >&2\n"+
		"echo 'goroutine 1 gp=0xc000002380 m=0 mp=0x1 [running]:' >&2\nexit 2\n"), 0o700)) //nolint:gosec // it is a program
	p := paramsOf(t, quick, program)
	require.NoError(t, os.Mkdir(p.Dir, 0o700))
	events := 0
	p.OnEvent = func(record.Event) { events++ }
	err := host.Run(t.Context(), p)
	require.ErrorIs(t, err, observe.ErrSetUp)
	require.EqualError(t, err, `the run could not begin: the keeper did not come up: it exited at once (it said: "runtime: failed to create new OS thread (have 2 already; errno=11)")`)
	assert.Zero(t, events)
	left, err := os.ReadDir(p.Dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

const longer = `name: longer
title: servers that are ended and launched again
servers:
  only: {}
limits: {settle: 1s, confirm: 500ms}
steps:
  - {open: s, server: only}
  - repeat: 50
    steps:
      - {break: s, with: exit}
      - open: s
`

// TestAProgramThatGoesAway ends the run, as no server of it can be launched again: whether it was deleted or replaced.
func TestAProgramThatGoesAway(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	for _, by := range []string{"", "another one"} {
		program := filepath.Join(t.TempDir(), "program")
		text, err := os.ReadFile(self)
		require.NoError(t, err)
		require.NoError(t, files.Program(program, text))
		p := paramsOf(t, longer, program)
		var once sync.Once
		p.OnEvent = func(e record.Event) {
			if e.Kind == record.Faulted {
				once.Do(func() {
					_ = os.Remove(program)
					if by != "" {
						_ = files.Program(program, []byte(by))
					}
				})
			}
		}
		begun := time.Now()
		require.ErrorIs(t, host.Run(t.Context(), p), observe.ErrProgram)
		assert.Less(t, time.Since(begun), 60*time.Second)
		run, err := record.Read(p.Dir)
		require.NoError(t, err)
		v := verdict.Judge(run)
		assert.Equal(t, verdict.Inconclusive, v.Outcome, "%+v", v)
		require.Contains(t, codes(v), "program-gone")
		assert.Contains(t, v.Doubts[0].Text, "was deleted or replaced during the run")
	}
}
