package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// State is what became of a finding between base and head.
type State string

// The states.
const (
	New       State = "new"       // head has it, base has not
	Known     State = "known"     // both have it
	Fixed     State = "fixed"     // base had it, and head was looked at without a doubt
	Undecided State = "undecided" // base had it, and head does not tell
	NotRun    State = "not run"   // base had it, and head did not play it
)

// Seen is in how many runs of how many.
type Seen struct {
	In int `json:"in"`
	Of int `json:"of"`
}

func (s Seen) String() string { return fmt.Sprintf("%d of %d", s.In, s.Of) }

// Finding is a cause that either side has shown.
type Finding struct {
	State State
	Play
	verdict.Finding // of the first head run that has it, else of base
	Base, Head      Seen
	Run             *verdict.Judged // where it is from
	Note            string          // what makes the state less than sure
}

func byState(a, b Finding) int {
	order := []State{New, Undecided, NotRun, Known, Fixed}
	return cmp.Or(
		cmp.Compare(slices.Index(order, a.State), slices.Index(order, b.State)),
		cmp.Compare(a.Severity, b.Severity), a.compare(b.Play),
	)
}

// findings are those of a play, each once.
func (g *group) findings() []Finding {
	byPrint := map[string]*Finding{}
	var order []string
	collect := func(runs []*verdict.Judged, seen func(*Finding) *Seen) {
		for _, j := range runs {
			for _, f := range j.Verdict.Findings {
				if byPrint[f.Fingerprint] == nil {
					byPrint[f.Fingerprint] = &Finding{Play: g.Play, Finding: f, Run: j, Base: Seen{Of: len(g.base)}, Head: Seen{Of: len(g.head)}}
					order = append(order, f.Fingerprint)
				}
				seen(byPrint[f.Fingerprint]).In++
			}
		}
	}
	collect(g.head, func(f *Finding) *Seen { return &f.Head })
	collect(g.base, func(f *Finding) *Seen { return &f.Base })
	var out []Finding
	for _, print := range order {
		f := byPrint[print]
		f.State, f.Note = g.state(f)
		out = append(out, *f)
	}
	return out
}

func (g *group) state(f *Finding) (State, string) {
	doubtful := count(g.base, Conclusive) < len(g.base)
	switch {
	case f.Head.In > 0 && f.Base.In > 0:
		return Known, ""
	case f.Head.In > 0 && len(g.base) == 0:
		return New, "base has no run of this"
	case f.Head.In > 0 && doubtful:
		return New, "base could not be decided in each run, so it may have had it"
	case f.Head.In > 0:
		return New, ""
	case len(g.head) == 0:
		return NotRun, ""
	case count(g.head, Conclusive) < len(g.head):
		return Undecided, "not seen, but head could not be decided in each run"
	case f.Base.In < f.Base.Of:
		return Fixed, "base did not show it in each run either"
	}
	return Fixed, ""
}

// Conclusive says that what a run does not show was not there.
func Conclusive(j *verdict.Judged) bool {
	return j.Run != nil && len(j.Verdict.Doubts) == 0 && j.Verdict.Outcome != verdict.Inconclusive
}

func count[T any](all []T, ok func(T) bool) (n int) {
	for _, v := range all {
		if ok(v) {
			n++
		}
	}
	return n
}

func machine(h *record.Header) string {
	return fmt.Sprintf("%s/%s with %d CPUs", h.System.OS, h.System.Arch, h.System.CPUs)
}
