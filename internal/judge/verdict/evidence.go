package verdict

import (
	"strconv"

	"github.com/leakbench/leakbench/internal/judge/prose"
)

// onlyOnEvidence says that a law is kept only where something shows it.
func (f *casefile) onlyOnEvidence() bool { return f.Header.Plan.Evidence }

// unshown says why a law that was not broken can't be called kept, or "".
func (f *casefile) unshown(law string) string {
	switch {
	case f.Broke(law):
		return ""
	case f.IsUnsure(law):
		return "the machine was starved when it mattered"
	case (law == "L1" || law == "L4") && f.rested(false) != "":
		return f.rested(false)
	case law == "L2":
		return f.rested(true)
	case !f.onlyOnEvidence():
	case law == "L1" && !f.HadToGo():
		return "no server had to be gone while the host lived"
	case law == "L3" && !f.WasLive() && len(f.Bystanders()) == 0:
		return "no server of a session has worked"
	case law == "L4" && !f.HadToBeReaped():
		return "no server died while the host lived"
	}
	return ""
}

// rested says which checkpoint came to rest only because its wait was
// stretched, or "": what was gone by then need not have been in time.
func (f *casefile) rested(hostGone bool) string {
	for _, cp := range f.Checkpoints {
		if cp.Quiet && cp.Stretched > 0 && cp.HostGone == hostGone {
			return "checkpoint " + strconv.Quote(prose.Plain(cp.Name)) +
				" reached the expected state only because the wait was stretched, so what ended may have ended too late"
		}
	}
	return ""
}
