// Package baseline says what is new, known or fixed: runs beside a list of known
// findings, beside earlier runs, and beside the same run played again.
package baseline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// Baseline is what the runs of a page are compared with. The zero value is nothing.
type Baseline struct {
	Result *gate.Result     // nil: nothing
	Base   []verdict.Judged // the earlier runs, where there are any
	List   string           // the file of the known findings; "" where there is none
	Answer bool             // a gate has asked: the page says what it answers
	// NotApplicable is how many scenarios were asked for that can't be asked of the host.
	NotApplicable int
}

// Status is what a finding is, seen from the list and the base.
type Status struct {
	Decision gate.Decision // "" is an entry of the list

	Word  string // "new"
	Class string
	Glyph string
	Text  string `max:"600"`
}

// Count is one number of the verdict bar: "2 known".
type Count struct {
	Status
	N int
}

// EntryView is an entry of the list that has to be dealt with.
type EntryView struct {
	Status
	Finding string `max:"120"`
	Reason  string `max:"300"`
}

// decisionLooks say how a finding of a gate is shown.
var decisionLooks = map[gate.Decision]Status{
	gate.New:      {Word: "new", Class: "bad", Glyph: "✗"},
	gate.Expired:  {Word: "expired", Class: "bad", Glyph: "✗"},
	gate.Unlisted: {Word: "unlisted", Class: "bad", Glyph: "✗"},
	gate.Warning:  {Word: "new warning", Class: "warn", Glyph: "!"},
	gate.Listed:   {Word: "known", Class: "none", Glyph: "≡"},
	gate.InBase:   {Word: "known", Class: "none", Glyph: "≡"},
	gate.Fixed:    {Word: "fixed", Class: "good", Glyph: "✓"},
}

var entryLooks = map[known.State]Status{
	known.Stale:   {Word: "stale", Class: "warn", Glyph: "!"},
	known.Expired: {Word: "expired", Class: "warn", Glyph: "!"},
}

// Lookup answers what became of a run's findings.
type Lookup struct {
	Baseline
	of map[cause]*gate.Finding
}

type cause struct {
	compare.Play
	fingerprint string
}

// NewLookup is nil where there is no baseline.
func NewLookup(a Baseline) *Lookup {
	if a.Result == nil {
		return nil
	}
	h := &Lookup{Baseline: a, of: map[cause]*gate.Finding{}}
	for i := range a.Result.Findings {
		f := &a.Result.Findings[i]
		h.of[cause{f.Play, f.Fingerprint}] = f
	}
	return h
}

// Status is nil for what nobody has looked at.
func (h *Lookup) Status(p compare.Play, f *verdict.Finding) *Status {
	if h == nil {
		return nil
	}
	found := h.of[cause{p, f.Fingerprint}]
	if found == nil {
		return nil
	}
	s := h.look(found)
	return &s
}

// NewFirst puts what fails the gate before what does not: a page leads with it.
func (h *Lookup) NewFirst(p compare.Play, all []verdict.Finding) []verdict.Finding {
	var fresh, rest []verdict.Finding
	for i := range all {
		if s := h.Status(p, &all[i]); s != nil && s.Decision.Fails() {
			fresh = append(fresh, all[i])
		} else {
			rest = append(rest, all[i])
		}
	}
	return append(model.GravestFirst(fresh), model.GravestFirst(rest)...)
}

func (h *Lookup) look(f *gate.Finding) Status {
	s := decisionLooks[f.Decision]
	s.Decision = f.Decision
	switch f.Decision {
	case gate.New, gate.Warning:
		s.Text = h.newText()
	case gate.Expired:
		s.Text = fmt.Sprintf("its entry in %s expired on %s", h.List, f.Expired.Expires.Format(time.DateOnly))
	case gate.Listed:
		s.Text = fmt.Sprintf("listed in %s until %s: %s", h.List, f.Entry.Expires.Format(time.DateOnly), f.Entry.Reason)
		if old := OldName(f); old != "" {
			s.Text += "; " + old
		}
	case gate.Unlisted:
		s.Text = fmt.Sprintf("the base has it too, in %s runs, but a strict gate wants it listed", f.Base)
	case gate.InBase:
		s.Text = fmt.Sprintf("the base has it too, in %s runs", f.Base)
	}
	if f.Note != "" && s.Text != "" {
		s.Text += "; " + f.Note
	}
	return s
}

// newText says where a new finding is missing.
func (h *Lookup) newText() string {
	switch {
	case h.List != "" && h.Result.Compared != nil:
		return "neither in " + h.List + " nor in the base"
	case h.List != "":
		return "not in " + h.List
	}
	return "not in the base"
}

