package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/life"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeBystanders is the part of L3 that needs no session: the bench's own
// process in the host's group must outlive the host. A run that was cut short
// is swept by the keeper, which does not count.
func (f *facts) judgeBystanders() {
	for _, e := range f.bystanders {
		f.breaches = append(f.breaches, f.bystanderBreach(e))
	}
}

func (f *facts) bystanderBreach(e *record.Event) *breach {
	how := fmt.Sprintf("exited with status %d", e.Exit.Code)
	if e.Exit.Signal != "" {
		how = "was ended by " + plain(e.Exit.Signal)
	}
	phase := "while the host was at work"
	switch {
	case !f.hostAlive(e.T):
		phase = "after the host had ended"
	case !f.onWatch(e.T):
		phase = "while the host was ending"
	}
	group := "the host's own process group"
	if !f.isHost(e.Process.PGID) {
		group = fmt.Sprintf("process group %d", e.Process.PGID)
	}
	return &breach{
		law: "L3", kind: "bystander", cause: phase, at: []int64{e.T}, like: how + phase,
		value: fmt.Sprintf("pid %d in %s: %s at %s", e.Process.PID, group, how, clock(e.T)),
		story: paragraph(
			fmt.Sprintf("The bench had put a process (pid %d) into %s that does nothing and is none of the host's. It %s at %s, %s.", e.Process.PID, group, how, clock(e.T), phase),
			f.company(&life.Server{}, e.T)),
	}
}

func tellBystander(b *breach) telling {
	return telling{
		title:    "a bystander in the host's process group was ended " + b.cause,
		expected: "a process that the host did not start left alone",
		found:    "it was ended " + b.cause,
	}
}
