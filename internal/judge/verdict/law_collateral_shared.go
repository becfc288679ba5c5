package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeEntries is L3 where sessions share a server entry. Whose server is whose only the calls tell: one that an open session has used
// was taken from it where it was ended, and the session's next call failed.
func (f *casefile) judgeEntries() {
	if f.Header.Host.Servers != record.Either {
		return
	}
	for _, s := range f.servers {
		h, ok := facts.HarmTo(s)
		if !ok || !f.OnWatch(h.T) || s.BrokenBy(h.T) || f.endedOutside(s) {
			continue
		}
		var first *breach.Breach
		for _, session := range sessionsOf(s) {
			lost := f.nextCall(session, h.T)
			if lost == nil || !lost.Failed() || !lost.MustWork() {
				continue
			}
			f.Blamed[lost.N] = true
			if first == nil {
				first = f.takenFrom(s, h, session, lost)
				f.Broken(first)
			}
		}
	}
}

// nextCall is the first thing that was asked of a session after t, where that is a call; nil where it is something else, or nothing. A
// call that failed and that nothing hung on says nothing.
func (f *casefile) nextCall(session string, t int64) *history.Step {
	for _, st := range f.Steps() {
		if st.Session != session || st.Skipped || st.Ended < t {
			continue
		}
		if st.Op != record.OpCall {
			return nil // it was being ended, or opened anew
		}
		if !st.Failed() || st.MustWork() {
			return st
		}
	}
	return nil
}

func (f *casefile) takenFrom(s *history.Server, h facts.Harm, session string, lost *history.Step) *breach.Breach {
	name := prose.Process(s, s.Birth.Identity, "")
	return &breach.Breach{
		Law: "L3", Kind: h.Kind, Label: s.Label, Cause: record.CauseSessionInUse, Server: s, At: []int64{h.T}, Like: h.Kind,
		Value: fmt.Sprintf("%s, which session %s used: %s at %s, %s",
			prose.Plain(s.ID), prose.Plain(session), h.Kind, prose.Clock(h.T), facts.LastWord(s, h.T)),
		Narrative: prose.Paragraph(fmt.Sprintf("%s served session %s and %s at %s, while the session was open. Its next call failed: %s.",
			name, prose.Plain(session), h.What, prose.Clock(h.T), prose.Quote(lost.Error)), f.company(s, h.T)),
	}
}