// Counts are the numbers of the verdict bar: of a play, or of all. New, known
// and fixed are always there, the others where they are not zero.
func (h *Lookup) Counts(p *compare.Play) []Count {
	findings, entries := map[gate.Decision]int{}, map[known.State]int{}
	for i := range h.Result.Findings {
		f := &h.Result.Findings[i]
		if p != nil && f.Play != *p {
			continue
		}
		d := f.Decision
		if d == gate.InBase {
			d = gate.Listed // both are known
		}
		findings[d]++
	}
	for _, e := range of(p, h.Result.Alone()) {
		entries[e.State]++
	}
	var out []Count
	add := func(look Status, n int, always bool) {
		if n == 0 {
			look.Class = "none"
		}
		if n > 0 || always {
			out = append(out, Count{look, n})
		}
	}
	for _, d := range gate.Decisions() {
		add(decisionLooks[d], findings[d], d == gate.New || d == gate.Listed || d == gate.Fixed)
	}
	for _, s := range []known.State{known.Stale, known.Expired} {
		add(entryLooks[s], entries[s], false)
	}
	return out
}

// of are the entries of a play, or all.
func of(p *compare.Play, entries []known.Checked) []known.Checked {
	return slices.DeleteFunc(entries, func(e known.Checked) bool {
		return p != nil && (e.Scenario != p.Scenario || e.Host != "" && e.Host != p.Host)
	})
}

// Entries are those of the list that are wrong.
func (h *Lookup) Entries(p *compare.Play) (out []EntryView, more int) {
	bad, more := words.FirstOf(of(p, h.Result.Bad()), entriesMost)
	for _, e := range bad {
		v := EntryView{Status: entryLooks[e.State], Finding: e.Finding(), Reason: e.Reason}
		v.Text = fmt.Sprintf("%s:%d: %s", h.List, e.Line, e.Text())
		out = append(out, v)
	}
	return out, more
}

const entriesMost = 100

// AnswerView is what a page says of all its runs together, beside a list and a base.
type AnswerView struct {
	Outcome      gate.Outcome
	Glyph, Class string
	Headline     string `max:"600"` // what the gate answers
	Commands     []Command
	Source       string `max:"300"`
	Counts       []Count
	Entries      []EntryView
	More         int
	Missing      []string `max:"300"`
}

// Command is one to copy.
type Command struct{ What, Text string }

var gateVerbs = map[gate.Outcome]string{
	gate.Pass: "The gate passed", gate.Fail: "The gate failed", gate.HostFailed: "The gate failed",
	gate.Inconclusive: "The gate is inconclusive",
}

// commands are those that change the list of known findings as the answer suggests.
func (h *Lookup) commands() (out []Command) {
	add := func(what string, words ...string) {
		out = append(out, Command{what, knownCommand(h.List, words...)})
	}
	fresh, entries := false, map[known.State]bool{}
	for i := range h.Result.Findings {
		fresh = fresh || h.Result.Findings[i].Decision.Fails()
	}
	for _, e := range h.Result.Bad() {
		entries[e.State] = true
	}
	if fresh || entries[known.Expired] {
		add("Accept for now", "update", "--reason", "WHY")
	}
	if entries[known.Stale] {
		add("Remove stale", "prune")
	}
	return out
}

// View is what a page says of all runs together.
func (h *Lookup) View() *AnswerView {
	r := h.Result
	v := &AnswerView{Counts: h.Counts(nil), Source: h.Source()}
	if h.Answer {
		like := LooksLike[r.Outcome]
		v.Outcome, v.Glyph, v.Class = r.Outcome, model.OutcomeGlyph[like], string(like)
		v.Headline, v.Commands = gateVerbs[r.Outcome]+": "+r.Reason, h.commands()
	}
	v.Entries, v.More = h.Entries(nil)
	v.Missing, _ = words.FirstOf(slices.Clone(r.Missing), entriesMost)
	return v
}

// Source says what the baseline is.
func (h *Lookup) Source() string {
	list, base := "", ""
	if h.List != "" {
		list = fmt.Sprintf("%s (%d listed)", h.List, len(h.Result.Entries))
	}
	if c := h.Result.Compared; c != nil {
		base = fmt.Sprintf("%s of the base%s", text.Count(c.Base, "run"), otherHost(c.Renamed))
	}
	if list != "" && base != "" {
		return list + " and " + base
	}
	return cmp.Or(list, base)
}
