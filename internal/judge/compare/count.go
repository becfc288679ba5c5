package compare

import "github.com/leakbench/leakbench/internal/judge/verdict"

// Count is a number that is exact in each run. A side on which the runs differ
// has a range.
type Count struct {
	Play
	Name       string
	Base, Head Range
}

// Range is the least and the greatest of some runs.
type Range struct {
	Least int `json:"least"`
	Most  int `json:"most"`
}

// Delta is how much more there is, at the most.
func (c Count) Delta() int { return c.Head.Most - c.Base.Most }

// counted are the counts of a verdict.
var counted = []struct {
	name string
	of   func(*verdict.Verdict) int
}{
	{"servers launched", func(v *verdict.Verdict) int { return v.Spawned }},
	{"left at the end", func(v *verdict.Verdict) int { return v.Left }},
	{"processes that break a law", func(v *verdict.Verdict) (n int) {
		for i := range v.Findings {
			n += v.Findings[i].Count
		}
		return n
	}},
}

// counts are those that differ between the sides.
func (g *pair) counts() []Count {
	var out []Count
	for _, c := range counted {
		row := Count{Play: g.Play, Name: c.name, Base: rangeOf(g.base, c.of), Head: rangeOf(g.head, c.of)}
		if row.Base != row.Head {
			out = append(out, row)
		}
	}
	return out
}

func rangeOf(runs []*verdict.Judged, of func(*verdict.Verdict) int) Range {
	var r Range
	for i, j := range runs {
		v := of(&j.Verdict)
		if i == 0 {
			r = Range{v, v}
		}
		r.Least, r.Most = min(r.Least, v), max(r.Most, v)
	}
	return r
}
