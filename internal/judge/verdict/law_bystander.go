package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeBystanders is the part of L3 that needs no session: the bench's own
// processes, in the host's group or with the command line of a server, must
// outlive the host. A run that was cut short is swept by the keeper, which does
// not count.
func (f *facts) judgeBystanders() {
	for _, e := range f.Bystanders() {
		switch {
		case e.Text != record.StandsAsTwin && e.Text != record.StandsRecycled:
			f.breaches = append(f.breaches, f.bystanderBreach(e))
		case e.Exit.Signal == "": // by itself: a doubt
		case e.Text == record.StandsAsTwin:
			f.breaches = append(f.breaches, f.twinBreach(e))
		default:
			f.breaches = append(f.breaches, f.recycledBreach(e))
		}
	}
}

// doubtTwins says which twins ended by themselves: they show nothing then.
func (f *facts) doubtTwins() {
	for _, e := range f.Bystanders() {
		if e.Text != "" && e.Exit.Signal == "" {
			f.doubt(record.DoubtTwinEnded, "the bench's own process that stood for %s ended by itself (status %d) at %s: whether the host would have ended it was not seen", plain(e.Server), e.Exit.Code, clock(e.T))
		}
	}
}

// phaseOf says what the host was doing at t.
func (f *facts) phaseOf(t int64) (cause record.Cause, says string) {
	cause = record.CauseHostAtWork
	switch {
	case !f.hostAlive(t):
		cause = record.CauseAfterHost
	case !f.onWatch(t):
		cause = record.CauseHostEnding
	}
	return cause, law.CauseOf(cause).Text
}

func (f *facts) twinBreach(e *record.Event) *breach {
	cause, phase := f.phaseOf(e.T)
	return &breach{
		law: "L3", kind: "twin", label: e.Server, cause: cause, at: []int64{e.T}, like: e.Exit.Signal + phase,
		value: fmt.Sprintf("pid %d with the command line of %s: was ended by %s at %s", e.Process.PID, plain(e.Server), plain(e.Exit.Signal), clock(e.T)),
		story: paragraph(
			fmt.Sprintf("The bench had started a process (pid %d) with the very command line of a server of %s, in a session of its own and no child of the host's. It was ended by %s at %s, %s: "+
				"nothing but its command line, or its name, has it in common with what the host launched.", e.Process.PID, plain(e.Server), plain(e.Exit.Signal), clock(e.T), phase),
			f.company(&history.Server{}, e.T)),
	}
}

func (f *facts) bystanderBreach(e *record.Event) *breach {
	how := fmt.Sprintf("exited with status %d", e.Exit.Code)
	if e.Exit.Signal != "" {
		how = "was ended by " + plain(e.Exit.Signal)
	}
	cause, phase := f.phaseOf(e.T)
	group := "the host's own process group"
	if !f.IsHost(e.Process.PGID) {
		group = fmt.Sprintf("process group %d", e.Process.PGID)
	}
	return &breach{
		law: "L3", kind: "bystander", cause: cause, at: []int64{e.T}, like: how + phase,
		value: fmt.Sprintf("pid %d in %s: %s at %s", e.Process.PID, group, how, clock(e.T)),
		story: paragraph(
			fmt.Sprintf("The bench had put a process (pid %d) into %s that does nothing and is none of the host's. It %s at %s, %s.", e.Process.PID, group, how, clock(e.T), phase),
			f.company(&history.Server{}, e.T)),
	}
}

func (f *facts) recycledBreach(e *record.Event) *breach {
	cause, phase := f.phaseOf(e.T)
	label := ""
	if s := f.Server(e.Server); s != nil {
		label = s.Label
	}
	return &breach{
		law: "L3", kind: "recycled", label: label, cause: cause, at: []int64{e.T}, like: e.Exit.Signal + phase,
		value: fmt.Sprintf("pid %d, with the number that %s had: was ended by %s at %s", e.Process.PID, plain(e.Server), plain(e.Exit.Signal), clock(e.T)),
		story: paragraph(
			fmt.Sprintf("%s had died and been waited for, and the system had given its pid, and the number of its group, to a process that is none of the host's (pid %d out here). It was ended by %s at %s, %s: "+
				"somebody signalled the number, and not the process.", plain(e.Server), e.Process.PID, plain(e.Exit.Signal), clock(e.T), phase),
			f.company(&history.Server{}, e.T)),
	}
}
