package verdict

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeCrashes reports each life of the host that crashed: it ended by itself, with a status other than 0 or by a signal
// that nobody sent it on purpose. SIGKILL is no crash: it is somebody else's doing, such as the system's for want of memory.
// One that has launched nothing never came up.
func (f *casefile) judgeCrashes() (n int) {
	if f.Header.Host.Kind == record.KindOneshot || f.CutShort() {
		return 0 // it is a scheduler of the bench's own; or the bench has cut it short
	}
	for _, h := range f.Hosts() {
		if !facts.EndedUnasked(h) || h.Exit.Code == 0 && h.Exit.Signal == "" || h.Exit.Signal == "SIGKILL" {
			continue
		}
		if slices.ContainsFunc(f.servers, func(s *history.Server) bool { return f.HostOf(s) == h }) {
			n++
			f.Broken(f.crashBreach(h))
		}
	}
	return n
}

func (f *casefile) crashBreach(h *history.Host) *breach.Breach {
	how, cause := fmt.Sprintf("exit status %d", h.Exit.Code), record.CauseOfExit(h.Exit.Code)
	if h.Exit.Signal != "" {
		how, cause = prose.Plain(h.Exit.Signal), record.CauseOfSignal(h.Exit.Signal)
	}
	words := "It wrote nothing to its stderr."
	if h.Words != "" {
		words = fmt.Sprintf("Its stderr ends with: %s.", prose.Quote(h.Words))
	}
	return &breach.Breach{
		Law: "L10", Kind: "host-crashed", Cause: cause, When: how, At: []int64{h.Exited}, Like: how,
		Value: fmt.Sprintf("pid %d: %s at %s", h.PID, how, prose.Clock(h.Exited)),
		Narrative: prose.Paragraph(
			prose.Sentence(prose.Capital(prose.HostEnd(h, len(f.Hosts()) < 2))), f.FaultBefore(h.Exited), words),
	}
}
