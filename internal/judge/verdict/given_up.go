package verdict

import (
	"cmp"
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// giveUp makes of what a breach would come to after a full wait what is known of it without: the process was there. The head of what is
// told says then what the full wait would show. What is a breach by itself, however long it lasts, stays one.
func (f *casefile) giveUp(b *breach.Breach, cp *facts.Checkpoint, head *string) {
	if cp.Early != record.EarlyFast || b.Kind == "ghost" {
		return
	}
	full, os := law.KindOf(b.Kind), f.Header.System.OS
	b.Fix = cmp.Or(b.Fix, prose.Paragraph(law.CauseOf(b.Cause).FixOn(os), full.FixOn(os)))
	b.Was = breach.Was{Kind: b.Kind, Cause: b.Cause}
	b.Kind, *head = "still-running", "Nobody had told it to end. "+f.fullWait("a slow end from a lost process")
}

// giveUpZombie is giveUp for a process that is dead, and was not waited for.
func (f *casefile) giveUpZombie(b *breach.Breach) {
	b.Was = breach.Was{Kind: b.Kind, Cause: b.Cause}
	b.Kind, b.Narrative = "still-zombie", prose.Paragraph(b.Narrative, f.fullWait("a slow host from one that never waits"))
}

// fullWait says what nobody knows, and how it can be known.
func (f *casefile) fullWait(tells string) string {
	l := f.Header.Limits
	return fmt.Sprintf("leakbench gave it up after %s (--fast). The full wait, without --fast, takes up to %s, and tells %s.",
		prose.Span(l.Fast), prose.Span(l.Settle+l.Confirm), tells)
}
