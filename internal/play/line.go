package play

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
)

// Failed says that the run is not clean. A scenario that does not apply to the host has no run, and did not fail.
func (r Result) Failed() bool {
	return !r.inapplicable() && (r.Err != nil || r.Judged == nil || r.Judged.Verdict.Outcome != verdict.Clean)
}

func (r Result) inapplicable() bool {
	var not *fit.NotApplicable
	return errors.As(r.Err, &not)
}

// Line is the result on one line: "✗ storm 2.3 s: L1 superseded, L4 zombie".
func (r Result) Line() string {
	outcome, what := verdict.Inconclusive, ""
	switch {
	case r.Err != nil:
		what, _, _ = strings.Cut(r.Err.Error(), "\n")
	case r.Judged != nil:
		v := &r.Judged.Verdict
		outcome = v.Outcome
		kinds, _ := lists.GroupBy(v.Findings, func(f verdict.Finding) string { return f.Law + " " + f.Kind })
		what = strings.Join(kinds, ", ")
		if what == "" && len(v.Doubts) > 0 {
			what = v.Doubts[0].Text
		}
	}
	glyph := cmp.Or(model.OutcomeGlyph[outcome], "?")
	if r.inapplicable() {
		glyph = "–"
	}
	line := fmt.Sprintf("%s %s %.1f s", glyph, r.Scenario, r.Took.Seconds())
	if r.Repeat > 1 {
		line = fmt.Sprintf("%s (repeat %d)", line, r.Repeat)
	}
	if r.Again != "" {
		line += " (again, alone: " + r.Again + ")"
	}
	if what != "" {
		line += ": " + what
	}
	return text.Printable(line)
}

// LeftOut says which scenarios do not apply to the host, in one line for each reason.
func LeftOut(not []gate.NotApplicable) []string {
	reasons, groups := lists.GroupBy(not, func(n gate.NotApplicable) string { _, why := missing(n.Why); return why })
	return lists.Map(reasons, func(why string) string {
		group := groups[why]
		steps, _ := lists.GroupBy(group, func(n gate.NotApplicable) string { step, _ := missing(n.Why); return step })
		if steps[0] != "" {
			why = strings.Join(steps, ", ") + ": " + why
		}
		names := lists.Map(group, func(n gate.NotApplicable) string { return n.Scenario })
		return fmt.Sprintf("not applicable to %s: %s (%s)", group[0].Host, strings.Join(names, ", "), text.PrintableLines(why))
	})
}

// missing splits a reason into the step that the host can't play, or "", and why.
func missing(why string) (step, reason string) {
	if step, reason, ok := strings.Cut(why, ": "); ok && !strings.Contains(step, " ") {
		return step, reason
	}
	return "", why
}
