package explore_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/explore"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

func TestMain(m *testing.M) { reexectest.WaitingMain(m, 3) }

func run(t *testing.T, p explore.Params, hostName string) *explore.Result {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	spec, err := subject.Lookup(self, hostName)
	require.NoError(t, err)
	limits := play.Limits{Settle: 300 * time.Millisecond, Confirm: 100 * time.Millisecond}
	p.Bench, p.Host = &play.Bench{Self: self, Out: t.TempDir(), Limits: limits}, play.Host{Spec: spec}
	r, err := explore.Run(t.Context(), p)
	require.NoError(t, err)
	return r
}

// TestFinds: a leak is found, made small, and written as a scenario that can be read again.
func TestFinds(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	for _, seed := range []uint64{34, 33} { // of those whose scenarios take little time: they break L1, L2 and L4 in six ways
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := run(t, explore.Params{Seed: seed, Runs: 2, Shrink: 1, Most: 8}, "naive")
			require.True(t, r.New())
			var small []*explore.Found
			for _, f := range r.Findings {
				if f.Again > 0 {
					small = append(small, f)
				}
			}
			require.NotEmpty(t, small)
			for _, f := range small {
				s, err := scenarios.Load(f.File)
				require.NoError(t, err)
				assert.Equal(t, f.To, s.Size())
				assert.LessOrEqual(t, f.To.Steps, f.From.Steps)
				assert.FileExists(t, f.Dir+"/run.jsonl")
			}
			var text bytes.Buffer
			require.NoError(t, r.Print(&text, "JSON has all"))
			assert.Contains(t, text.String(), "✗ L1 ")
		})
	}
}

// TestClockFindingsAlone: what goes by the clock is made small by runs alone, unless the machine can't have made it.
func TestClockFindingsAlone(t *testing.T) {
	t.Parallel()
	one := played(t)
	for _, firm := range []bool{true, false} {
		again := map[string]int{}
		shows := one
		shows.Verdict.Findings = []verdict.Finding{
			{Law: "L8", Kind: "slow-close", Label: "alpha", Firm: firm},
			{Law: "L8", Kind: "slow-close", Label: "beta", Firm: firm},
		}
		synctest.Test(t, func(t *testing.T) {
			r := run(t, explore.Params{Seed: 3, Runs: 2, Jobs: 2, Shrink: 1, Most: 4, Play: func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
				time.Sleep(time.Second) // sleep-ok: on the bubble's clock, so that two are played side by side
				if c.Again != "" {
					again[c.Again]++
				}
				j := shows
				return &j, nil
			}}, "exact")
			require.Len(t, r.Findings, 1)
			assert.Equal(t, r.Runs, r.Findings[0].Count, "two servers that show it in one scenario count once")
			assert.Equal(t, 3, r.Findings[0].Stable)
			assert.Positive(t, r.Findings[0].Tried)
		})
		if firm {
			assert.Empty(t, again)
		} else {
			assert.Greater(t, again["a finding rests on elapsed time"], 4)
		}
	}
}

// played is a run of exact, to show whatever a test says.
func played(t *testing.T, findings ...verdict.Finding) verdict.Judged {
	t.Helper()
	var one verdict.Judged
	run(t, explore.Params{Seed: 3, Runs: 1, Whole: true, OnRun: func(_ int, _ *scenarios.Scenario, j verdict.Judged) { one = j }}, "exact")
	one.Dir, one.Verdict.Findings = "", findings
	return one
}

// takes plays for a time, unless it is cut short.
func takes(ctx context.Context, d time.Duration, one verdict.Judged) (*verdict.Judged, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-time.After(d):
		return &one, nil
	}
}

var leak = verdict.Finding{Law: "L1", Kind: "superseded", Label: "alpha", Firm: true}

