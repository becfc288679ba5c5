package compare_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// The exact two-sided p of U, as scipy 1.17.1 gives it: mannwhitneyu(a, b,
// method="exact"), and with ties the share of all arrangements of the ranks
// that are as far from the middle.
func TestMannWhitneyAgreesWithOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b []float64
		p    float64
	}{
		{[]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 0.0021645021645021645},
		{[]float64{12, 14, 15, 17, 19, 21}, []float64{13, 16, 18, 20, 22, 25}, 0.30952380952380953},
		{[]float64{10, 11, 12, 13, 14, 15, 16}, []float64{12.5, 13.5, 14.5, 15.5, 17, 18, 19}, 0.07284382284382285},
		{[]float64{1, 1, 2, 2, 3, 3}, []float64{3, 3, 4, 4, 5, 5}, 0.012987012987012988},
		{[]float64{5, 5, 5, 5, 5, 6}, []float64{6, 6, 7, 7, 7, 8}, 0.006493506493506494},
		{[]float64{5, 5, 5, 5, 5, 5}, []float64{5, 5, 5, 5, 5, 5}, 1},
	} {
		r := compare.Runs(closes(c.a...), closes(c.b...), compare.Params{})
		assert.InDelta(t, c.p, named(t, r, "close").P, 1e-9, "%v %v", c.a, c.b)
	}
}

func named(t *testing.T, r compare.Result, name string) compare.Measure {
	t.Helper()
	for _, m := range r.Measures {
		if m.Name == name {
			return m
		}
	}
	require.Fail(t, "no measure "+name)
	return compare.Measure{}
}

var (
	slow = []float64{80, 81, 82, 83, 84, 85, 86}
	fast = []float64{40, 41, 42, 43, 44, 45, 46}
)

func TestSlowerAndFaster(t *testing.T) {
	t.Parallel()
	r := compare.Runs(closes(fast...), closes(slow...), compare.Params{})
	m := named(t, r, "close")
	assert.Equal(t, compare.Worse, m.Change)
	assert.InDelta(t, 83.0/43-1, m.Delta, 1e-9)
	assert.InDelta(t, 1, m.Effect, 0, "each run of head is slower than each of base")
	assert.True(t, r.Fails(true))
	assert.False(t, r.Fails(false), "who asks for findings alone gets those")
	m = named(t, compare.Runs(closes(slow...), closes(fast...), compare.Params{}), "close")
	assert.Equal(t, compare.Better, m.Change)
	assert.InDelta(t, 0, m.Effect, 0)
}

// A change that is certain but small is no regression: neither a small part,
// nor a large part of next to nothing.
func TestToleranceAndFloor(t *testing.T) {
	t.Parallel()
	m := named(t, compare.Runs(closes(100, 101, 102, 103, 104, 105, 106), closes(110, 111, 112, 113, 114, 115, 116), compare.Params{}), "close")
	assert.Less(t, m.Holm, 0.05)
	assert.Equal(t, compare.Same, m.Change)
	assert.True(t, m.Within)
	m = named(t, compare.Runs(closes(100, 101, 102, 103, 104, 105, 106), closes(110, 111, 112, 113, 114, 115, 116), compare.Params{Tolerance: 0.05}), "close")
	assert.Equal(t, compare.Worse, m.Change)
	m = named(t, compare.Runs(closes(1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6), closes(4, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6), compare.Params{}), "close")
	assert.Equal(t, compare.Same, m.Change, "3 ms more are less than the machine's own moods")
	assert.InDelta(t, 2.307692307692308, m.Delta, 1e-12)
}

func TestTooFewRunsAreNotTested(t *testing.T) {
	t.Parallel()
	r := compare.Runs(closes(fast...), closes(slow[:5]...), compare.Params{})
	m := named(t, r, "close")
	assert.Equal(t, compare.Untested, m.Change)
	assert.Zero(t, r.Tests)
	assert.Equal(t, 6, r.Need)
	assert.False(t, r.Fails(true))
}

