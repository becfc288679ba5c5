package play_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func found(kinds ...string) *verdict.Judged {
	j := of(verdict.Leak)
	for _, k := range kinds {
		j.Verdict.Findings = append(j.Verdict.Findings, verdict.Finding{Kind: k, Fingerprint: k})
	}
	return j
}

func firm(j *verdict.Judged) *verdict.Judged {
	for i := range j.Verdict.Findings {
		j.Verdict.Findings[i].Firm = true
	}
	return j
}

func doubted(codes ...record.DoubtCode) *verdict.Judged {
	j := of(verdict.Inconclusive)
	j.History = history.Of(&record.Run{})
	if len(codes) == 0 {
		codes = []record.DoubtCode{record.DoubtUnnamed}
	}
	for _, code := range codes {
		j.Verdict.Doubts = append(j.Verdict.Doubts, verdict.Doubt{Code: code, Text: "something"})
	}
	return j
}

func stepFailed(j *verdict.Judged) *verdict.Judged {
	j.History = history.Of(&record.Run{Events: []record.Event{
		{Kind: record.StepBegun, Step: &record.Step{N: 1, Op: record.OpCall}},
		{T: 1, Kind: record.StepEnded, Step: &record.Step{N: 1, Op: record.OpCall, Error: "no answer"}},
	}})
	return j
}

// A run that the others may have made is made sure of alone. That one counts, unless the first has shown what no clock can make.
func TestWhatACrowdMayHaveMadeIsPlayedAlone(t *testing.T) {
	t.Parallel()
	failed := fmt.Errorf("host: %w", observe.ErrHost)
	for name, c := range map[string]struct {
		beside, alone *verdict.Judged
		err           error
		tries         int
		counts        string // which of the two
	}{
		"clean":                    {of(verdict.Clean), nil, nil, 1, "beside"},
		"a leak is a fact":         {found("abandoned"), nil, nil, 1, "beside"},
		"in doubt":                 {doubted(), of(verdict.Clean), nil, 2, "alone"},
		"in doubt, alone, too":     {doubted(), doubted(), nil, 2, "alone"},
		"a skipped step":           {doubted(record.DoubtStepSkipped), nil, nil, 1, "beside"},
		"a skipped step, and more": {doubted(record.DoubtStepSkipped, record.DoubtStarved), of(verdict.Clean), nil, 2, "alone"},
		"no fault":                 {doubted(record.DoubtNotFired), nil, nil, 1, "beside"},
		"no fault, a failed step":  {stepFailed(doubted(record.DoubtNotFired)), of(verdict.Clean), nil, 2, "alone"},
		"late":                     {found("late"), of(verdict.Clean), nil, 2, "alone"},
		"slow":                     {found("slow-close"), found("slow-close"), nil, 2, "alone"},
		"slow, whoever waited":     {firm(found("slow-close")), nil, nil, 1, "beside"},
		"too rude":                 {found("cleanup-cut-short"), of(verdict.Clean), nil, 2, "alone"},
		"late beside another leak": {found("late", "abandoned"), found("abandoned"), nil, 2, "alone"},
		"a leak that is gone":      {found("late", "abandoned"), found("late"), nil, 2, "beside"},
		"it did not come up":       {nil, of(verdict.Clean), failed, 2, "alone"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				series := play.Series{Scenarios: []*scenarios.Scenario{{Name: "other"}, {Name: "it"}}, Jobs: 2}
				var mu sync.Mutex
				var now, tries int
				all, _, err := series.Play(t.Context(), func(_ context.Context, cell play.Cell) (*verdict.Judged, error) {
					mu.Lock()
					now++
					if cell.Scenario.Name == "it" {
						tries++
					}
					beside, try := now > 1, tries
					mu.Unlock()
					time.Sleep(time.Second) // sleep-ok: on the bubble's clock
					mu.Lock()
					defer mu.Unlock()
					now--
					switch {
					case cell.Scenario.Name == "other":
						return of(verdict.Clean), nil
					case try == 1:
						assert.Empty(t, cell.Again)
						return c.beside, c.err
					}
					assert.False(t, beside)
					assert.NotEmpty(t, cell.Again)
					return c.alone, nil
				})
				require.NoError(t, err)
				assert.Equal(t, c.tries, tries)
				require.Len(t, all, 2, "the first one is no try of its own")
				assert.Equal(t, 1, all[1].Try)
				want := map[string]*verdict.Judged{"beside": c.beside, "alone": c.alone}[c.counts]
				assert.Equal(t, want.Verdict, all[1].Verdict)
			})
		})
	}
}

// One at a time nothing is played beside anything: nobody is in its way.
func TestNothingIsMadeSureOfThatWasAlone(t *testing.T) {
	t.Parallel()
	n := 0
	series := play.Series{Scenarios: []*scenarios.Scenario{{Name: "a"}, {Name: "b"}}, Jobs: 1}
	_, _, err := series.Play(t.Context(), func(context.Context, play.Cell) (*verdict.Judged, error) { n++; return doubted(), nil })
	require.NoError(t, err)
	assert.Equal(t, 2, n)
}

// A host that never comes up is not tried again and again; one that comes up somewhere is.
func TestAHostThatIsDownIsGivenUp(t *testing.T) {
	t.Parallel()
	for up, want := range map[int]int{-1: 2, 0: 6, 5: 2} {
		var all []*scenarios.Scenario
		for i := range 6 {
			all = append(all, &scenarios.Scenario{Name: fmt.Sprint(i)})
		}
		n := 0
		series := play.Series{Scenarios: all, Jobs: 1}
		_, _, err := series.Play(t.Context(), func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
			n++
			if c.Scenario.Name == fmt.Sprint(up) {
				return of(verdict.Clean), nil
			}
			return of(verdict.Inconclusive), fmt.Errorf("host: %w", observe.ErrHost)
		})
		require.ErrorIs(t, err, observe.ErrHost)
		assert.Equal(t, want, n, "up in %d", up)
	}
}

// Once it is enough, what is under way is cut short, and says nothing.
func TestEnough(t *testing.T) {
	t.Parallel()
	var all []*scenarios.Scenario
	for i := range 6 {
		all = append(all, &scenarios.Scenario{Name: fmt.Sprint(i)})
	}
	series := play.Series{Scenarios: all, Jobs: 2, Enough: func(r play.Result) bool { return r.Judged.Verdict.Outcome == verdict.Leak }}
	attempts, _, err := series.Play(t.Context(), func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
		switch c.Scenario.Name {
		case "0":
			return of(verdict.Clean), nil
		case "1":
			return found("abandoned"), nil
		}
		<-ctx.Done()
		return doubted(), context.Cause(ctx)
	})
	require.NoError(t, err)
	assert.LessOrEqual(t, len(attempts), 2)
	assert.Equal(t, verdict.Leak, attempts[len(attempts)-1].Verdict.Outcome)
}

// A machine that says nothing of itself still carries one run.
func TestJobs(t *testing.T) {
	t.Parallel()
	assert.Positive(t, play.Jobs())
}
