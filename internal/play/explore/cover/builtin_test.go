package cover_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/play/explore/cover"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// impossible are the combinations that no built-in scenario can play, and why. There are at most maxImpossible.
var impossible = map[string]string{
	"ping reject":  "no step makes a host ping its server, and few do so by themselves",
	"ping hang":    "likewise",
	"ping garbage": "likewise",
	"ping exit":    "likewise",
	"ping delay":   "likewise",
}

const maxImpossible = 10

// TestBuiltinsPlayEachCombination: some built-in scenario plays each fault at each of its moments, and each operation in each state that
// it can find a session in; where that is open, also with an await of a call beside it. The whole table of explore has each fault in each
// of these states: that is for explore, and more than anybody would read in files.
func TestBuiltinsPlayEachCombination(t *testing.T) {
	t.Parallel()
	played, want := map[string]bool{}, []string{}
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		for _, p := range pairs(s) {
			played[p.On+" "+p.Do] = true
		}
		for _, c := range cover.Asked(s) {
			played[fmt.Sprintf("%s, %s", c.Op, c.State)] = true
		}
	}
	for _, m := range fakeserver.Moments {
		for _, do := range m.With {
			want = append(want, m.Name+" "+do)
		}
	}
	for _, c := range cover.Table(grammar.Reach{}) {
		if what := fmt.Sprintf("%s, %s", c.Op, c.State); !slices.Contains(want, what) {
			want = append(want, what)
		}
	}
	var lacks []string
	for _, what := range want {
		switch why := impossible[what]; {
		case !played[what] && why == "":
			lacks = append(lacks, what)
		case played[what]:
			assert.Empty(t, why, "%s is played: it is not impossible", what)
		default:
			t.Logf("%s: impossible: %s", what, why)
		}
	}
	assert.Empty(t, lacks, "no built-in scenario plays\n%s", strings.Join(lacks, "\n"))
	assert.LessOrEqual(t, len(impossible), maxImpossible)
	for what := range impossible {
		assert.Contains(t, want, what, "there is no such combination")
	}
}

// TestWhatIsLeftToExplore prints which faults no built-in scenario has at a moment that an operation leads to, whatever the state of the
// session.
func TestWhatIsLeftToExplore(t *testing.T) {
	t.Parallel()
	combination := func(c cover.Cell) string { return fmt.Sprintf("%s %s, %s", c.On, c.Do, c.Op) }
	played, left, all := map[string]bool{}, map[string][]string{}, map[string]bool{}
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		for _, c := range cover.Aims(s) {
			played[combination(c)] = true
		}
	}
	count := 0
	for _, c := range cover.Table(grammar.Reach{}) {
		what := combination(c)
		if !all[what] && !played[what] {
			group := fmt.Sprintf("on %s, by %s", c.On, c.Op)
			left[group] = append(left[group], c.Do)
			count++
		}
		all[what] = true
	}
	for _, group := range slices.Sorted(maps.Keys(left)) {
		t.Logf("%s: %s", group, strings.Join(left[group], " "))
	}
	t.Logf("%d of %d are left to explore", count, len(all))
	assert.Zero(t, count)
}

// pairs are the faults of a scenario, those of its scripts and those that it orders.
func pairs(s *scenarios.Scenario) (all []grammar.Pair) {
	for _, v := range s.Servers {
		for _, f := range v.Script.Faults {
			all = append(all, grammar.Pair{On: f.On, Do: f.Do})
		}
	}
	for _, step := range flat(s.Expand()) {
		if step.Op == record.OpBreak {
			all = append(all, grammar.Pair{On: step.With.On, Do: step.With.Do})
		}
	}
	return all
}

// flat are the steps, and those inside others.
func flat(steps []scenarios.Step) (all []scenarios.Step) {
	for _, s := range steps {
		all = append(all, s)
		for _, inner := range append([][]scenarios.Step{s.Steps}, s.Lanes...) {
			all = append(all, flat(inner)...)
		}
	}
	return all
}
