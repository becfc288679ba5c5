package explore

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// mostListed is how many of a list are printed; JSON has all.
const mostListed = 8

// Print writes what an exploration came to. all says what shows lists that are cut short here.
func (r *Result) Print(w io.Writer, all string) error {
	p := &printer{w: w, all: all}
	took := record.Duration(r.Took.D().Round(time.Second))
	if r.Cells == 0 { // nothing was generated
		p.line("%s, seed %d: %s in %v", r.Host, r.Seed, text.Count(len(r.Findings), "finding"), took)
		for _, f := range r.Findings {
			p.finding(f)
		}
		return p.err
	}
	p.line("%s, seed %d: %s in %v (%.0f a minute)", r.Host, r.Seed, text.Count(r.Runs, "scenario"), took, r.perMinute())
	p.line("  clean %d, inconclusive %d, with findings %d", r.Clean, r.Inconclusive, r.red())
	if r.Unplayed > 0 {
		p.line("  not played %d: %s", r.Unplayed, text.PrintableLines(r.Failure))
	}
	_, alike := lists.GroupBy(r.Findings, (*Found).kind)
	for _, f := range r.Findings {
		if all := alike[f.kind()]; !f.Like || f == all[0] {
			p.finding(f)
			p.alike(f, all)
		}
	}
	for _, d := range r.Doubts {
		p.line("\n? %s in %s, first in %s\n  %s", d.Code, text.Count(d.Count, "scenario"), d.File, text.PrintableLines(d.Text))
	}
	p.line("\ncovered %d of %d (fault, moment, operation of the host, state of the session)", r.Covered, r.Cells)
	p.list("aimed at, and never seen", r.Missed)
	p.list("out of reach", r.Beyond)
	if r.Kept > 0 {
		p.line("added to the corpus: %s", text.Count(r.Kept, "scenario"))
	}
	return p.err
}

// red is how many scenarios showed a finding that is an error.
func (r *Result) red() int { return r.Runs - r.Clean - r.Inconclusive - r.Unplayed }

// perMinute is how many scenarios a minute were played.
func (r *Result) perMinute() float64 {
	if r.Took <= 0 {
		return 0
	}
	return float64(r.Runs) / r.Took.D().Minutes()
}

// New reports whether there is a finding that is an error and not known.
func (r *Result) New() bool {
	return slices.ContainsFunc(r.Findings, func(f *Found) bool { return f.IsError() && !f.Known })
}

type printer struct {
	w   io.Writer
	all string
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) finding(f *Found) {
	mark, state := "✗", "new"
	if !f.IsError() {
		mark = "!"
	}
	if f.Known {
		mark, state = "-", "known"
	}
	p.line("\n%s %s %s (%s)  %s", mark, f.Law, f.Kind, state, text.PrintableLines(f.Title))
	if f.First > 0 {
		p.line("  seen in    %s; first in scenario %d, after %v", text.Count(f.Count, "scenario"), f.First, f.After)
	}
	switch {
	case f.Tried > 0 || f.Again > 0:
		if f.Again > 0 {
			p.line("  stable     in %d of %d more runs", f.Stable, f.Again)
		}
		p.line("  scenario   %s", f.File)
		p.line("             %v, made of %v by %s", f.To, f.From, text.Count(f.Tried, "more run"))
	default:
		p.line("  scenario   %s (%v)", f.File, f.From)
	}
	p.line("  again      %s", words.Shell(f.Command))
	if len(f.Next) > 0 {
		p.line("  go on      not as small as it can be yet: %s", words.Shell(f.Next))
	}
	if f.Page != "" {
		p.line("  report     %s", f.Page)
	}
}

// alike are the findings of the same law and kind that were left as they were found, below the first one.
func (p *printer) alike(first *Found, all []*Found) {
	if first != all[0] {
		return
	}
	for _, f := range all[1:] {
		if f.Like {
			p.line("  also       %s: in %s, first in %s", text.PrintableLines(f.Title), text.Count(f.Count, "scenario"), f.File)
		}
	}
}

func (p *printer) list(what string, all []string) {
	if len(all) == 0 {
		return
	}
	p.line("%s: %d", what, len(all))
	for _, one := range lists.Map(all[:min(len(all), mostListed)], text.PrintableLines) {
		p.line("  %s", strings.TrimSpace(one))
	}
	if more := len(all) - mostListed; more > 0 {
		p.line("  and %d more (%s)", more, p.all)
	}
}
