package facts

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
)

// FaultBefore says what a server did wrong last by t.
func (f *Facts) FaultBefore(t int64) string {
	var last *history.FaultMark
	of := ""
	for _, s := range f.Servers() {
		for i := range s.Faults {
			if m := &s.Faults[i]; m.T <= t && !m.Passive && (last == nil || m.T >= last.T) {
				last, of = m, s.ID
			}
		}
	}
	if last == nil {
		return "No server had done anything wrong by then."
	}
	return fmt.Sprintf("The last fault before that was %s of %s, %s earlier.",
		prose.FaultName(&last.Fault), prose.Plain(of), prose.Span(t-last.T))
}
