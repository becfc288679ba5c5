package verdict

import (
	"slices"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/doubts"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// notFromOutside says of some laws why a watch says nothing of them.
var notFromOutside = map[string]string{
	"L2":  "the host has not ended while it was watched",
	"L3":  "who ended a process can't be seen from outside",
	"L6":  "how much memory a host needs for its work can't be seen from outside: its growth is shown",
	"L7":  "how many launches are right for a host can't be seen from outside",
	"L8":  "nobody asked the host to end anything",
	"L9":  "what a host does before a process ends can't be seen from outside",
	"L10": "nobody asked the host to open anything",
	"L11": "which sessions have a server can't be seen from outside",
}

// seenFromOutside are the laws that a watch can show to be kept.
var seenFromOutside = []string{"L1", "L4", "L5"}

// judgeAttached judges a watch of a host that was running already. It is clean where all that can be seen from outside was seen.
func judgeAttached(f *casefile, run *record.Run) Verdict {
	view := attach.Of(run)
	f.Breaches = view.Breaches
	v := Verdict{Findings: []Finding{}, Spawned: len(view.Units), PeakLive: len(view.Units), Watched: view}
	for i := range rules {
		v.Laws = append(v.Laws, f.attachedLaw(&rules[i], view))
	}
	v.Doubts = slices.DeleteFunc(doubts.Of(f.Facts, doubts.Told{
		Harmed: map[facts.SessionKey]int64{}, Blamed: map[int]bool{}, Explained: map[*facts.Checkpoint]bool{},
	}), ofPlay)
	for _, r := range v.Laws {
		follows := slices.ContainsFunc(view.Open, func(u breach.Unjudged) bool { return u.Law == r.Law && u.With != "" })
		seen := slices.Contains(seenFromOutside, r.Law) || r.Law == "L2" && view.Host.Exited
		if r.Status == LawNotJudged && !follows && seen && f.severity(r.Law) == record.SeverityError {
			v.Doubts = append(v.Doubts, record.Doubt{Code: record.DoubtNotSeen, Text: r.Law + " " + r.Name + ": " + r.Reason})
		}
	}
	v.Findings = f.findings()
	v.Outcome = outcome(v)
	return v
}

// ofPlay says that a doubt is about what a run that is played must have, and a watch has not.
func ofPlay(d record.Doubt) bool {
	return !slices.Contains([]record.DoubtCode{
		record.DoubtTruncated, record.DoubtMalformed, record.DoubtInterrupted, record.DoubtBenchFailed, record.DoubtTooLong,
	}, d.Code)
}

func (f *casefile) attachedLaw(rule *rule, view *attach.View) LawResult {
	r := LawResult{Law: rule.ID, Name: rule.Name}
	of := slices.DeleteFunc(slices.Clone(f.Breaches), func(b *breach.Breach) bool { return b.Law != rule.ID })
	open := breach.Why(view.Open, rule.ID)
	switch {
	case len(of) > 0:
		r.Status, r.Expected = LawBroken, law.Of(rule.ID).Says
		r.Values = lists.Map(of, func(b *breach.Breach) string { return b.Value })
		r.Found = text.Count(len(of), "breach")
	case f.untestedWatch() != "":
		r.Status, r.Reason = LawNotJudged, f.untestedWatch()
	case open != "":
		r.Status, r.Reason = LawNotJudged, open
	case rule.ID == "L2" && view.Host.Exited:
		r.Status, r.Found = LawKept, "nothing left"
	case rule.ID == "L5" && view.TooShort:
		r.Status, r.Reason = LawNotJudged, "the watch is too short to tell whether the host's descriptors grow"
	case rule.ID == "L5" && view.WithServers:
		r.Status, r.Found = LawKept, "the descriptors that came lead to processes below the host"
	case slices.Contains(seenFromOutside, rule.ID):
		r.Status, r.Found = LawKept, "nothing that breaks it in "+prose.Span(view.To-view.From)
	default:
		r.Status, r.Reason = LawNotJudged, notFromOutside[rule.ID]
	}
	return r
}

func (f *casefile) untestedWatch() string {
	switch {
	case f.Truncated != "" || f.End() == nil:
		return "the file is not complete"
	case f.End().Reason != record.EndDone:
		return "the watch was cut short"
	}
	return ""
}
