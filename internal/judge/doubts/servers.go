package doubts

import (
	"slices"

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
			f.doubt(record.DoubtUnasked,
				"%s was launched at %s for session %s, which was open and had %s, although nobody had asked the host for anything. "+
					"If the host does so on purpose, declare it in its profile (renewal, spare)",
				prose.Plain(s.ID), prose.Clock(s.Born), prose.Plain(s.Session), prose.Plain(other.ID))
		}
	}
}

// doubtConnections says what isConnection has met.
func (f *search) doubtConnections() {
	declare := "Its host file can declare it (launches: for one connection; spare: for sessions of its own)"
	if f.Header.Host.Kind == record.KindDriver {
		declare = "The profile in its hello can declare it (resident, spare)"
	}
	if f.Connections > 0 {
		f.doubt(record.DoubtConnections, "the host used several servers of one name side by side, and it is unknown whether on purpose. %s",
			declare)
	}
}

// doubtDaemons says which processes went on in the background.
func (f *search) doubtDaemons() {
	for _, id := range f.Daemons {
		f.doubt(record.DoubtDaemon,
			"%s continued in the background with its servers after the process of the host had ended, so it was not asked to end",
			prose.Process(nil, id, "the host"))
	}
}

// unlisted are the faults of servers that start processes which have no line on the ledger.
var unlisted = []record.Action{record.DoLauncher, record.DoContainer, "helper"}

// doubtOrphans says that what servers have started may be there unseen: where no subreaper can be had, a process that is orphaned between
// two looks has left the census, and nothing else shows it.
func (f *search) doubtOrphans() {
	if f.Header.Witness.Subreaper || f.Header.System.OS == "linux" { // there it is a host in the caller's process, whose runs have a mark
		return
	}
	for _, planned := range f.Faults(f.Header.Plan) {
		if planned.Fired > 0 && slices.Contains(unlisted, planned.Do) {
			f.doubt(record.DoubtOrphans,
				"a server of %s had a %s. On this system what is orphaned leaves the sight of the bench: "+
					"processes without a line on the ledger may be left unseen",
				prose.Plain(planned.Label), prose.Plain(planned.Do))
			return
		}
	}
}

// doubtTwins says which twins ended by themselves: they show nothing then.
func (f *search) doubtTwins() {
	for _, e := range f.Bystanders() {
		if e.Text != "" && e.Exit.Signal == "" {
			f.doubt(record.DoubtTwinEnded,
				"the process that leakbench had put beside the host in the place of %s ended by itself (status %d) at %s, "+
					"so it is unknown whether the host would have ended it",
				prose.Plain(e.Server), e.Exit.Code, prose.Clock(e.T))
		}
	}
}
