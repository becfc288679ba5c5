package doubts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// doubtPurpose says which laws that the scenario is about were not judged, and which of its steps were not played: a
// run without them shows nothing of what it was made for.
func (f *search) doubtPurpose() {
	plan := f.Header.Plan
	for _, r := range f.Unjudged {
		// A host that is not driven gets one server, and nobody can ask it to end that while it lives.
		// And of a scenario that is played once for each server, another part may show what this one does not.
		if (f.Header.Host.SessionsUnknown() || f.Header.Scenario.Part != "") && (r.Law == "L1" || r.Law == "L4") {
			continue
		}
		if r.Law == "L4" && !f.Zombies() { // there is nothing to be doubted
			continue
		}
		if slices.Contains(plan.Laws, r.Law) {
			f.doubt(record.DoubtNotJudged, "%s (%s), which this scenario is about, was not judged: %s", r.Law, law.Of(r.Law).Name, r.Reason)
		}
	}
	played, why := 0, []string{}
	for _, s := range f.Steps() {
		switch {
		case !s.Defining:
		case !s.Skipped, s.Patience > 0:
			played++
		case !slices.Contains(why, prose.Quote(s.Error)):
			why = append(why, prose.Quote(s.Error))
		}
	}
	if missing := plan.Defining - played; missing > 0 {
		if len(why) == 0 {
			why = []string{"the run did not reach it"}
		}
		f.doubt(record.DoubtNotPlayed, "%s that this scenario is about %s not run: %s",
			text.Count(missing, "step"), text.Choose(missing, "was", "were"), strings.Join(why, "; "))
	}
}

// doubtStarved says what took too long on a machine that was starved, as far as the file tells how starved.
func (f *search) doubtStarved() {
	for _, e := range f.Starved {
		why := "It is not known how starved the machine was"
		if share, known := f.StarvedBetween(e.Took.From, e.Took.To); known {
			why = fmt.Sprintf("The machine was starved: leakbench waited for a processor %d %% of the time in which it wanted one", int(100*share))
		}
		if waited, known := f.Waited(e.Took.From, e.Took.To); known {
			why += ", and the processes of the run had to wait " + prose.Span(waited)
		}
		f.doubt(record.DoubtStarved, "%s (%s) cannot be judged by the clock: %s. %s", e.Law, law.Of(e.Law).Name, e.Value, why)
	}
}
