package acceptance_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/doctor"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/tier"
)

// TestMutants runs each host that breaks one law: the bench names that law, in
// the right way, and nothing else. The first tier plays the first scenario of each. (The healthy host has its column in the
// matrix; that the mutants differ from it in one thing only shows in
// TestMutantsAreCleanElsewhere.)
func TestMutants(t *testing.T) {
	t.Parallel()
	laws, hosts := map[string]bool{}, map[string]bool{}
	for _, c := range doctor.Cases() {
		if c.Law == "" {
			continue
		}
		again := hosts[c.Host]
		laws[c.Law], hosts[c.Host] = true, true
		if again && !tier.Plays(tier.Matrix) {
			continue
		}
		t.Run(c.Host, func(t *testing.T) {
			t.Parallel()
			needsPlace(t, builtin(t, c.Scenario))
			r := one(t, c)
			assert.True(t, r.OK, "expected %s %s and nothing else, found %v %v\n%s", c.Law, c.Kind, r.Laws, r.Kinds, account(verdict.Judged{Verdict: r.Verdict}))
		})
	}
	for _, l := range law.All() {
		assert.True(t, laws[l.ID], "no mutant breaks %s", l.ID)
	}
	for _, s := range subject.Mutants("self") {
		assert.True(t, hosts[s.Name], "nothing shows %s", s.Name)
	}
}

// TestMutantsAreCleanElsewhere puts those whose flaw needs a certain event
// into a scenario without it.
func TestMutantsAreCleanElsewhere(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Matrix)
	for _, m := range catalogue.Mutants {
		if m.Clean == "" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			r := one(t, doctor.Case{Scenario: m.Clean, Host: m.Name})
			assert.True(t, r.OK, "%s in %s breaks %v %v\n%s", m.Name, m.Clean, r.Laws, r.Kinds, account(verdict.Judged{Verdict: r.Verdict}))
		})
	}
}

// TestKeepingOnPurposeIsNoLeak: the same host, with a profile that says what it
// means to keep. What it loses otherwise is found all the same.
func TestKeepingOnPurposeIsNoLeak(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Matrix)
	for name, want := range map[string]string{"mutant-l1-kept": "", "mutant-l1": "L1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := builtinHost(t, name)
			spec.Profile.Resident = 1
			judged := playUntil(t, short, cellOf(builtin(t, "grow"), spec), play.Limits{}, breaks(want))
			assert.Equal(t, want, brokenLaws(judged.Verdict), account(judged))
			assert.Empty(t, judged.Verdict.Doubts)
		})
	}
}

// TestSelftestIsNotEasilyPleased: neither a healthy host passes for a broken
// one, nor the other way round.
func TestSelftestIsNotEasilyPleased(t *testing.T) {
	t.Parallel()
	all := []doctor.Case{
		{Scenario: "reload", Host: doctor.Healthy, Law: "L1", Kind: "superseded"},
		{Scenario: "reload", Host: "mutant-l9-term"},
		{Scenario: "reload", Host: "mutant-l9-term", Law: "L9", Kind: "killed-unasked"},
		{Scenario: "no-such-scenario", Host: doctor.Healthy},
	}
	done := takeTurn(t, besideAll, medium)
	results := putThrough(t, true, all)
	done()
	for _, r := range results {
		assert.False(t, r.OK, "%+v", r.Case)
	}
	assert.Equal(t, map[string]map[string]int{
		"L1": {doctor.None: 1}, doctor.None: {"L9": 1, doctor.Unclear: 1}, "L9": {"L9": 1},
	}, doctor.Matrix(results))
}

// one plays a case, and again alone where playUntil does that.
func one(t *testing.T, c doctor.Case) doctor.Result {
	t.Helper()
	last := untilFinal(t, besideAll, medium, func(among company) (doctor.Result, verdictIs) {
		r := putThrough(t, among == alone, []doctor.Case{c})[0]
		if !r.OK {
			t.Logf("%s on %s: %v %v %v", c.Scenario, c.Host, r.Laws, r.Kinds, r.Doubts)
		}
		return r, verdictIs{right: r.OK, certain: len(r.Doubts) == 0, timed: slices.ContainsFunc(r.Kinds, isTimed)}
	})
	if last.OK {
		tier.Played(t, c.Host, c.Scenario, cmp.Or(strings.TrimSpace(c.Law+" "+c.Kind), "clean"))
	}
	return last
}

func putThrough(t *testing.T, alone bool, cases []doctor.Case) []doctor.Result {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	seen := 0
	results, err := doctor.Selftest(t.Context(), doctor.SelftestParams{
		Self: self, Dir: t.TempDir(), Jobs: 4, Play: watched(t, alone, (&play.Bench{Self: self}).One), OnResult: func(doctor.Result) { seen++ },
	}, slices.Clone(cases))
	require.NoError(t, err)
	assert.Equal(t, len(cases), seen)
	return results
}
