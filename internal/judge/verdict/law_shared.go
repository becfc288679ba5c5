package verdict

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeShared is L11: the sessions that use a server entry at the same time share a process, which outlives each of them.
// Only a scenario that lists the law is about that: elsewhere each session has an entry of its own.
func judgeShared(f *casefile) LawResult {
	if !slices.Contains(f.Header.Plan.Laws, "L11") {
		return LawResult{Reason: "the scenario does not ask whether sessions share a server"}
	}
	r := LawResult{Expected: "one process for the sessions of an entry, which outlives each of them"}
	together, shared := 0, 0
	labels, byLabel := lists.GroupBy(f.servers, func(s *history.Server) string { return s.Label })
	for _, label := range labels {
		for _, s := range byLabel[label] {
			sessions := sessionsOf(s)
			together = max(together, len(sessions))
			if len(sessions) > 1 {
				shared++
			}
			if b := f.ownProcess(s, byLabel[label]); b != nil {
				f.Broken(b)
			}
		}
	}
	r.Found = fmt.Sprintf("%s served several sessions, at most %d", text.Count(shared, "process"), together)
	if shared == 0 && !f.Broke("L11") {
		r.Reason = "no process served two sessions of an entry, and none was seen to end with its session"
	}
	return r
}

// sessionsOf are the sessions whose calls a server has received, each once.
func sessionsOf(s *history.Server) (names []string) {
	for _, c := range s.Calls {
		if name := sessionOfCall(s, c); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func sessionOfCall(s *history.Server, c history.Call) string {
	if c.Session != "" {
		return c.Session
	}
	return s.Session
}

// ownProcess is the breach of a server that served one session alone, beside another one's, and ended with it or with
// its request; nil where it did not.
func (f *casefile) ownProcess(s *history.Server, all []*history.Server) *breach.Breach {
	sessions := sessionsOf(s)
	if len(sessions) != 1 || s.Died < 0 || s.Broken >= 0 || !f.OnWatch(s.Died) {
		return nil
	}
	mine := sessions[0]
	end := f.endOf(mine, s.Calls[len(s.Calls)-1].Received, s.Died)
	for _, o := range all {
		if end != nil && isBeside(s, o, mine) {
			return ownBreach(s, record.CausePerSession,
				fmt.Sprintf("served session %s alone, beside %s of session %s, and ended %s after %s was asked for",
					prose.Plain(mine), prose.Plain(o.ID), prose.Plain(sessionsOf(o)[0]), prose.Span(s.Died-end.Begun), end.Op))
		}
		if end == nil && len(s.Calls) == 1 && o.Born > s.Died && slices.Contains(sessionsOf(o), mine) && !f.endsOnSchedule() {
			return ownBreach(s, record.CausePerRequest, fmt.Sprintf("served one request of session %s and ended; %s was launched for the next one",
				prose.Plain(mine), prose.Plain(o.ID)))
		}
	}
	return nil
}

// isBeside says that another server lived at the same time as s, for one other session.
func isBeside(s, o *history.Server, mine string) bool {
	others := sessionsOf(o)
	return o.Life == s.Life && o.Born < s.Died && !history.By(o.Died, s.Born) && len(others) == 1 && others[0] != mine
}

// endsOnSchedule says that the host ends servers of open sessions on purpose: when they are idle, or old.
func (f *casefile) endsOnSchedule() bool {
	p := f.Header.Host.Profile
	return p.Idle > 0 || p.Renewal > 0
}

// endOf is the step that ended a session after its last call and before its server died, or nil.
func (f *casefile) endOf(session string, last, died int64) *history.Step {
	for _, st := range f.Steps() {
		if (st.Op == record.OpClose || st.Op == record.OpForget) && st.Session == session && !st.Skipped && st.Begun > last && st.Begun < died {
			return st
		}
	}
	return nil
}

func ownBreach(s *history.Server, cause record.Cause, what string) *breach.Breach {
	name := prose.Process(s, s.Birth.Identity, "")
	return &breach.Breach{
		Law: "L11", Kind: "per-conversation", Label: s.Label, Cause: cause, Server: s, At: []int64{s.Born, s.Died}, Like: string(cause),
		Value: name + " " + what, Narrative: prose.Sentence(name + " " + what),
	}
}
