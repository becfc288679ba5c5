package verdict

import (
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
)

// afterEnd is how long after the end of its session a server must have been launched to be called launched for it: a
// launch that was under way may still become a process.
const afterEnd = int64(100 * time.Millisecond)

// judgeGhosts is the part of L1 that no checkpoint sees: servers launched for
// sessions that had ended, and gone again. Those in seen have been told of.
func (f *casefile) judgeGhosts(seen map[string]bool) {
	if f.LaunchesAhead() {
		return
	}
	for _, s := range f.servers {
		if since := f.LaunchedInVain(s, afterEnd); since >= 0 && !seen[s.ID] {
			seen[s.ID] = true
			f.Broken(f.ghostBreach(s, since))
		}
	}
}

// inVain is the loss of a server that was launched when its session had ended, since then, and is there still: how the session had
// ended is not to blame. l is what it would be otherwise.
func (f *casefile) inVain(s *history.Server, since int64, l loss) loss {
	cause, _ := f.HowEnded(s, since)
	g := loss{kind: "ghost", cause: cause, when: law.CauseOf(cause).Text, was: breach.Was{Kind: l.kind, Cause: l.cause}}
	g.head = fmt.Sprintf("%s was launched %s after session %s had ended. Nobody had reopened the session.",
		prose.Plain(s.ID), prose.Span(s.Born-since), prose.Plain(s.Session))
	return g
}

func (f *casefile) ghostBreach(s *history.Server, since int64) *breach.Breach {
	cause, _ := f.HowEnded(s, since)
	name, after := prose.Process(s, s.Birth.Identity, ""), prose.Span(s.Born-since)
	gone := "still there at the end"
	if s.Died >= 0 {
		gone = "gone " + prose.Span(s.Died-s.Born) + " later"
	}
	b := &breach.Breach{
		Law: "L1", Kind: "ghost", Label: s.Label, Cause: cause, When: law.CauseOf(cause).Text, Server: s,
		At: []int64{since, s.Born}, Like: string(cause),
		Narrative: fmt.Sprintf("%s was launched %s after session %s had ended. Nobody had reopened the session. The server was %s.",
			name, after, prose.Plain(s.Session), gone),
	}
	b.SawServer(s, s.Session, "launched "+after+" after its session had ended", gone)
	return b
}

func describeGhosts(f *casefile, group []*breach.Breach, d *description) {
	longest := int64(0)
	for _, b := range group {
		_, since := f.StateAt(b.Server, b.Server.Born)
		longest = max(longest, b.Server.Born-since)
	}
	d.values["slowest"] = prose.Span(longest)
}

// isConnection says that a server of a host whose sessions are unknown is, or may be, that of a session of its own,
// which nobody has told the bench of. One that the host calls while the checkpoint looks, and after it has used the next
// one, is in use. One that it has called since the next one was launched, or that was launched side by side with it, may
// be: that is a doubt. The first calls of both belong to their launch, whether the checkpoint saw them or not.
func (f *casefile) isConnection(cp *facts.Checkpoint, s *history.Server) bool {
	next := f.successor(cp, s)
	if !f.Header.Host.SessionsUnknown() || next == nil {
		return false
	}
	beside := f.isDuplicate(s, next) && answered(s, cp.SettledAt) && answered(next, cp.SettledAt)
	switch {
	case s.Worked(max(cp.Begun, next.FirstAnswer()), cp.WatchedUntil):
		return true
	case beside || s.Worked(next.Born, cp.SettledAt):
		f.Connections++
		return true
	}
	return false
}

// answered says that a server lived at t, and had answered a call.
func answered(s *history.Server, t int64) bool {
	return !history.By(s.Died, t) && s.Worked(never, t)
}
