package verdict

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// breach is one process, or one measurement, that breaks a law.
type breach struct {
	law, kind, label string
	cause            record.Cause

	was       record.Cause // what earlier versions took for the cause, with wasKind, or ""
	wasKind   string
	fix       string          // instead of what the kind says
	when      string          // the cause in a title, where the catalogue has no text for it
	server    *history.Server // nil where the ledger knows none
	comm      string          // the process's name, where there is no server
	process   record.Identity // likewise
	value     string          // one line on this very breach
	row       *Row            // the same in parts, where it is about a process
	at        []int64
	since     int64 // when what is over its limit began
	over      int64 // how long that is over it at the least; 0 where that is not told
	cp        *facts.Checkpoint
	step      *history.Step // of L8
	evidence  *record.Evidence
	host      *history.Host // the life that left it; L2
	narrative string        // what is known of it, in sentences
	like      string        // the same for breaches that have the same narrative
}

// saw says what was seen of a process, which breaks a law. session is "" where it does not matter.
func (b *breach) saw(s *history.Server, id record.Identity, comm, session string, seen ...string) {
	b.row = &Row{Name: comm, PID: id.PID, Session: session, Seen: seen}
	if s != nil {
		b.row.Name, b.row.PID = s.ID, s.Birth.PID
	}
	b.value = prose.Process(s, id, comm)
	if session != "" {
		b.value += " of session " + prose.Plain(session)
	}
	b.value += ": " + strings.Join(seen, ", ")
}

// sawServer is saw for a server.
func (b *breach) sawServer(s *history.Server, session string, seen ...string) {
	b.saw(s, s.Birth.Identity, "", session, seen...)
}

// broken takes in a breach.
func (f *casefile) broken(b *breach) { f.breaches = append(f.breaches, b) }

// description is what the words of a finding need.
type description struct {
	kind   string // whose words are taken
	values law.Values
	head   string // of Why, before the narrative of the first breach
	cause  law.Cause
}

// fingerprint is the same in every run that shows the same cause.
func (b *breach) fingerprint() string { return fingerprint(b.law, b.kind, b.label, b.cause) }

func fingerprint(law, kind, label string, cause record.Cause) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{law, kind, label, string(cause)}, "\x00")))
	return hex.EncodeToString(sum[:6])
}

// PrintOf is the fingerprint that the finding would have if its server were called otherwise. One that is about no server keeps its own.
func (f *Finding) PrintOf(label string) string {
	if f.Label == "" {
		return f.Fingerprint
	}
	return fingerprint(f.Law, f.Kind, label, f.cause)
}

// aliases are the fingerprints that earlier versions gave to breaches.
func aliases(group []*breach, print string) (all []string) {
	for _, b := range group {
		old := (&breach{law: b.law, kind: b.wasKind, label: b.label, cause: b.was}).fingerprint()
		if b.was != "" && old != print && !slices.Contains(all, old) {
			all = append(all, old)
		}
	}
	slices.Sort(all)
	return all
}

// findings groups the breaches, in the order of their seriousness.
func (f *casefile) findings() []Finding {
	counting := slices.DeleteFunc(slices.Clone(f.breaches), func(b *breach) bool { return f.severity(b.law) == record.SeverityOff })
	prints, groups := lists.GroupBy(counting, (*breach).fingerprint)
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

func (f *casefile) finding(print string, group []*breach) Finding {
	first := group[0]
	kind, d := law.KindOf(first.kind), f.describe(group)
	own := law.KindOf(d.kind)
	words := own.Wording(first.law, first.cause)
	os := f.Header.System.OS
	say := func(template string) string { return law.Fill(template, len(group), d.values) }
	out := Finding{
		Law: first.law, Kind: first.kind, Label: first.label, Severity: f.severity(first.law), Fingerprint: print, cause: first.cause,
		Title: say(words.Title), Expected: say(words.Expected), Found: say(words.Found),
		Why: prose.Paragraph(d.head, first.narrative, alike(group)),
		Fix: prose.Paragraph(d.cause.FixOn(os), kind.FixOn(os)), Reports: law.Cite(kind.Reports),
	}
	if d.cause.Alone && (first.kind == "deaf" || first.kind == "not-escalated") {
		out.Fix = d.cause.FixOn(os)
	}
	if first.fix != "" {
		out.Fix = first.fix
	}
	out.Severity = cmp.Or(kind.Severity, out.Severity)
	duty := law.DutyOf(f.duty(), first.law, first.cause)
	out.Why, out.Fix = prose.Paragraph(out.Why, duty.Why), prose.Paragraph(out.Fix, duty.Fix)
	if first.cp != nil {
		out.Checkpoint = first.cp.Name
	}
	out.Aliases = aliases(group, print)
	counted := map[string]bool{}
	for _, b := range group {
		id := serverID(b.server)
		counted[cmp.Or(id, b.value)] = true
		if id != "" {
			out.Servers = append(out.Servers, id)
		}
		out.Values, out.Rows = append(out.Values, b.value), append(out.Rows, b.row)
		if b.evidence != nil {
			out.Evidence = append(out.Evidence, *b.evidence)
		}
		out.At = append(out.At, b.at...)
	}
	out.Firm = !slices.ContainsFunc(group, func(b *breach) bool { return !f.firm(b) })
	out.Count = len(counted)
	slices.Sort(out.At)
	out.At = slices.Compact(out.At)
	return out
}

// firm says of a breach by the clock that the machine can't have made it: all that the processes of the run had to wait for
// processors, from a while before it on, is at most half of what it is over its limit, or of the time that a cleanup is to have.
func (f *casefile) firm(b *breach) bool {
	const before = int64(time.Second)
	margin := b.over
	from, to := b.since, int64(0)
	if b.law == "L9" && b.server != nil {
		margin, from = int64(f.Header.Limits.Grace), f.firstAsked(b.server)
	}
	for _, t := range b.at {
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
func (f *casefile) describe(group []*breach) *description {
	b := group[0]
	d := &description{kind: b.kind, values: law.Values{
		"label": prose.Plain(b.label), "comm": prose.Plain(b.comm), "name": prose.Plain(b.label),
		"cause": cmp.Or(b.when, law.CauseOf(b.cause).Text), "value": b.value, "settle": prose.Span(f.Header.Limits.Settle),
	}}
	if b.server == nil {
		d.values["name"] = prose.Plain(b.comm)
	}
	if b.cp != nil {
		d.values["checkpoint"] = strconv.Quote(prose.Plain(b.cp.Name))
	}
	if add := ruleOf(b.law).describe; add != nil && b.cause != record.CauseWatched {
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
func alike(group []*breach) string {
	others := len(group) - 1
	if others == 0 {
		return ""
	}
	same := 0
	for _, b := range group[1:] {
		if b.like == group[0].like {
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
