package page

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// suiteView is what several runs are together.
type suiteView struct {
	Scenarios []string `max:"80"`
	Hosts     []hostRow
	Levels    []record.Level // of what was played
	Reach     []reachRow
	Fixes     []*fixRow
	Baseline  bool // there is one, so that each cause has a status
	MoreCause int
}

// fixRow is all findings that one change of the host mends: they share their kind, and so what to do.
type fixRow struct {
	Class           string
	Law, Kind       string `max:"80"`
	Title           string `max:"200"` // what the kind is
	Fix             string `max:"2000"`
	About           string
	Count, Runs     string // "3 findings", "5 runs"
	Causes          []*causeRow
	weight, touched int // runs in which it is an error; all runs
}

// hostRow is a host's row of the scoreboard: a cell for each scenario.
type hostRow struct {
	Host  string `max:"80"`
	Cells []boardCell
}

// reachRow is how far a host gets.
type reachRow struct {
	Host  string `max:"80"`
	Cells []reachCell
}

type reachCell struct {
	Class verdict.Outcome
	Of    string // "6/9"; "" where nothing of the level was played
}

type boardCell struct {
	Outcome   verdict.Outcome // "" where it was not played
	Glyph, ID string
	Title     string `max:"200"`
}

// causeRow is a finding with all runs that show it.
type causeRow struct {
	verdict.Finding `max:"Fingerprint=80 Law=20 Kind=80 Title=200"` // its count is that of all runs

	Class    string
	Status   *baseline.Status // beside the baseline, the worst of its runs'; nil where there is none
	Runs     []causeRun
	MoreRuns int
	in       []int // indices of its runs
}

type causeRun struct {
	Name string `max:"160"`
	ID   string
}

const (
	boardMost  = 60
	causesMost = 100
	causeRuns  = 12
)

func newSuite(runs []verdict.Judged, ids map[int]string, base *baseline.Lookup) *suiteView {
	s := &suiteView{Baseline: base != nil}
	s.board(runs, ids)
	s.reach(runs)
	s.causes(runs, ids, base)
	return s
}

// board is there where several hosts played several scenarios. Of runs of the same it shows the worst.
func (s *suiteView) board(runs []verdict.Judged, ids map[int]string) {
	var scenarios, hosts []string
	cells := map[[2]string]boardCell{}
	for i := range runs {
		play := compare.PlayOf(&runs[i])
		scenario, host := play.What(), play.Host
		if !slices.Contains(scenarios, scenario) && len(scenarios) < boardMost {
			scenarios = append(scenarios, scenario)
		}
		if !slices.Contains(hosts, host) && len(hosts) < boardMost {
			hosts = append(hosts, host)
		}
		v := &runs[i].Verdict
		cell := boardCell{Outcome: v.Outcome, Glyph: model.OutcomeGlyph[v.Outcome], ID: ids[i], Title: string(v.Outcome)}
		if len(v.Findings) > 0 {
			cell.Title = model.Gravest(v.Findings).Title
		}
		key := [2]string{host, scenario}
		if old, ok := cells[key]; !ok || model.Gravity(old.Outcome) < model.Gravity(cell.Outcome) {
			cells[key] = cell
		}
	}
	if len(scenarios) < 2 || len(hosts) < 2 {
		return
	}
	s.Scenarios = scenarios
	for _, h := range hosts {
		row := hostRow{Host: h}
		for _, sc := range scenarios {
			row.Cells = append(row.Cells, cells[[2]string{h, sc}])
		}
		s.Hosts = append(s.Hosts, row)
	}
}

// reach is there where a scenario has a level.
func (s *suiteView) reach(runs []verdict.Judged) {
	all := model.Reached(runs, "")
	s.Levels = slices.DeleteFunc(record.Levels(), func(l record.Level) bool { return all[l].Played == 0 })
	if len(s.Levels) == 0 {
		return
	}
	hosts, _ := lists.GroupBy(runs, func(j verdict.Judged) string { return compare.PlayOf(&j).Host })
	for _, host := range hosts[:min(len(hosts), boardMost)] {
		reached, row := model.Reached(runs, host), reachRow{Host: host}
		for _, l := range s.Levels {
			cell := reachCell{}
			if o := reached[l]; o.Played > 0 {
				cell = reachCell{Class: verdict.Leak, Of: o.String()}
				if o.Clean == o.Played {
					cell.Class = verdict.Clean
				}
			}
			row.Cells = append(row.Cells, cell)
		}
		s.Reach = append(s.Reach, row)
	}
}

func (s *suiteView) causes(runs []verdict.Judged, ids map[int]string, base *baseline.Lookup) {
	index := map[string]*causeRow{}
	var all []*causeRow
	for i := range runs {
		play := compare.PlayOf(&runs[i])
		for k := range runs[i].Verdict.Findings {
			f := &runs[i].Verdict.Findings[k]
			row := index[f.Fingerprint]
			if row == nil {
				row = &causeRow{Finding: plain(f), Class: "bad"}
				row.Count = 0
				if !f.IsError() {
					row.Class = "warn"
				}
				index[f.Fingerprint] = row
				all = append(all, row)
			}
			row.Count += f.Count
			row.in = append(row.in, i)
			if st := base.Status(play, f); row.Status == nil || st != nil && st.Decision.Fails() {
				row.Status = st
			}
			if len(row.Runs) < causeRuns {
				row.Runs = append(row.Runs, causeRun{play.String(), ids[i]})
			} else {
				row.MoreRuns++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *causeRow) int { return cmp.Compare(len(b.Runs)+b.MoreRuns, len(a.Runs)+a.MoreRuns) })
	head, more := words.FirstOf(all, causesMost)
	s.Fixes, s.MoreCause = byFix(head), more
}

// byFix groups findings by the kind, errors first, then what was found in the most runs.
func byFix(causes []*causeRow) []*fixRow {
	_, groups := lists.GroupBy(causes, func(c *causeRow) string { return c.Kind })
	var fixes []*fixRow
	for kind, group := range groups {
		f := &fixRow{
			Class: "warn", Law: group[0].Law, Kind: kind, Title: law.KindOf(kind).Title, Fix: group[0].Fix, About: model.AboutKind(kind),
			Count: text.Count(len(group), "finding"), Causes: group,
		}
		touched, failed := map[int]bool{}, map[int]bool{} // a run may have several findings of a kind
		for _, c := range group {
			for _, run := range c.in {
				touched[run] = true
				if c.Class == "bad" {
					failed[run] = true
				}
			}
			if c.Class == "bad" {
				f.Class, f.Law, f.Fix = "bad", c.Law, c.Fix
			}
		}
		f.touched, f.weight = len(touched), len(failed)
		f.Runs = text.Count(f.touched, "run")
		fixes = append(fixes, f)
	}
	slices.SortFunc(fixes, func(a, b *fixRow) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.touched, a.touched), cmp.Compare(a.Kind, b.Kind))
	})
	return fixes
}
