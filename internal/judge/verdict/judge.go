// Package verdict says what a run shows: which laws the host kept, which it broke, and why, or that the run does not allow a
// verdict. It is a function of the run alone: the same file gives the same verdict on any machine, years later.
//
// Each law has a file of its own. A law asks the facts (package facts) and reports breaches, one for each process or measurement;
// breaches with one cause become one finding. What they account for is told to package doubts, which says why a run can't be clean.
package verdict

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/doubts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/judge/server"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// rule is a law with how it is judged and how its findings are described.
type rule struct {
	law.Law
	judge    func(*casefile) LawResult                       // adds its breaches
	describe func(*casefile, []*breach.Breach, *description) // adds what the words of the law's findings need; nil: nothing
}

// rules are in the order of the laws. It matters in one place: L9 and L10 ask which sessions L3 found harmed.
var rules = []rule{
	{law.Of("L1"), judgeFlat, describeFlat},
	{law.Of("L2"), judgeLeft, describeLeft},
	{law.Of("L3"), judgeCollateral, nil},
	{law.Of("L4"), judgeReaped, nil},
	{law.Of("L5"), judgeHandles, nil},
	{law.Of("L6"), judgeMemory, describeMemory},
	{law.Of("L7"), judgeSpawning, describeSpawning},
	{law.Of("L8"), judgeShutdown, describeShutdown},
	{law.Of("L9"), judgeGraceful, describeGraceful},
	{law.Of("L10"), judgeRecovers, nil},
	{law.Of("L11"), judgeShared, nil},
}

// ruleOf is the rule of a law.
func ruleOf(id string) *rule {
	if i := slices.IndexFunc(serverRules, func(r rule) bool { return r.ID == id }); i >= 0 {
		return &serverRules[i]
	}
	return &rules[slices.IndexFunc(rules, func(r rule) bool { return r.ID == id })]
}

// Judge judges a run. It never fails: a run that shows too little is Inconclusive, with the doubts that say why.
func Judge(run *record.Run) Verdict {
	v, _ := judge(run)
	return v
}

// judge also returns the history of the run, so that nobody has to fold its events again.
func judge(run *record.Run) (Verdict, *history.History) {
	if run == nil {
		run = &record.Run{Truncated: "there is no run"}
	}
	f := open(run)
	switch run.Header.Host.Kind {
	case record.KindAttached:
		return judgeAttached(f, run), f.History
	case record.KindServer:
		return judgeServer(f), f.History
	}
	return judgeHost(f), f.History
}

// judgeHost judges a run whose subject is a host that the bench has started.
func judgeHost(f *casefile) Verdict {
	v := Verdict{Findings: []Finding{}, Spawned: len(f.servers), PeakLive: f.PeakLive(), Left: f.Left()}
	for i := range rules {
		v.Laws = append(v.Laws, f.judgeLaw(&rules[i]))
	}
	v.Doubts = doubts.Of(f.Facts, f.tell(v.Laws))
	v.Findings = f.findings()
	v.Soak, v.Outcome = f.soak(), outcome(v)
	return v
}

func (f *casefile) judgeLaw(law *rule) LawResult {
	r := law.judge(f)
	switch {
	case f.severity(law.ID) == record.SeverityOff:
		r = LawResult{Status: LawNotJudged, Reason: "this scenario does not ask for it"}
	case r.Reason != "":
		r.Status = LawNotJudged
	case f.Broke(law.ID):
		r.Status = LawBroken
	case f.untested() != "":
		r = LawResult{Status: LawNotJudged, Reason: f.untested()}
	case f.unshown(law.ID) != "":
		r.Status, r.Reason = LawNotJudged, f.unshown(law.ID)
	default:
		r.Status = LawKept
	}
	r.Law, r.Name = law.ID, law.Name
	return r
}

// untested says why no law can be called kept in this run, or "".
func (f *casefile) untested() string {
	switch {
	case f.Truncated != "" || f.End() == nil:
		return "the file is not complete"
	case f.End().Reason != record.EndDone:
		return "the run was cut short"
	case f.Nowhere():
		return "the host can't be put where the scenario wants it"
	case len(f.servers) == 0:
		return "the host launched no server"
	}
	return ""
}

func outcome(v Verdict) Outcome {
	switch {
	case slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.IsError() }):
		return Leak
	case len(v.Doubts) > 0:
		return Inconclusive
	}
	return Clean
}

// severity is how a breach of a law counts in this scenario.
func (f *casefile) severity(law string) record.Severity {
	switch s := f.Header.Limits.Severity[law]; s {
	case record.SeverityError, record.SeverityWarning, record.SeverityOff:
		return s
	}
	return ruleOf(law).Severity
}

// lawOrder sorts L2 before L10.
func lawOrder(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// serverRules are the laws for a server under test. Package server judges them.
var serverRules = func() (all []rule) {
	for _, l := range law.Servers() {
		all = append(all, rule{Law: l})
	}
	return all
}()

// judgeServer judges a run whose subject is a server, and whose client the bench was.
func judgeServer(f *casefile) Verdict {
	seen := server.Judge(f.Book)
	v := Verdict{Spawned: seen.Seen, PeakLive: seen.Peak, Left: seen.Remains}
	for i := range serverRules {
		v.Laws = append(v.Laws, f.serverLaw(serverRules[i].Law, &seen))
	}
	told := f.tell(v.Laws)
	if slices.ContainsFunc([]string{"S1", "S2", "S3", "S4"}, f.Broke) { // which is why the others could not be judged
		told.Unjudged = nil
	}
	v.Doubts = doubts.OfServer(f.Facts, told)
	v.Findings = f.findings()
	v.Outcome = outcome(v)
	return v
}

func (f *casefile) serverLaw(l law.Law, seen *server.Result) LawResult {
	unjudged := breach.Why(seen.Unjudged, l.ID)
	r := LawResult{
		Law: l.ID, Name: l.Name, Status: LawKept, Found: seen.Found[l.ID], Values: []string{},
		Expected: law.Fill(l.Expected, 1, law.Values{"settle": prose.Span(f.Header.Limits.Settle)}),
	}
	switch {
	case f.Broke(l.ID):
		r.Status = LawBroken
		for _, b := range f.Breaches {
			if b.Law == l.ID {
				r.Values = append(r.Values, b.Value)
			}
		}
		r.Found = r.Values[0]
	case !slices.Contains(f.Header.Plan.Laws, l.ID):
		r.Status, r.Reason = LawNotJudged, "this check is not about it"
	case f.Truncated != "" || f.End() == nil:
		r.Status, r.Reason = LawNotJudged, "the file is not complete"
	case f.End().Reason != record.EndDone:
		r.Status, r.Reason = LawNotJudged, "the run was cut short"
	case unjudged != "":
		r.Status, r.Reason = LawNotJudged, unjudged
	case f.IsUnsure(l.ID):
		r.Status, r.Reason = LawNotJudged, "the machine was starved when it mattered"
	}
	if r.Status == LawNotJudged {
		r.Found = ""
	}
	return r
}