func TestHolmOverAllTests(t *testing.T) {
	t.Parallel()
	base := closes(1000, 1010, 1020, 1030, 1040, 1050)
	var head []verdict.Judged
	head = append(head, closes(2000, 2010, 2020, 2030, 2040, 2050)...)
	r := compare.Runs(base, head, compare.Params{})
	// Here: close at 0.00216, and open and peak live, which are all the same, at 1.
	m := named(t, r, "close")
	require.Equal(t, 3, r.Tests)
	assert.InDelta(t, 3*0.0021645021645021645, m.Holm, 1e-9)
	assert.Equal(t, compare.Worse, m.Change)
	assert.InDelta(t, 1, named(t, r, "open").Holm, 1e-9)

	// Twenty plays that are all the same take the power from six runs: what one
	// play would have shown is not shown, and how many would do is said.
	for i := range 10 {
		name := string(rune('a' + i))
		for range 6 {
			base = append(base, made{scenario: name, host: "h"}.judged())
			head = append(head, made{scenario: name, host: "h"}.judged())
		}
	}
	r = compare.Runs(base, head, compare.Params{})
	require.Equal(t, 33, r.Tests)
	assert.Equal(t, compare.Same, named(t, r, "close").Change)
	assert.InDelta(t, 33*0.0021645021645021645, named(t, r, "close").Holm, 1e-9)
	assert.Equal(t, 7, r.Need)
}

// scipy 1.17.1: binomtest(k, n).proportion_ci(method="wilson").
func TestWilsonAgreesWithOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, of    int
		low, high float64
	}{
		{0, 10, 0, 0.27753279986288926},
		{3, 10, 0.10779126740630102, 0.6032218525388546},
		{10, 10, 0.7224672001371109, 1},
		{1, 6, 0.03005336974830669, 0.5635028221864702},
		{50, 100, 0.4038315303659956, 0.5961684696340044},
		{0, 1, 0, 0.7934506856227626},
		{0, 0, 0, 1},
	} {
		r := compare.RateOf(c.in, c.of)
		assert.InDelta(t, c.low, r.Low, 1e-9, "%d of %d", c.in, c.of)
		assert.InDelta(t, c.high, r.High, 1e-9, "%d of %d", c.in, c.of)
	}
}

func TestRepeats(t *testing.T) {
	t.Parallel()
	found := []verdict.Finding{leak("x")}
	r := compare.Repeats(runs(made{findings: found}, made{}, made{doubts: 1}, made{findings: found, doubts: 1}))
	require.Len(t, r, 1)
	assert.Equal(t, compare.RateOf(2, 3), r[0].Leak)
	assert.Equal(t, 1, r[0].Inconclusive)
	assert.True(t, r[0].Flaky())
	assert.Equal(t, compare.RateOf(2, 3), r[0].Findings[0].Rate)
	assert.False(t, (&compare.Repeats(runs(made{}, made{}))[0]).Flaky())
	assert.False(t, (&compare.Repeats(runs(made{findings: found}, made{findings: found}))[0]).Flaky())
}

// TestWhatIsCounted: what leaked, what breaks another law, and what is but a warning are counted apart.
func TestWhatIsCounted(t *testing.T) {
	t.Parallel()
	finding := func(law string, severity record.Severity, count int) verdict.Finding {
		return verdict.Finding{Law: law, Severity: severity, Count: count, Fingerprint: law}
	}
	head := made{scenario: "storm", host: "h", findings: []verdict.Finding{
		finding("L1", record.SeverityError, 1), finding("L3", record.SeverityError, 2), finding("L9", record.SeverityWarning, 4),
	}}
	r := compare.Runs([]verdict.Judged{made{scenario: "storm", host: "h"}.judged()}, []verdict.Judged{head.judged()}, compare.Params{})
	counts := map[string]int{}
	for _, c := range r.Counts {
		counts[c.Name] = c.Delta()
	}
	assert.Equal(t, map[string]int{"leaked": 1, "processes that break another law": 2, "processes with a warning": 4}, counts)
}
