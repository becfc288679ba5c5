package verdict

import (
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// doubtPurpose says which laws that the scenario is about were not judged, and which of its steps were not played: a
// run without them shows nothing of what it was made for.
func (f *casefile) doubtPurpose(laws []LawResult) {
	plan := f.Header.Plan
	for _, r := range laws {
		// A host that is not driven gets one server, and nobody can ask it to end that while it lives.
		// And of a scenario that is played once for each server, another part may show what this one does not.
		if (f.Header.Host.SessionsUnknown() || f.Header.Scenario.Part != "") && (r.Law == "L1" || r.Law == "L4") {
			continue
		}
		if slices.Contains(plan.Laws, r.Law) && r.Status == LawNotJudged {
			f.doubt(record.DoubtNotJudged, "%s (%s), which this scenario is about, was not judged: %s", r.Law, r.Name, r.Reason)
		}
	}
	played, why := 0, []string{}
	for _, s := range f.Steps() {
		switch {
		case !s.Defining:
		case !s.Skipped:
			played++
		case !slices.Contains(why, prose.Quote(s.Error)):
			why = append(why, prose.Quote(s.Error))
		}
	}
	if missing := plan.Defining - played; missing > 0 {
		if len(why) == 0 {
			why = []string{"the play did not come to it"}
		}
		f.doubt(record.DoubtNotPlayed, "%s that this scenario is about %s not played: %s", text.Count(missing, "step"), text.Choose(missing, "was", "were"), strings.Join(why, "; "))
	}
}

// onlyOnEvidence says that a law is kept only where something shows it.
func (f *casefile) onlyOnEvidence() bool { return f.Header.Plan.Evidence }

// hadToGo says that a server had to be gone by a checkpoint while the host
// lived: without one, that nothing was left shows nothing.
func (f *casefile) hadToGo() bool {
	return slices.ContainsFunc(f.checkpoints, func(cp *checkpoint) bool {
		if cp.HostGone || cp.Settled == nil || !f.hostAlive(cp.SettledAt) {
			return false
		}
		host := f.HostAt(cp.SettledAt)
		return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
			return s.Born <= cp.SettledAt && f.HostOf(s) == host && (!slices.Contains(cp.Alive, s) || slices.Contains(cp.Extra, s))
		})
	})
}

// hadToBeReaped says that a server had died by a checkpoint while the host that launched it lived.
func (f *casefile) hadToBeReaped() bool {
	return slices.ContainsFunc(f.checkpoints, func(cp *checkpoint) bool {
		if cp.Settled == nil || !f.hostAlive(cp.SettledAt) {
			return false
		}
		host := f.HostAt(cp.SettledAt)
		return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
			return s.Died >= 0 && s.Died <= cp.SettledAt && f.HostOf(s) == host
		})
	})
}

// wasLive says that a server that worked was there for a session: without one, that nobody touched any shows nothing.
func (f *casefile) wasLive() bool {
	return slices.ContainsFunc(f.servers, func(s *history.Server) bool {
		return f.Session(s.Label, s.Session) != nil && facts.Established(s, f.Last())
	})
}

// unshown says why a law that was not broken can't be called kept, or "".
func (f *casefile) unshown(law string) string {
	switch {
	case f.broke(law):
		return ""
	case slices.ContainsFunc(f.excused, func(e excuse) bool { return e.law == law }):
		return "the machine was starved when it mattered"
	case (law == "L1" || law == "L4") && f.rested(false) != "":
		return f.rested(false)
	case law == "L2" && f.rested(true) != "":
		return f.rested(true)
	case !f.onlyOnEvidence():
	case law == "L1" && !f.hadToGo():
		return "no server had to be gone while the host lived"
	case law == "L3" && !f.wasLive() && len(f.Bystanders()) == 0:
		return "no server of a session has worked"
	case law == "L4" && !f.hadToBeReaped():
		return "no server died while the host lived"
	}
	return ""
}

// rested says which checkpoint came to rest only because its wait was
// stretched, or "": what was gone by then need not have been in time.
func (f *casefile) rested(hostGone bool) string {
	for _, cp := range f.checkpoints {
		if cp.Quiet && cp.Stretched > 0 && cp.HostGone == hostGone {
			return "checkpoint " + strconv.Quote(prose.Plain(cp.Name)) + " came to rest only because the wait was stretched: what was gone by then need not have been in time"
		}
	}
	return ""
}
