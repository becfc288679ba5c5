package baseline

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/terminal"
)

// Replayed says whether a run that was played again ended alike.
type Replayed struct {
	Same bool            `json:"same"`
	Then verdict.Outcome `json:"then"`
	Now  verdict.Outcome `json:"now"`
	Gone []string        `json:"gone" jsonschema:"fingerprints that were found then, not now"`
	New  []string        `json:"new" jsonschema:"fingerprints that were found now, not then"`
	told []compare.Finding
}

// Replay holds a run against the same played again. They are alike when the
// outcome is the same, and the causes of what was found are.
func Replay(then, now verdict.Judged) Replayed {
	r := Replayed{Then: then.Verdict.Outcome, Now: now.Verdict.Outcome, Gone: []string{}, New: []string{}}
	c := compare.Runs([]verdict.Judged{then}, []verdict.Judged{now}, compare.Params{})
	for _, f := range c.Findings {
		switch {
		case f.Base.In == 0:
			r.New = append(r.New, f.Fingerprint)
		case f.Head.In == 0:
			r.Gone = append(r.Gone, f.Fingerprint)
		default:
			continue
		}
		r.told = append(r.told, f)
	}
	r.Same = r.Then == r.Now && len(r.Gone)+len(r.New) == 0
	return r
}

// ReplayText is the answer in words.
func ReplayText(b *bytes.Buffer, r *Replayed, o terminal.Options) {
	p := terminal.NewPrinter(b, o)
	p.Blank()
	switch {
	case r.Same:
		p.Item(0, "= ", terminal.Good|terminal.Strong, "the same again: ", terminal.Strong, string(r.Now), 0)
	case r.Then == r.Now:
		p.Item(0, "≠ ", terminal.Warn|terminal.Strong, "not the same again: ", terminal.Strong,
			string(r.Now)+" both times, with other findings", 0)
	default:
		p.Item(0, "≠ ", terminal.Warn|terminal.Strong, "not the same again: ", terminal.Strong, fmt.Sprintf("%s then, %s now", r.Then, r.Now), 0)
	}
	for i := range r.told {
		f := &r.told[i]
		when := "then, not now"
		if slices.Contains(r.New, f.Fingerprint) {
			when = "now, not then"
		}
		p.Item(2, terminal.Pad(when, 15), terminal.Warn, strings.Join([]string{f.Law, f.Kind, f.Fingerprint, " "}, " "), 0, f.Title, 0)
	}
}
