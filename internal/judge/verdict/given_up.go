package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// giveUp makes of what a breach would come to after a full wait what is known of it without: the process was there. The head of what is
// told says then what the full wait would show. What is a breach by itself, however long it lasts, stays one.
func (f *casefile) giveUp(b *breach.Breach, cp *facts.Checkpoint, head *string) {
	gone := b.Server != nil && history.By(b.Server.Died, cp.WatchedUntil) && cp.Watched()
	if cp.Early != record.EarlyFast || gone || b.Kind == "ghost" {
		return
	}
	b.Was = breach.Was{Kind: b.Kind, Cause: b.Cause}
	if b.When != "" && b.Server == nil {
		b.When = prose.Plain(b.Comm) + ", " + b.When // several of its label may be no servers
	}
	b.Kind, *head = "still-running", f.fullWait("a slow end from a lost process")
	if b.Server != nil { // others do not say what they are told
		*head = "Nobody had told it to end. " + *head
	}
}

// giveUpZombie is giveUp for a process that is dead, and was not waited for.
func (f *casefile) giveUpZombie(b *breach.Breach) {
	b.Was = breach.Was{Kind: b.Kind, Cause: b.Cause}
	b.Kind, b.Narrative = "still-zombie", prose.Paragraph(b.Narrative, f.fullWait("a slow host from one that never waits"))
}

// fullKind is what a full wait would have made of a breach that was given up, and the breach's own kind otherwise: what to do about it, and
// who knows it, is the same.
func fullKind(b *breach.Breach) law.Kind {
	kind := law.KindOf(b.Kind)
	if kind.Early {
		return law.KindOf(b.Was.Kind)
	}
	return kind
}

// fullWait says what nobody knows, and how it can be known.
func (f *casefile) fullWait(tells string) string {
	l := f.Header.Limits
	return fmt.Sprintf("leakbench gave it up after %s (--fast). The full wait, without --fast, takes up to %s, and tells %s.",
		prose.Span(l.Fast), prose.Span(l.Settle+l.Confirm), tells)
}
