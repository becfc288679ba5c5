package play_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/scenarios"
)

func of(o verdict.Outcome) *verdict.Judged {
	return &verdict.Judged{Verdict: verdict.Verdict{Outcome: o}}
}

func cells(n int) []play.Cell {
	all := make([]play.Cell, n)
	for i := range all {
		all[i].Seed = uint64(i)
	}
	return all
}

// order is what was played, by seed and try.
func order(all []play.Result) (played []string) {
	for _, r := range all {
		played = append(played, fmt.Sprintf("%d.%d", r.Seed, r.Try))
	}
	return played
}

func TestPoolKeepsTheOrder(t *testing.T) {
	t.Parallel()
	// Each play waits for the one after it, so that they end in reverse.
	ended := make([]chan struct{}, 5)
	for i := range ended {
		ended[i] = make(chan struct{})
	}
	var came []uint64
	var left []int
	pool := play.Pool{
		Slots: 5,
		Play: func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
			if c.Seed < 4 {
				<-ended[c.Seed+1]
			}
			return of(verdict.Clean), nil
		},
		Done: func(r play.Result, n int) {
			came, left = append(came, r.Seed), append(left, n)
			close(ended[r.Seed])
		},
	}
	results, err := pool.Run(t.Context(), cells(5))
	require.NoError(t, err)
	assert.Equal(t, []string{"0.1", "1.1", "2.1", "3.1", "4.1"}, order(results))
	assert.Equal(t, []uint64{4, 3, 2, 1, 0}, came)
	assert.Equal(t, []int{4, 3, 2, 1, 0}, left)
}

// TestPoolBeginsWithWhatMayTakeLongest: the results keep the order of the cells.
func TestPoolBeginsWithWhatMayTakeLongest(t *testing.T) {
	t.Parallel()
	var all []play.Cell
	for i, name := range []string{"storm", "crash", "restart", "cron"} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		all = append(all, play.Cell{Scenario: s, Seed: uint64(i)})
	}
	var mu sync.Mutex
	var began []string
	both := make(chan struct{})
	pool := play.Pool{Slots: 2, Play: func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
		mu.Lock()
		began = append(began, c.Scenario.Name)
		if len(began) == 2 {
			close(both)
		}
		mu.Unlock()
		<-both
		return of(verdict.Clean), nil
	}}
	results, err := pool.Run(t.Context(), all)
	require.NoError(t, err)
	assert.Contains(t, began[:2], "restart")
	assert.Equal(t, []string{"0.1", "1.1", "2.1", "3.1"}, order(results))
}

func TestPoolHasSoManySlots(t *testing.T) {
	t.Parallel()
	for _, slots := range []int{1, 3} {
		var now, most atomic.Int32
		pool := play.Pool{Slots: slots, Play: func(context.Context, play.Cell) (*verdict.Judged, error) {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			defer now.Add(-1)
			return of(verdict.Clean), nil
		}}
		results, err := pool.Run(t.Context(), cells(50))
		require.NoError(t, err)
		assert.Len(t, results, 50)
		assert.LessOrEqual(t, int(most.Load()), slots)
	}
}

func TestPoolPlaysAlone(t *testing.T) {
	t.Parallel()
	for slots, want := range map[int][]string{1: {"0.1", "1.1", "1.2", "2.1", "3.1"}, 4: {"0.1", "3.1", "2.1", "1.2"}} {
		all := cells(4)
		all[2].Alone = true
		var now atomic.Int32
		var came []play.Result
		pool := play.Pool{
			Slots: slots,
			Play: func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
				n := now.Add(1)
				defer now.Add(-1)
				if c.Alone {
					assert.EqualValues(t, 1, n)
				}
				return of(verdict.Inconclusive), nil
			},
			Again: func(r play.Result) string {
				if r.Seed == 1 && r.Try == 1 {
					return "it was unclear"
				}
				return ""
			},
			Done: func(r play.Result, _ int) { came = append(came, r) },
		}
		results, err := pool.Run(t.Context(), all)
		require.NoError(t, err)
		assert.Equal(t, []string{"0.1", "1.1", "1.2", "2.1", "3.1"}, order(results))
		assert.Subset(t, order(came), want)
		if slots == 1 {
			assert.Equal(t, want, order(came), "one slot: at once")
		} else {
			assert.Equal(t, want[2:], order(came)[3:], "what is alone comes last")
		}
		assert.True(t, results[2].Alone)
	}
}

func TestPoolGoesOnAfterAFailure(t *testing.T) {
	t.Parallel()
	bug := errors.New("bug")
	pool := play.Pool{Slots: 2, Play: func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
		switch c.Seed {
		case 1:
			return nil, bug
		case 2:
			panic("boom")
		}
		return of(verdict.Clean), nil
	}}
	results, err := pool.Run(t.Context(), cells(4))
	require.NoError(t, err, "it was not cut short")
	require.Len(t, results, 4)
	require.ErrorIs(t, results[1].Err, bug)
	require.ErrorContains(t, results[2].Err, "panic: boom")
	assert.Nil(t, results[1].Judged)
	assert.NoError(t, results[3].Err)
}

