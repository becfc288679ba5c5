package acceptance_test

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
	"github.com/leakbench/leakbench/test/matrix"
)

// TestMatrix plays each cell of the matrix, but for the column of the published client. The first tier plays each scenario
// once, and each host in every fifth one.
func TestMatrix(t *testing.T) {
	columns := slices.DeleteFunc(slices.Clone(matrix.Columns), func(name string) bool { return name == "mcp-go" })
	whole := tier.Plays(tier.Matrix)
	testColumns(t, short, func(row int, name string) bool { return whole || columns[(row+1)%len(columns)] == name }, columns...)
}

// TestPublishedClient plays the column of the published mcp-go client, used the
// way its documentation says.
func TestPublishedClient(t *testing.T) {
	tier.Only(t, tier.Matrix)
	testColumns(t, long, func(int, string) bool { return true }, "mcp-go")
}

// testColumns plays the cells of some hosts that are wanted.
func testColumns(t *testing.T, long time.Duration, wanted func(row int, host string) bool, hosts ...string) {
	t.Helper()
	t.Parallel()
	var rows []string
	for i, row := range matrix.Rows {
		rows = append(rows, row.Scenario)
		for _, name := range hosts {
			if !wanted(i, name) {
				continue
			}
			t.Run(row.Scenario+"/"+name, func(t *testing.T) {
				t.Parallel()
				want, known := matrix.Breaks(row.Scenario, name)
				require.True(t, known)
				if want == matrix.Unplayable {
					assertUnplayable(t, row.Scenario, name)
					return
				}
				laws, doubt := here(row.Scenario, name, want)
				right := breaks(want)
				if !slices.Contains(laws, want) { // of another system than the catalogue's
					right.text = strings.Join(lists.Map(laws, func(l string) string { return cmp.Or(l, "clean") }), " or ")
				}
				right.is = func(j verdict.Judged) bool {
					return slices.ContainsFunc(laws, func(l string) bool { return breaks(l).is(j) })
				}
				partly := doubt != "" || byChance[row.Scenario+"/"+name] // one thing is wanted, and nothing said of the others
				switch {
				case doubt != "":
					right = doubts(doubt)
				case partly:
					right = findsL3
				}
				judged := playUntil(t, long, cellOf(builtin(t, row.Scenario), builtinHost(t, name)), limitsOf(row.Scenario), right)
				if partly {
					assert.True(t, right.is(judged), "%s on %s: %s is wanted\n%s", row.Scenario, name, right.text, account(judged))
					return
				}
				if say := byRun[row.Scenario+"/"+name]; say != nil {
					laws = []string{say(judged)}
				}
				assert.Contains(t, laws, brokenLaws(judged.Verdict), "laws broken by %s in %s\n%s", name, row.Scenario, account(judged))
				assert.Empty(t, unexplained(judged, want))
			})
		}
	}
	assert.ElementsMatch(t, scenarios.Names(), rows, "each scenario has its row")
}

// byChance are the cells in which a host ends the servers of sessions that are just opened or at work, and with them the fault, the call
// or the launch that a step beside it is about. Which other laws it breaks, and which steps are left to play, depends on the moment.
var byChance = map[string]bool{"odd-jobs/reap-all": true, "odd-reloads/reap-all": true, "odd-closes/reap-all": true}

// findsL3 says that a host was caught ending servers that were needed, whatever else it did.
var findsL3 = wanted{"L3", func(j verdict.Judged) bool { return strings.Contains(brokenLaws(j.Verdict), "L3") }}

// limitsOf are the limits of a cell: a reference host gives up a handshake after 3 s, and nobody waits for what takes longer.
func limitsOf(scenario string) play.Limits {
	if scenario == "patience" {
		return play.Limits{Patience: 4 * time.Second}
	}
	return play.Limits{}
}

// assertUnplayable: the host itself says that it can't be played the scenario.
func assertUnplayable(t *testing.T, scenario, name string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cell := cellOf(builtin(t, scenario), builtinHost(t, name))
	cell.Dir = filepath.Join(t.TempDir(), "run")
	bench := play.Bench{Self: self}
	_, err = bench.One(t.Context(), cell)
	not := (*fit.NotApplicable)(nil)
	require.ErrorAs(t, err, &not)
	if assert.NotEmpty(t, not.Why) {
		tier.Played(t, name, scenario, matrix.Unplayable)
	}
}

func brokenLaws(v verdict.Verdict) string {
	laws := map[string]bool{}
	for _, f := range v.Findings {
		if f.Severity == record.SeverityError {
			laws[f.Law] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(laws)), " ")
}

// account is what a red cell prints.
func account(j verdict.Judged) string {
	var b strings.Builder
	for _, f := range j.Verdict.Findings {
		fmt.Fprintf(&b, "  %s %s %s x%d (%s): %s; expected %s, found %s %v\n", f.Law, f.Kind, f.Label, f.Count, f.Severity, f.Title, f.Expected, f.Found, f.Values)
	}
	for _, d := range j.Verdict.Doubts {
		fmt.Fprintf(&b, "  doubt %s: %s\n", d.Code, d.Text)
	}
	return b.String()
}
