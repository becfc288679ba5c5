package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeStrays is the part of L1 that is about what is no server.
func (f *casefile) judgeStrays(cp *facts.Checkpoint, seen map[record.Identity]bool) {
	for _, s := range cp.Strays {
		f.Explained[cp] = true
		if !seen[s.Identity] {
			seen[s.Identity] = true
			f.Broken(f.strayBreach(cp, s))
		}
	}
}

func (f *casefile) strayBreach(cp *facts.Checkpoint, s history.Stray) *breach.Breach {
	e := cp.EvidenceOn(s.Identity)
	b := &breach.Breach{Law: "L1", Kind: "helper", Checkpoint: cp, Comm: s.Comm, Process: s.Identity, Evidence: e, At: []int64{cp.SettledAt}}
	if e == nil {
		e = &record.Evidence{Process: s.Process}
	}
	var about string
	if s.Server == nil {
		b.Label, b.Cause, b.When = s.Near.Label, record.CausePerSession.Of(s.Comm), "started for sessions that have ended"
		about = fmt.Sprintf(
			"It was started after %s and before the next server, and others were started after other servers. "+
				"So the host starts one for each session, and does not end it with the session.", prose.Plain(f.Server(s.Near.ID).ID))
	} else {
		server := f.Server(s.Server.ID)
		cause, _ := f.HowEnded(server, cp.SettledAt)
		b.Label, b.Cause, b.When = server.Label, cause.Of(s.Comm), "whose server is gone"
		about = fmt.Sprintf("%[1]s, or what had launched it, had started it. %[1]s was gone at %[2]s.",
			prose.Plain(server.ID), prose.Clock(server.Died))
		if s.Part == history.PartLauncher {
			b.Kind = "launcher"
			about = fmt.Sprintf("It is the launcher of %s, which was gone at %s.", prose.Plain(server.ID), prose.Clock(server.Died))
		}
	}
	f.giveUp(b, cp, &about)
	b.Saw(nil, s.Identity, s.Comm, "", f.lasted(cp, s.Process)...)
	says, like := prose.Survivor(nil, e, cp.SettledAt, prose.Known{Signals: f.Signals()})
	b.Narrative, b.Like = prose.Paragraph(about, says), b.Kind+like
	return b
}
