package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Healthy is the host that breaks no law.
const Healthy = catalogue.Healthy

// Case is a host in a scenario, and what is wrong with it.
type Case struct {
	Scenario string `json:"scenario"`
	Host     string `json:"host"`
	Law      string `json:"law,omitempty"` // the one that it breaks; "" is none
	Kind     string `json:"kind,omitempty"`
}

// Cases are all of them: the mutants, each in the scenarios that show its flaw, and the healthy host in each scenario.
func Cases() []Case {
	var all []Case
	for _, m := range catalogue.Mutants {
		if m.Unix && runtime.GOOS == record.Windows {
			continue
		}
		for _, f := range m.Shows {
			all = append(all, Case{f.Scenario, m.Name, f.Law, f.Kind})
		}
	}
	for _, name := range scenarios.Names() {
		all = append(all, Case{Scenario: name, Host: Healthy})
	}
	return all
}

// Result is what the bench said of a case.
type Result struct {
	Case
	OK     bool           `json:"ok"` // the law and the kind that were expected, and nothing else
	Laws   []string       `json:"laws"`
	Kinds  []string       `json:"kinds"`
	Doubts []record.Doubt `json:"doubts"`
	Error  string         `json:"error,omitempty"` // the run could not be played
	// Skipped is why the scenario can't be played on this machine: then the case says nothing, for or against.
	Skipped string          `json:"skipped,omitempty"`
	Took    record.Duration `json:"took"`
	Dir     string          `json:"dir"`

	Verdict verdict.Verdict `json:"-"`
}

// SelftestParams say how to run the cases.
type SelftestParams struct {
	Self     string // the program, which is also the fake server, the keeper and the hosts
	Dir      string // folder for the runs
	Jobs     int    // how many at the same time
	Play     play.Player
	OnResult func(Result) // sees each result as it comes in; not called concurrently
}

// Selftest plays hosts whose flaws are known, and finds out whether the bench says so: hosts that break no law, and hosts that break
// exactly one. The results have the order of the cases. The error says that the selftest was cut short.
func Selftest(ctx context.Context, p SelftestParams, cases []Case) ([]Result, error) {
	cells, wrong := make([]play.Cell, len(cases)), map[string]error{}
	for i, c := range cases {
		dir := filepath.Join(p.Dir, fmt.Sprintf("%03d-%s-%s", i+1, c.Scenario, c.Host))
		scenario, unknown := scenarios.Builtin(c.Scenario)
		spec, missing := subject.Lookup(p.Self, c.Host)
		wrong[dir] = errors.Join(unknown, missing)
		cells[i] = play.Cell{Scenario: scenario, Host: play.Host{Spec: spec}, Seed: 1, Dir: dir}
	}
	results := make([]Result, len(cases))
	var played sync.Map // folders
	// A run that could not be decided beside others is played once more alone.
	again := func(r play.Result) string {
		if r.Try == 1 && r.Err == nil && resultOf(cases[r.Index], r).Skipped == "" && len(r.Judged.Verdict.Doubts) > 0 {
			return "something was left in doubt"
		}
		return ""
	}
	pool := play.Pool{
		Slots: p.Jobs, Again: again,
		Play: func(ctx context.Context, c play.Cell) (*verdict.Judged, error) {
			if err := wrong[c.Dir]; err != nil {
				return nil, err
			}
			if _, before := played.LoadOrStore(c.Dir, true); before {
				c.Dir += "-again"
			}
			return p.Play(ctx, c)
		},
		Done: func(r play.Result, _ int) {
			results[r.Index] = resultOf(cases[r.Index], r)
			if p.OnResult != nil && again(r) == "" {
				p.OnResult(results[r.Index])
			}
		},
	}
	if _, err := pool.Run(ctx, cells); err != nil {
		return nil, err
	}
	return results, nil
}

// resultOf holds what was found in a run against what was expected.
func resultOf(c Case, played play.Result) Result {
	r := Result{Case: c, Laws: []string{}, Kinds: []string{}, Doubts: []record.Doubt{}, Took: record.Duration(played.Took), Dir: played.Dir}
	if played.Err != nil {
		r.Error = played.Err.Error()
		return r
	}
	r.Verdict, r.Dir = played.Judged.Verdict, cmp.Or(played.Judged.Dir, r.Dir)
	beyond := func(d record.Doubt) bool { return d.Code == record.DoubtNoPlace || d.Code == record.DoubtNoLimit }
	if at := slices.IndexFunc(r.Verdict.Doubts, beyond); at >= 0 {
		r.Skipped = r.Verdict.Doubts[at].Text
		return r
	}
	if why := unseen(c, played.Judged); why != "" {
		r.Skipped = why
		return r
	}
	r.Doubts = append(r.Doubts, r.Verdict.Doubts...)
	laws, kinds := map[string]bool{}, map[string]bool{}
	for _, f := range r.Verdict.Findings {
		laws[f.Law], kinds[f.Kind] = true, true
	}
	r.Laws, r.Kinds = sorted(laws), sorted(kinds)
	r.OK = strings.Join(r.Laws, " ") == c.Law && strings.Join(r.Kinds, " ") == c.Kind && len(r.Doubts) == 0
	return r
}