func TestPoolIsCutShort(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for _, slots := range []int{1, 2} {
		ctx, cancel := context.WithCancelCause(t.Context())
		pool := play.Pool{
			Slots: slots,
			Play: func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
				switch c.Seed {
				case 0:
				case 1:
					cancel(stop)
				default: // what is played beside it must not be done before it
					<-ctx.Done()
				}
				return of(verdict.Clean), nil
			},
			Again: func(r play.Result) string { return map[uint64]string{1: "it was unclear"}[r.Seed] },
			Done:  func(r play.Result, _ int) { assert.Zero(t, r.Seed, "what was cut short is not shown") },
		}
		results, err := pool.Run(ctx, cells(50))
		require.ErrorIs(t, err, stop)
		assert.Contains(t, order(results), "1.1", "what was cut short is returned")
		assert.Less(t, len(results), 4)
	}
}

func TestSeries(t *testing.T) {
	t.Parallel()
	bug, noHost := errors.New("bug"), fmt.Errorf("host: %w", observe.ErrHost)
	clean, leaky, unsure := verdict.Clean, verdict.Leak, verdict.Inconclusive
	type step struct {
		outcome verdict.Outcome
		err     error
	}
	for name, c := range map[string]struct {
		series play.Series
		steps  []step
		runs   int
		err    error
	}{
		"once":                   {play.Series{}, []step{{clean, nil}}, 1, nil},
		"no retries":             {play.Series{}, []step{{unsure, nil}}, 1, nil},
		"until it is decided":    {play.Series{Retries: 3}, []step{{unsure, nil}, {unsure, nil}, {clean, nil}}, 3, nil},
		"until there are none":   {play.Series{Retries: 1}, []step{{unsure, nil}, {unsure, nil}}, 2, nil},
		"a leak is not retried":  {play.Series{Retries: 3}, []step{{leaky, nil}}, 1, nil},
		"repeats":                {play.Series{Repeat: 2, Retries: 1}, []step{{unsure, nil}, {clean, nil}, {clean, nil}}, 3, nil},
		"a host that comes up":   {play.Series{Retries: 1}, []step{{unsure, noHost}, {clean, nil}}, 2, nil},
		"a host that never does": {play.Series{Retries: 1}, []step{{unsure, noHost}, {unsure, noHost}}, 2, observe.ErrHost},
		"a bug ends it":          {play.Series{Repeat: 3, Retries: 1}, []step{{unsure, bug}}, 1, bug},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 0
			c.series.Scenarios = []*scenarios.Scenario{{Name: "storm"}}
			c.series.Jobs = 1 // the steps are those of one play after the other
			all, _, err := c.series.Play(t.Context(), func(context.Context, play.Cell) (*verdict.Judged, error) {
				require.Less(t, n, len(c.steps), "played once too often")
				s := c.steps[n]
				n++
				return of(s.outcome), s.err
			})
			assert.Len(t, all, c.runs)
			assert.Equal(t, len(c.steps), n)
			if c.err == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, c.err)
			}
		})
	}
}

// A leak with a doubt beside it is played again: what else there was to see is not known.
func TestADoubtBesideALeakIsRetried(t *testing.T) {
	t.Parallel()
	series, n := play.Series{Scenarios: []*scenarios.Scenario{{Name: "storm"}}, Retries: 2}, 0
	all, _, err := series.Play(t.Context(), func(context.Context, play.Cell) (*verdict.Judged, error) {
		j := of(verdict.Leak)
		if n++; n == 1 {
			j.Verdict.Doubts = []verdict.Doubt{{Code: "x", Text: "y"}}
		}
		return j, nil
	})
	require.NoError(t, err)
	assert.Len(t, all, 2)
}

// A failure of one scenario leaves the others their turn.
func TestSeriesGoesOnWithTheNextScenario(t *testing.T) {
	t.Parallel()
	bug := errors.New("bug")
	series := play.Series{Scenarios: []*scenarios.Scenario{{Name: "storm"}, {Name: "cron"}}, Repeat: 2, Jobs: 1}
	var played []string
	all, _, err := series.Play(t.Context(), func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
		played = append(played, fmt.Sprint(c.Scenario.Name, c.Repeat))
		if c.Scenario.Name == "storm" {
			return nil, bug
		}
		return of(verdict.Clean), nil
	})
	require.ErrorIs(t, err, bug)
	assert.Equal(t, []string{"storm1", "cron1", "cron2"}, played)
	require.Len(t, all, 2)
	assert.Equal(t, [2]int{1, 2}, [2]int{all[0].Repeat, all[1].Repeat})
}
