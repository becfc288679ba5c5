package verdict

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// upTo counts up from one number to another.
func upTo(from, to int) (all []int) {
	for n := from; n <= to; n++ {
		all = append(all, n)
	}
	return all
}

// cycled is a run with the ends of its repetitions changed.
func cycled(run *record.Run, change func(c *record.Census)) *record.Run {
	for i := range run.Events {
		if c := run.Events[i].Census; c != nil && c.Cycle != nil {
			change(c)
		}
	}
	return run
}

// TestWhatRisesInASoak is a leak where it rises over all repetitions and in the second half of them, and more is left than at first. The
// first repetition is left out.
func TestWhatRisesInASoak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		workers []int
		rises   bool
		begins  bool // to rise, so that it can't be told
	}{
		"as few as it takes":                {upTo(0, 12), true, false},
		"one too few":                       {upTo(0, 11), false, false},
		"a pool that fills in half of them": {slices.Concat([]int{0}, upTo(1, 12), slices.Repeat([]int{12}, 12)), false, false},
		"all gone in the end":               {slices.Concat([]int{5}, upTo(5, 43), []int{5}), false, false},
		"one more in the end":               {slices.Concat([]int{5}, upTo(5, 43), []int{6}), false, false},
		"two more in the end":               {slices.Concat([]int{5}, upTo(5, 43), []int{7}), true, false},
		"only late":                         {slices.Concat(slices.Repeat([]int{0}, 19), upTo(1, 6)), false, true},
		"only late, and one in the end":     {slices.Concat(slices.Repeat([]int{5}, 13), []int{4, 4, 4, 4, 4, 4, 5, 5, 5, 6, 6, 6}), false, false},
		"back to what it was":               {slices.Concat(slices.Repeat([]int{6}, 13), upTo(1, 8)), false, false},
	} {
		want := []string{}
		if c.rises {
			want = []string{"process-growth"}
		}
		v := Judge(crowds(c.workers...)(newPlay()))
		assert.Equal(t, want, kindsIn(v), name)
		l1 := v.Laws[slices.IndexFunc(v.Laws, func(r LawResult) bool { return r.Law == "L1" })]
		assert.Equal(t, c.begins, strings.Contains(l1.Reason, "began to rise"), name)
	}
}

// TestRepetitionsThatShowNoRise: those of a run that is no soak, and those at whose end nobody saw the host.
func TestRepetitionsThatShowNoRise(t *testing.T) {
	t.Parallel()
	rise := upTo(0, 14)
	run := crowds(rise...)(newPlay())
	run.Header.Soak = 0
	v := Judge(run)
	assert.Empty(t, kindsIn(v))
	assert.Nil(t, v.Soak)
	v = Judge(cycled(crowds(rise...)(newPlay()), func(c *record.Census) {
		if c.Cycle.N < 5 {
			c.Host = nil
		}
	}))
	assert.Empty(t, kindsIn(v))
	assert.Equal(t, len(rise), v.Soak.Repetitions)
}

// TestARiseThatALawNames is told once: L1 knows what was left.
func TestARiseThatALawNames(t *testing.T) {
	t.Parallel()
	p := newPlay()
	left := p.open("s9", "flaky")
	p.close("s9", "flaky", func() {})
	p.restless("after", nil)
	p.bye(left)
	assert.Equal(t, []string{"abandoned"}, kindsIn(Judge(crowds(upTo(0, 14)...)(p))))
}

// TestTheTrendsOfASoak are those of what the host holds, from the second repetition on.
func TestTheTrendsOfASoak(t *testing.T) {
	t.Parallel()
	holds := func(c *record.Census) { c.Host.FDs, c.Host.RSS = 12+c.Cycle.N, int64(90-c.Cycle.N)*mib }
	v := Judge(cycled(crowds(2, 2, 2, 2, 2, 2, 2, 2)(newPlay()), holds))
	require.NotNil(t, v.Soak)
	assert.Equal(t, 8, v.Soak.Repetitions)
	require.Len(t, v.Soak.Trends, 3)
	for i, want := range []struct {
		of          string
		first, last int64
		grows       bool
	}{{"processes", 2, 2, false}, {"descriptors", 14, 20, true}, {"memory", 88 * mib, 82 * mib, false}} {
		got := v.Soak.Trends[i]
		assert.Equal(t, want.of, got.Of)
		assert.Equal(t, []int64{want.first, want.last}, []int64{got.First, got.Last}, want.of)
		assert.Equal(t, want.grows, got.Grows(), want.of)
	}
	v = Judge(crowds(2, 2, 2, 2, 2, 2)(newPlay()))
	assert.Equal(t, &Soak{Repetitions: 6, Trends: []Trend{}}, v.Soak, "five points are too few")
}
