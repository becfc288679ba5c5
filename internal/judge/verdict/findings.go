package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// description is what the words of a finding need.
type description struct {
	kind   string // whose words are taken
	values law.Values
	head   string // of Why, before the narrative of the first breach
	cause  law.Cause
}

// PrintOf is the fingerprint that the finding would have if its server were called otherwise. One that is about no server keeps its own.
func (f *Finding) PrintOf(label string) string {
	if f.Label == "" {
		return f.Fingerprint
	}
	return breach.Print(f.Law, f.Kind, label, f.cause)
}

// aliases are the fingerprints that earlier versions gave to breaches.
func aliases(group []*breach.Breach, print string) (all []string) {
	for _, b := range group {
		old := breach.Print(b.Law, b.Was.Kind, b.Label, b.Was.Cause)
		if b.Was.Cause != "" && old != print && !slices.Contains(all, old) {
			all = append(all, old)
		}
	}
	slices.Sort(all)
	return all
}

// findings groups the breaches, in the order of their seriousness.
func (f *casefile) findings() []Finding {
	counting := slices.DeleteFunc(slices.Clone(f.Breaches), func(b *breach.Breach) bool { return f.severity(b.Law) == record.SeverityOff })
	prints, groups := lists.GroupBy(counting, (*breach.Breach).Print)
	all := []Finding{}
	for _, print := range prints {
		all = append(all, f.finding(print, groups[print]))
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(
			cmp.Compare(a.Severity, b.Severity), // error, warning
			lawOrder(a.Law, b.Law), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Label, b.Label), cmp.Compare(a.Fingerprint, b.Fingerprint),
		)
	})
	return all
}

func (f *casefile) finding(print string, group []*breach.Breach) Finding {
	first := group[0]
	kind, d := fullKind(first), f.describe(group)
	own := law.KindOf(d.kind)
	words := own.Wording(first.Law, first.Cause)
	os := f.Header.System.OS
	say := func(template string) string { return law.Fill(template, len(group), d.values) }
	out := Finding{
		Law: first.Law, Kind: first.Kind, Label: first.Label, Severity: f.severity(first.Law), Fingerprint: print, cause: first.Cause,
		Title: say(words.Title), Expected: say(words.Expected), Found: say(words.Found),
		Why: prose.Paragraph(d.head, first.Narrative, alike(group)),
		Fix: prose.Paragraph(d.cause.FixOn(os), kind.FixOn(os)), Reports: law.Cite(kind.Reports),
	}
	if d.cause.Alone && (kind.ID == "deaf" || kind.ID == "not-escalated") {
		out.Fix = d.cause.FixOn(os)
	}
	if first.Fix != "" {
		out.Fix = first.Fix
	}
	out.Severity = cmp.Or(kind.Severity, out.Severity)
	duty := law.DutyOf(f.duty(), first.Law, first.Cause)
	out.Why, out.Fix = prose.Paragraph(out.Why, duty.Why), prose.Paragraph(out.Fix, duty.Fix)
	if first.Checkpoint != nil {
		out.Checkpoint = first.Checkpoint.Name
	}
	out.Aliases = aliases(group, print)
	counted := map[string]bool{}
	for _, b := range group {
		id := serverID(b.Server)
		counted[cmp.Or(id, b.Value)] = true
		if id != "" {
			out.Servers = append(out.Servers, id)
		}
		out.Values, out.Rows = append(out.Values, b.Value), append(out.Rows, b.Row)
		if b.Evidence != nil {
			out.Evidence = append(out.Evidence, *b.Evidence)
		}
		out.At = append(out.At, b.At...)
	}
	out.Firm = !slices.ContainsFunc(group, func(b *breach.Breach) bool { return !f.firm(b) })
	out.Count = len(counted)
	slices.Sort(out.At)
	out.At = slices.Compact(out.At)
	return out
}

// firm says of a breach by the clock that the machine can't have made it: all that the processes of the run had to wait for
// processors, from a while before it on, is at most half of what it is over its limit, or of the time that a cleanup or an answer is to
// have.
func (f *casefile) firm(b *breach.Breach) bool {
	const before = int64(time.Second)
	margin := b.Took.Over()
	from, to := b.Took.From, int64(0)
	if b.Law == "L9" && b.Server != nil {
		margin, from = int64(f.Header.Limits.Grace), f.firstAsked(b.Server)
	}
	for _, t := range b.At {
		from, to = min(from, t), max(to, t)
	}
	pushed, known := f.Pushed(max(from, 0)-before, to)
	return known && margin > 0 && 2*pushed <= margin
}

// duty is what the host says that it is. One behind the bench's own clients is a gateway.
func (f *casefile) duty() record.Duty {
	if hello := f.Hello(); hello != nil && hello.Kind != "" {
		return hello.Kind
	}
	switch f.Header.Host.Kind {
	case record.KindGateway:
		return record.DutyGateway
	case record.KindCommand:
		return law.Untold
	}
	return ""
}

// describe collects what the words of a finding need: what all breaches have, and what the law adds.
func (f *casefile) describe(group []*breach.Breach) *description {
	b := group[0]
	d := &description{kind: b.Kind, values: law.Values{
		"label": prose.Plain(b.Label), "comm": prose.Plain(b.Comm), "name": prose.Plain(b.Label),
		"cause": cmp.Or(b.When, law.CauseOf(b.Cause).Text), "value": b.Value, "settle": prose.Span(f.Header.Limits.Settle),
		"fast": prose.Span(f.Header.Limits.Fast),
	}}
	if b.Server == nil {
		d.values["name"] = prose.Plain(b.Comm)
	}
	if b.Checkpoint != nil {
		d.values["checkpoint"] = strconv.Quote(prose.Plain(b.Checkpoint.Name))
	}
	if add := ruleOf(b.Law).describe; add != nil && b.Cause != record.CauseWatched {
		add(f, group, d)
	}
	return d
}

func serverID(s *history.Server) string {
	if s == nil {
		return ""
	}
	return s.ID
}

// alike says for how many of a group the narrative of the first one is told.
func alike(group []*breach.Breach) string {
	others := len(group) - 1
	if others == 0 {
		return ""
	}
	same := 0
	for _, b := range group[1:] {
		if b.Like == group[0].Like {
			same++
		}
	}
	switch {
	case same == others && others == 1:
		return "The other one looks the same."
	case same == others:
		return fmt.Sprintf("The other %d look the same.", others)
	case same == 0:
		return fmt.Sprintf("The other %d %s; see the evidence on each.", others, text.Choose(others, "differs", "differ"))
	}
	return fmt.Sprintf("%d of the other %d look the same.", same, others)
}
