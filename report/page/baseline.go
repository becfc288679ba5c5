package page

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/baseline"
)

// hold tells of all runs together, where they are held against something.
func (p *pageView) hold(h *baseline.Lookup, runs []verdict.Judged) {
	p.Answer = h.View()
	var parts []string
	for _, c := range p.Answer.Counts {
		parts = append(parts, fmt.Sprintf("%d %s", c.N, c.Word))
	}
	p.Title = strings.Join(parts, ", ") + ". " + p.Title
	if h.Result.Compared != nil && len(h.Base) > 0 {
		p.Compare = baseline.NewCompare(h.Result.Compared, h.Base, runs)
	}
}

// hold tells of one run.
func (r *runView) hold(h *baseline.Lookup, p compare.Play) {
	r.Standing, r.Against = h.Counts(&p), h.Source()
	r.Entries, _ = h.Entries(&p)
}
