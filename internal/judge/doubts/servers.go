package doubts

import (
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

// doubtUnasked says which servers were launched for sessions that had one which worked, while the host was asked for nothing. What
// a host does by itself, and on purpose, its profile can say.
func (f *search) doubtUnasked() {
	p := f.Header.Host.Profile
	if f.Header.Host.SessionsUnknown() || p.Resident+p.Spare > 0 || p.Idle+p.Renewal > 0 {
		return
	}
	for _, s := range f.servers {
		state, _ := f.StateAt(s, s.Born)
		began, _ := f.LaunchBegan(s) // where that is not known, it is before all others
		idle := state.State == record.SessionOpen && state.Why != record.WhyPerRequest && state.Why != record.WhyRequest &&
			f.OnWatch(began) && f.OnWatch(s.Born) && !f.RequestedAround(began)
		if other := f.WorkingBeside(s, began); idle && other != nil {
			f.doubt(record.DoubtUnasked, "%s was launched at %s for session %s, which was open and had %s, and nobody had asked the host for anything: whether it means to is not known; its profile can say so (renewal, spare)",
				prose.Plain(s.ID), prose.Clock(s.Born), prose.Plain(s.Session), prose.Plain(other.ID))
		}
	}
}

// doubtConnections says what isConnection has met.
func (f *search) doubtConnections() {
	if f.Connections > 0 {
		f.doubt(record.DoubtConnections, "the host has used several servers of one name side by side: whether it means to keep them is not known; its host file can say so (launches: for one connection; spare: for sessions of its own)")
	}
}

// doubtDaemons says which processes went on in the background.
func (f *search) doubtDaemons() {
	for _, id := range f.Daemons {
		f.doubt(record.DoubtDaemon, "%s went on in the background after the host's process had ended, with its servers: it was not asked to end", prose.Process(nil, id, "the host"))
	}
}

// doubtTwins says which twins ended by themselves: they show nothing then.
func (f *search) doubtTwins() {
	for _, e := range f.Bystanders() {
		if e.Text != "" && e.Exit.Signal == "" {
			f.doubt(record.DoubtTwinEnded, "the bench's own process that stood for %s ended by itself (status %d) at %s: whether the host would have ended it was not seen", prose.Plain(e.Server), e.Exit.Code, prose.Clock(e.T))
		}
	}
}