// TestTimeBoundsAll: two thirds of the time are for finding. What is small by its end is small, and what is not says how to go on.
func TestTimeBoundsAll(t *testing.T) {
	t.Parallel()
	one := played(t, leak)
	for most, each := range map[int]time.Duration{4: 3 * time.Second, 0: 6 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			begun, first, last, small := time.Now(), time.Duration(0), time.Duration(0), time.Duration(0)
			r := run(t, explore.Params{
				Seed: 3, For: 2 * time.Minute, Jobs: 2, Shrink: 1, Most: most,
				OnRun: func(int, *scenarios.Scenario, verdict.Judged) { last = time.Since(begun) },
				Note: func(format string, _ ...any) {
					switch {
					case strings.Contains(format, "made small"):
						first = time.Since(begun)
					case strings.Contains(format, "stable in"):
						small = time.Since(begun)
					}
				},
				Play: func(ctx context.Context, _ play.Cell) (*verdict.Judged, error) { return takes(ctx, each, one) },
			}, "exact")
			require.Len(t, r.Findings, 1)
			assert.GreaterOrEqual(t, first, 80*time.Second)
			assert.LessOrEqual(t, time.Since(begun), 2*time.Minute)
			f := r.Findings[0]
			var said bytes.Buffer
			require.NoError(t, r.Print(&said, "JSON has all"))
			if most > 0 {
				assert.Equal(t, 3, f.Stable)
				assert.Empty(t, f.Next)
				assert.Greater(t, last, small, "time that is left is for scenarios")
				return
			}
			assert.Positive(t, f.Tried)
			assert.Equal(t, []string{"leakbench", "shrink", f.File}, f.Next[:3])
			assert.Contains(t, said.String(), "go on      not as small as it can be yet: leakbench shrink "+f.File)
			s, err := scenarios.Load(f.File)
			require.NoError(t, err)
			assert.Equal(t, f.To, s.Size())
			assert.Less(t, f.To.Steps, f.From.Steps)
		})
	}
}

// TestCutShort: what the crowd may have made, and was not made sure of in time, is nothing that was found.
func TestCutShort(t *testing.T) {
	t.Parallel()
	late := leak
	late.Law, late.Kind, late.Firm = "L8", "slow-close", false
	one := played(t, late)
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		r := run(t, explore.Params{Seed: 3, For: 30 * time.Second, Jobs: 3, Shrink: 1, Play: func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
			d := time.Second
			if c.Again != "" {
				d = time.Minute
			}
			return takes(ctx, d, one)
		}}, "exact")
		assert.Equal(t, 30*time.Second, time.Since(begun))
		assert.Empty(t, r.Findings)
		assert.Zero(t, r.Runs)
	})
}

// TestTooShort: no time for one run is a mistake of who asked.
func TestTooShort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spec, err := subject.Lookup("", "exact")
		require.NoError(t, err)
		_, err = explore.Run(t.Context(), explore.Params{
			Bench: &play.Bench{Out: t.TempDir()}, Host: play.Host{Spec: spec}, Seed: 3, For: time.Second,
			Play: func(ctx context.Context, _ play.Cell) (*verdict.Judged, error) {
				return takes(ctx, time.Hour, verdict.Judged{})
			},
		})
		require.ErrorContains(t, err, "1s is too short")
		assert.ErrorAs(t, err, new(*play.Misuse))
	})
}

// TestTells: who waits for a finding to become small is told every few seconds.
func TestTells(t *testing.T) {
	t.Parallel()
	one := played(t, leak)
	synctest.Test(t, func(t *testing.T) {
		last, longest, lines := time.Now(), time.Duration(0), 0
		run(t, explore.Params{
			Seed: 3, Runs: 2, Jobs: 1, Shrink: 1, Most: 30,
			Note: func(format string, _ ...any) {
				if strings.Contains(format, ": now %v") || strings.Contains(format, "stable in") {
					longest, lines = max(longest, time.Since(last)), lines+1
				}
				last = time.Now()
			},
			Play: func(ctx context.Context, _ play.Cell) (*verdict.Judged, error) { return takes(ctx, time.Second, one) },
		}, "exact")
		assert.Greater(t, lines, 3)
		assert.LessOrEqual(t, longest, 3*time.Second)
	})
}

// TestSameSeed: the scenarios follow from the seed, however many are played side by side.
func TestSameSeed(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	var made [2][]string
	for i, jobs := range []int{1, 4} {
		run(t, explore.Params{Seed: 3, Runs: 2, Jobs: jobs, OnRun: func(_ int, s *scenarios.Scenario, _ verdict.Judged) {
			made[i] = append(made[i], s.Source)
		}}, "exact")
	}
	assert.Equal(t, made[0], made[1])
	assert.Len(t, slices.Compact(slices.Clone(made[0])), 2)
	assert.True(t, strings.HasPrefix(made[0][0], "name: x-3-1\n"))
}
