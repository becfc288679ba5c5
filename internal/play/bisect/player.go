package bisect

import (
	"context"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/shelf"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/subject/install"
	"github.com/leakbench/leakbench/scenarios"
)

// Unplayable is the error of a scenario that the host can't be played.
type Unplayable struct{ gate.NotApplicable }

func (u *Unplayable) Error() string { return u.Why }

// Player plays versions of one host.
type Player struct {
	Play      play.Player
	Scenario  *scenarios.Scenario
	Host, Law string // the name of a preset; "": any law
	Install   func(install.Params) error
	Tell      func(Try) // what a version was
	bad       []string  // what the bad end shows, and the good end does not
	decided   int       // versions that were decided
}

// Try installs a version and plays it. The bad end comes first: what it shows is what is looked for.
func (b *Player) Try(ctx context.Context, version string) (Try, error) {
	t := Try{Version: version, Outcome: Skip, Shows: []string{}}
	spec, err := hostfile.At(b.Host, version)
	if err == nil {
		err = b.Install(shelf.Params(spec))
	}
	if ctx.Err() != nil {
		return t, context.Cause(ctx)
	}
	if err != nil {
		t.Shows = append(t.Shows, "can't be installed")
		return b.tell(t), nil
	}
	h := play.Host{ID: spec.Given, Spec: spec}
	parts, not := play.Fit(h, []*scenarios.Scenario{b.Scenario})
	if len(not) > 0 {
		return t, &Unplayable{not[0]}
	}
	decided := true
	for _, part := range parts {
		j, err := b.Play(ctx, play.Cell{Scenario: part, Host: h})
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		if err != nil || j == nil {
			t.Shows = append(t.Shows, "can't be played")
			return b.tell(t), nil
		}
		t.Dir, decided = j.Dir, decided && j.Verdict.Outcome != verdict.Inconclusive
		t.Shows = append(t.Shows, errorsIn(j)...)
	}
	slices.Sort(t.Shows)
	t.Shows = slices.Compact(t.Shows)
	t.Outcome = b.outcome(t.Shows, decided)
	return b.tell(t), nil
}

// outcome holds what a version shows against what is looked for. The first that is decided is the bad end, the second the good one.
func (b *Player) outcome(shows []string, decided bool) Outcome {
	if len(shows) == 0 && !decided {
		return Skip
	}
	b.decided++
	switch b.decided {
	case 1:
		b.bad = slices.DeleteFunc(slices.Clone(shows), func(s string) bool { return b.Law != "" && !strings.HasPrefix(s, b.Law+" ") })
	case 2:
		old := b.bad
		b.bad = slices.DeleteFunc(slices.Clone(old), func(s string) bool { return slices.Contains(shows, s) })
		if len(b.bad) == 0 {
			b.bad = old // both ends show the same
		}
	}
	if slices.ContainsFunc(shows, func(s string) bool { return slices.Contains(b.bad, s) }) {
		return Bad
	}
	return Good
}

// errorsIn are the errors of a run: "L2 escaped".
func errorsIn(j *verdict.Judged) (all []string) {
	for i := range j.Verdict.Findings {
		if f := &j.Verdict.Findings[i]; f.IsError() {
			all = append(all, f.Law+" "+f.Kind)
		}
	}
	return all
}

func (b *Player) tell(t Try) Try {
	if b.Tell != nil {
		b.Tell(t)
	}
	return t
}
