package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/verdict"
)

// suiteView is what several runs are together.
type suiteView struct {
	Scenarios []string `max:"80"`
	Hosts     []hostRow
	Causes    []causeRow
	MoreCause int
}

// hostRow is a host's row of the scoreboard: a cell for each scenario.
type hostRow struct {
	Host  string `max:"80"`
	Cells []boardCell
}

type boardCell struct {
	Outcome, Glyph string // "" where it was not played
	ID             string
	Title          string `max:"200"`
}

// causeRow is a finding with all runs that show it.
type causeRow struct {
	Fingerprint string `max:"80"`
	Law         string `max:"20"`
	Kind        string `max:"80"`
	Title       string `max:"200"`
	Class       string
	Runs        []causeRun
	MoreRuns    int
	Count       int
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

func newSuite(runs []verdict.Judged, ids map[int]string) *suiteView {
	s := &suiteView{}
	s.board(runs, ids)
	s.causes(runs, ids)
	return s
}

// board is there where several hosts played several scenarios. Of runs of the
// same it shows the worst.
func (s *suiteView) board(runs []verdict.Judged, ids map[int]string) {
	var scenarios, hosts []string
	cells := map[[2]string]boardCell{}
	for i := range runs {
		scenario, host := playOf(&runs[i])
		if !slices.Contains(scenarios, scenario) && len(scenarios) < boardMost {
			scenarios = append(scenarios, scenario)
		}
		if !slices.Contains(hosts, host) && len(hosts) < boardMost {
			hosts = append(hosts, host)
		}
		v := &runs[i].Verdict
		cell := boardCell{Outcome: string(v.Outcome), Glyph: outcomeGlyph[v.Outcome], ID: ids[i], Title: string(v.Outcome)}
		if len(v.Findings) > 0 {
			cell.Title = gravest(v.Findings).Title
		}
		key := [2]string{host, scenario}
		if old, ok := cells[key]; !ok || gravity(old.Outcome) < gravity(cell.Outcome) {
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

func gravity(outcome string) int {
	return slices.Index([]string{string(verdict.Clean), string(verdict.Inconclusive), string(verdict.Leak)}, outcome)
}

func (s *suiteView) causes(runs []verdict.Judged, ids map[int]string) {
	index := map[string]*causeRow{}
	var all []*causeRow
	for i := range runs {
		scenario, host := playOf(&runs[i])
		for k := range runs[i].Verdict.Findings {
			f := &runs[i].Verdict.Findings[k]
			row := index[f.Fingerprint]
			if row == nil {
				row = &causeRow{Fingerprint: f.Fingerprint, Law: f.Law, Kind: f.Kind, Title: f.Title, Class: "bad"}
				if !isError(f) {
					row.Class = "warn"
				}
				index[f.Fingerprint] = row
				all = append(all, row)
			}
			row.Count += f.Count
			if len(row.Runs) < causeRuns {
				row.Runs = append(row.Runs, causeRun{scenario + " on " + host, ids[i]})
			} else {
				row.MoreRuns++
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *causeRow) int { return cmp.Compare(len(b.Runs)+b.MoreRuns, len(a.Runs)+a.MoreRuns) })
	head, more := firstOf(all, causesMost)
	for _, row := range head {
		s.Causes = append(s.Causes, *row)
	}
	s.MoreCause = more
}

// compareView sets runs against earlier ones of the same.
type compareView struct {
	Headline string
	Rows     []compareRow
	Alone    []string `max:"200"` // plays that only one side has
}

type compareRow struct {
	Name       string `max:"160"`
	Base, Head compareSide
	Findings   []compareFinding
	Numbers    []compareNumber
}

type compareSide struct {
	Outcome, Glyph string
	Host           string `max:"80"`
	Runs           int
}

type compareFinding struct {
	State, Class, Glyph string
	Law                 string `max:"20"`
	Kind                string `max:"80"`
	Title               string `max:"200"`
	Fingerprint         string `max:"80"`
	Base, Head          int
}

type compareNumber struct {
	Name, Base, Head, Delta string
}

// newCompare sets head against base. Where each side has one host, two hosts
// are compared; otherwise each host with itself.
func newCompare(base, head []verdict.Judged) *compareView {
	v := &compareView{}
	byHost := !oneHost(base) || !oneHost(head)
	old, now := playKeys(base, byHost), playKeys(head, byHost)
	count := map[string]int{}
	for _, g := range now.order {
		before := old.groups[g]
		if before == nil {
			v.Alone = append(v.Alone, g+" was not played in the base")
			continue
		}
		row := newCompareRow(g, before, now.groups[g])
		for _, f := range row.Findings {
			count[f.State]++
		}
		v.Rows = append(v.Rows, row)
	}
	for _, g := range old.order {
		if now.groups[g] == nil {
			v.Alone = append(v.Alone, g+" was played in the base only")
		}
	}
	v.Headline = fmt.Sprintf("Against the base: %d new, %d known, %d fixed", count["new"], count["known"], count["fixed"])
	return v
}

type plays struct {
	order  []string
	groups map[string]*repeats
}

func playKeys(runs []verdict.Judged, byHost bool) plays {
	p := plays{groups: map[string]*repeats{}}
	for _, g := range byPlay(runs) {
		key := g.scenario
		if byHost {
			key += " on " + g.host
		}
		if p.groups[key] == nil {
			p.order = append(p.order, key)
			p.groups[key] = g
		}
	}
	return p
}

func oneHost(runs []verdict.Judged) bool {
	first := ""
	for i := range runs {
		_, host := playOf(&runs[i])
		if i == 0 {
			first = host
		}
		if host != first {
			return false
		}
	}
	return true
}

func newCompareRow(name string, base, head *repeats) compareRow {
	row := compareRow{Name: name, Base: base.side(), Head: head.side()}
	old, now := base.found(), head.found()
	for _, f := range now.order {
		c := compareFinding{State: "new", Class: "bad", Glyph: "✗", Law: f.Law, Kind: f.Kind, Title: f.Title, Fingerprint: f.Fingerprint, Head: now.count[f.Fingerprint]}
		if n, ok := old.count[f.Fingerprint]; ok {
			c.State, c.Class, c.Glyph, c.Base = "known", "warn", "!", n
		}
		row.Findings = append(row.Findings, c)
	}
	for _, f := range old.order {
		if _, ok := now.count[f.Fingerprint]; !ok {
			row.Findings = append(row.Findings, compareFinding{State: "fixed", Class: "good", Glyph: "✓", Law: f.Law, Kind: f.Kind, Title: f.Title, Fingerprint: f.Fingerprint, Base: old.count[f.Fingerprint]})
		}
	}
	for _, n := range []struct {
		name string
		of   func(*verdict.Judged) int
	}{
		{"launched", func(j *verdict.Judged) int { return j.Verdict.Spawned }},
		{"alive at most", func(j *verdict.Judged) int { return j.Verdict.PeakLive }},
		{"left", func(j *verdict.Judged) int { return j.Verdict.Left }},
		{"doubts", func(j *verdict.Judged) int { return len(j.Verdict.Doubts) }},
	} {
		a, b := base.most(n.of), head.most(n.of)
		row.Numbers = append(row.Numbers, compareNumber{n.name, itoa(a), itoa(b), fmt.Sprintf("%+d", b-a)})
	}
	return row
}

func (g *repeats) side() compareSide {
	worstOf := verdict.Clean
	for _, j := range g.runs {
		if gravity(string(j.Verdict.Outcome)) > gravity(string(worstOf)) {
			worstOf = j.Verdict.Outcome
		}
	}
	return compareSide{Outcome: string(worstOf), Glyph: outcomeGlyph[worstOf], Host: g.host, Runs: len(g.runs)}
}

// most is the greatest of a number over the repeats.
func (g *repeats) most(of func(*verdict.Judged) int) (n int) {
	for _, j := range g.runs {
		n = max(n, of(j))
	}
	return n
}

type foundOf struct {
	order []*verdict.Finding
	count map[string]int // by fingerprint: the most in one run
}

func (g *repeats) found() foundOf {
	out := foundOf{count: map[string]int{}}
	for _, j := range g.runs {
		for i := range j.Verdict.Findings {
			f := &j.Verdict.Findings[i]
			if _, ok := out.count[f.Fingerprint]; !ok {
				out.order = append(out.order, f)
			}
			out.count[f.Fingerprint] = max(out.count[f.Fingerprint], f.Count)
		}
	}
	return out
}
