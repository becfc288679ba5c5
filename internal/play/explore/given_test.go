package explore_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

const own = `
name: mine
title: Mine
about: With a text of its own.
servers:
  alpha: {faults: [{on: eof, do: ignore}, {on: call, do: hang, after: 1}]}
  beta:
steps:
  - {open: a, server: alpha}
  - {open: b, server: beta}
  - {call: a}
  - {call: b}
  - {close: b}
`

// TestShrink: a scenario of one's own becomes small, one file for each law and kind that is looked for, known or not.
func TestShrink(t *testing.T) {
	t.Parallel()
	one := played(t, leak, verdict.Finding{Law: "L4", Kind: "zombie", Label: "alpha"})
	shrink := func(t *testing.T, p explore.Params, given ...verdict.Finding) (*explore.Result, error) {
		s, err := scenarios.Parse("mine.yaml", []byte(own))
		require.NoError(t, err)
		spec, err := subject.Lookup("", "exact")
		require.NoError(t, err)
		p.Bench, p.Host, p.Seed, p.Jobs, p.Self = &play.Bench{Out: t.TempDir()}, play.Host{Spec: spec}, 7, 2, "leakbench shrink mine.yaml"
		p.Play = func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
			j, run := one, *one.Run
			j.Run, run.Header.Seed = &run, c.Seed
			if assert.EqualValues(t, 7, c.Seed); !strings.Contains(c.Scenario.Text(), "do: ignore") {
				j.Verdict.Findings = nil
			}
			return takes(ctx, time.Second, j)
		}
		return explore.Shrink(t.Context(), p, s, given)
	}
	synctest.Test(t, func(t *testing.T) {
		r, err := shrink(t, explore.Params{})
		require.NoError(t, err)
		require.Len(t, r.Findings, 2)
		assert.True(t, r.New())
		for _, f := range r.Findings {
			assert.Equal(t, scenarios.Size{Steps: 1, Servers: 1, Faults: 1}, f.To)
			text, err := os.ReadFile(f.File)
			require.NoError(t, err)
			assert.Contains(t, string(text), "on exact, made by leakbench shrink mine.yaml.\n")
			assert.Equal(t, 3, f.Stable)
		}
		var said bytes.Buffer
		require.NoError(t, r.Print(&said, ""))
		assert.Contains(t, said.String(), "exact, seed 7: 2 findings in ")
		assert.NotContains(t, said.String(), "covered")

		r, err = shrink(t, explore.Params{Known: []known.Entry{{Fingerprint: one.Verdict.Findings[0].PrintOf("alpha")}}}, leak)
		require.NoError(t, err)
		require.Len(t, r.Findings, 1)
		assert.Equal(t, 1, r.Findings[0].To.Steps, "a known one becomes small, too")
		assert.False(t, r.New())

		r, err = shrink(t, explore.Params{}, verdict.Finding{Law: "L2", Kind: "deaf"})
		require.ErrorIs(t, err, explore.ErrNotAgain)
		assert.Empty(t, r.Findings)

		_, err = shrink(t, explore.Params{For: time.Millisecond})
		require.ErrorAs(t, err, new(*play.Misuse))

		begun := time.Now()
		r, err = shrink(t, explore.Params{For: 5 * time.Second})
		require.NoError(t, err)
		assert.Equal(t, 5*time.Second, time.Since(begun))
		for _, f := range r.Findings {
			assert.Equal(t, []string{"leakbench", "shrink", f.File, "--seed", "7"}, f.Next[:5])
		}
	})
}