// unseen says why the law of a case could not be judged on Windows, where one witness may be missing: Wine counts the handles of a
// process too seldom, which are all that L5 goes by. Any other law that was not judged is a bench gone blind, and so is L5 elsewhere.
func unseen(c Case, j *verdict.Judged) string {
	i := slices.IndexFunc(j.Verdict.Laws, func(l verdict.LawResult) bool { return l.Law == c.Law })
	if c.Law != "L5" || j.Run == nil || j.Run.Header.System.OS != record.Windows || i < 0 || len(j.Verdict.Findings) > 0 {
		return ""
	}
	if j.Verdict.Laws[i].Status != verdict.LawNotJudged || !slices.ContainsFunc(j.Run.Events, uncounted) {
		return ""
	}
	return c.Law + " was not judged: " + j.Verdict.Laws[i].Reason
}

// uncounted says that at the end of a cycle the host's handles were not counted.
func uncounted(e record.Event) bool {
	return e.Census != nil && e.Census.Cycle != nil && e.Census.Host != nil && e.Census.Host.FDs <= 0
}

func sorted(set map[string]bool) []string {
	return append([]string{}, slices.Sorted(maps.Keys(set))...)
}

// Columns of the confusion matrix besides the laws.
const (
	None    = "none"    // no law was broken
	Unclear = "unclear" // inconclusive, or the run failed
)

// Matrix counts which laws were found (columns) in the runs of hosts that break a law, or None (rows). A run in which
// several were found counts in several columns.
func Matrix(results []Result) map[string]map[string]int {
	matrix := map[string]map[string]int{}
	for _, r := range results {
		if r.Skipped != "" {
			continue
		}
		row := matrix[cmp.Or(r.Law, None)]
		if row == nil {
			row = map[string]int{}
			matrix[cmp.Or(r.Law, None)] = row
		}
		for _, id := range r.Laws {
			row[id]++
		}
		switch {
		case r.Error != "" || len(r.Doubts) > 0:
			row[Unclear]++
		case len(r.Laws) == 0:
			row[None]++
		}
	}
	return matrix
}

// CasesOf are the cases of a law, or of None; "" is all.
func CasesOf(law string) []Case {
	return slices.DeleteFunc(Cases(), func(c Case) bool { return law != "" && law != c.Law && (law != None || c.Law != "") })
}

// Rows are the laws that a case may break, None first.
func Rows() []string { return append([]string{None}, law.IDs()...) }

// String is a result as one line.
func (r Result) String() string {
	expected := cmp.Or(strings.TrimSpace(r.Law+" "+r.Kind), "no law broken")
	line := fmt.Sprintf(" %-16s %-9s %s", r.Host, r.Scenario, expected)
	switch {
	case r.Skipped != "":
		return "-" + line + "; skipped: " + r.Skipped
	case r.OK:
		return "✓" + line
	}
	found := strings.Join(slices.Concat(r.Laws, r.Kinds), " ")
	line = "✗" + line + "; found: " + cmp.Or(found, "no law broken")
	for _, d := range r.Doubts {
		line += "; unclear: " + d.Text
	}
	if r.Error != "" {
		line += "; failed: " + r.Error
	}
	return line
}

// Count is how many results are not as expected, and how many were not played.
func Count(results []Result) (bad, skipped int) {
	for _, r := range results {
		switch {
		case r.Skipped != "":
			skipped++
		case !r.OK:
			bad++
		}
	}
	return bad, skipped
}

// WriteResults writes the matrix of the results and a line that sums them up.
func WriteResults(w io.Writer, results []Result, took time.Duration) error {
	matrix, columns := Matrix(results), append(Rows(), Unclear)
	fmt.Fprintf(w, "\nLaw that is broken (rows) and laws that were found (columns), in runs:\n\n")
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "\t%s\t\n", strings.Join(columns, "\t"))
	for _, row := range Rows() {
		if matrix[row] == nil {
			continue
		}
		fmt.Fprintf(table, "%s\t", row)
		for _, column := range columns {
			cell := "."
			if n := matrix[row][column]; n > 0 {
				cell = fmt.Sprint(n)
			}
			fmt.Fprintf(table, "%s\t", cell)
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	bad, skipped := Count(results)
	played := len(results) - skipped
	fmt.Fprintf(w, "\n%s in %s, %d as expected, %d not", text.Count(played, "run"), duration.Text(took), played-bad, bad)
	if skipped > 0 {
		fmt.Fprintf(w, "; %d skipped, which says nothing for or against", skipped)
	}
	_, err := fmt.Fprintln(w)
	return err
}
