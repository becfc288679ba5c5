package verdict

import (
	"fmt"
	"strconv"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// judgeBystanders is the part of L3 that needs no session: the bench's own processes, in the host's group or with the command
// line of a server, must outlive the host. A run that was cut short is swept by the keeper, which does not count.
func (f *casefile) judgeBystanders() {
	for _, e := range f.Bystanders() {
		switch {
		case e.Text != record.StandsAsTwin && e.Text != record.StandsRecycled:
			if !f.withOwnGroup(e) {
				f.bystanderBreach(e, "bystander", "")
			}
		case e.Exit.Signal == "": // by itself: a doubt
		case e.Text == record.StandsAsTwin:
			f.bystanderBreach(e, "twin", e.Server)
		default:
			label := ""
			if s := f.Server(e.Server); s != nil {
				label = s.Label
			}
			f.bystanderBreach(e, "recycled", label)
		}
	}
}

// withOwnGroup says that a bystander was signalled in the host's own group, once the host had been asked to end: a host that ends
// by kill(0, ...), and a launcher like timeout(1), which passes a signal on to its group, end what is theirs.
func (f *casefile) withOwnGroup(e *record.Event) bool {
	h := f.HostAt(e.T)
	return e.Exit.Signal != "" && f.IsHost(e.Process.PGID) && h.AskedAt >= 0 && e.T >= h.AskedAt
}

// phaseOf says what the host was doing at t.
func (f *casefile) phaseOf(t int64) record.Cause {
	switch {
	case !f.HostAlive(t):
		return record.CauseAfterHost
	case !f.OnWatch(t):
		return record.CauseHostEnding
	}
	return record.CauseHostAtWork
}

func (f *casefile) bystanderBreach(e *record.Event, kind, label string) {
	how := fmt.Sprintf("exited with status %d", e.Exit.Code)
	switch {
	case e.Exit.Signal != "" && !f.Signals():
		how = "was terminated"
	case e.Exit.Signal != "":
		how = "was ended by " + prose.Plain(e.Exit.Signal)
	}
	group := "the host's own process group"
	if !f.IsHost(e.Process.PGID) {
		group = fmt.Sprintf("process group %d", e.Process.PGID)
	}
	cause := f.phaseOf(e.T)
	values := law.Values{
		"pid": strconv.Itoa(e.Process.PID), "server": prose.Plain(e.Server), "group": group, "how": how, "at": prose.Clock(e.T),
		"cause": law.CauseOf(cause).Text,
	}
	k := law.KindOf(kind)
	words := k.Wording("L3", cause)
	f.Broken(&breach.Breach{
		Law: "L3", Kind: kind, Label: label, Cause: cause, At: []int64{e.T}, Like: how + string(cause), Value: law.Fill(words.Value, 1, values),
		Narrative: prose.Paragraph(law.Fill(words.Narrative, 1, values), f.company(&history.Server{}, e.T)),
	})
}
