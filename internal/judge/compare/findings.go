package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/group"
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
func (g *pair) findings() []Finding {
	seen := []Finding{}
	for _, side := range [][]*verdict.Judged{g.head, g.base} {
		for _, j := range side {
			for _, f := range j.Verdict.Findings {
				seen = append(seen, Finding{Play: g.Play, Finding: f, Run: j})
			}
		}
	}
	prints, byPrint := group.By(seen, func(f Finding) string { return f.Fingerprint })
	var out []Finding
	for _, print := range prints {
		f := byPrint[print][0]
		f.Head, f.Base = seenIn(g.head, print), seenIn(g.base, print)
		f.State, f.Note = g.state(&f)
		out = append(out, f)
	}
	return out
}

func seenIn(runs []*verdict.Judged, print string) Seen {
	has := func(j *verdict.Judged) bool {
		return slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool { return f.Fingerprint == print })
	}
	return Seen{In: count(runs, has), Of: len(runs)}
}

func (g *pair) state(f *Finding) (State, string) {
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
