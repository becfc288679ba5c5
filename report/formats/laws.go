package formats

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// lawIDs are the laws that the runs were judged by, in the order of the first.
func lawIDs(g *model.Repeats) []string {
	var ids []string
	for _, j := range g.Runs {
		for _, l := range j.Verdict.Laws {
			if !slices.Contains(ids, l.Law) {
				ids = append(ids, l.Law)
			}
		}
	}
	return ids
}

// The states of a law over the repeats of a play. A law that some runs break
// and others keep is flaky: seen, so no pass, but not in each run.
const (
	stateKept      = "kept"
	stateBroken    = "broken"
	stateFlaky     = "flaky"
	stateWarning   = "warning" // broken, and the scenario says that this is no error
	stateNotJudged = "not judged"
)

// lawState is a law over all repeats of a play.
type lawState struct {
	id, name, state string
	broken, judged  int
	result          verdict.LawResult // of a run that shows the state
	findings        []*verdict.Finding
}

func lawOver(g *model.Repeats, id string) lawState {
	s := lawState{id: id, state: stateNotJudged}
	errors := 0
	for _, j := range g.Runs {
		for _, l := range j.Verdict.Laws {
			if l.Law != id {
				continue
			}
			if s.name == "" || l.Status == verdict.LawBroken || l.Status == verdict.LawKept && s.result.Status == verdict.LawNotJudged {
				s.name, s.result = l.Name, l
			}
			if l.Status != verdict.LawNotJudged {
				s.judged++
			}
			if l.Status == verdict.LawBroken {
				s.broken++
			}
		}
		for i := range j.Verdict.Findings {
			if f := &j.Verdict.Findings[i]; f.Law == id {
				s.findings = append(s.findings, f)
				if f.IsError() {
					errors++
				}
			}
		}
	}
	switch {
	case s.broken > 0 && errors == 0:
		s.state = stateWarning
	case s.broken > 0 && s.broken < s.judged:
		s.state = stateFlaky
	case s.broken > 0:
		s.state = stateBroken
	case s.judged > 0:
		s.state = stateKept
	}
	return s
}

// told is what the findings of a law say, each in a few lines.
func (s *lawState) told() string {
	text := ""
	for _, f := range s.findings {
		text += fmt.Sprintf("%s (%s, ×%d, fingerprint %s)\nexpected: %s\nfound:    %s\n", f.Title, f.Kind, f.Count, f.Fingerprint,
			f.Expected, f.Found)
		head, more := words.FirstOf(f.Values, model.ValuesShown)
		for _, v := range head {
			text += "  " + v + "\n"
		}
		if more > 0 {
			text += fmt.Sprintf("  and %d more\n", more)
		}
		text += "why: " + f.Why + "\nfix: " + f.Fix + "\n"
	}
	return text
}
