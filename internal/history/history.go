// Package history is the one fold of a run's events: its servers, sessions, hosts, steps, checkpoints, censuses and
// faults, each with its times. It is a pure function of the events, shared by the runner (is it quiet yet?), the
// verdict and the reports, so that they can't disagree on what happened. It says what happened, and judges nothing.
package history

import (
	"github.com/leakbench/leakbench/internal/record"
)

// Never is the time of what did not happen.
const Never int64 = -1

// History is what the events of a run tell, as far as they have been applied. The zero value is not usable. It is not safe for
// concurrent use. What its methods return is the history's own, and not to be changed, unless they say otherwise.
type History struct {
	folded
	population
	agenda
	succession
	parts attributions
	looks looks

	steps       []*Step
	open        map[int][]*Step // by number
	checkpoints []*Checkpoint

	hello      *record.Hello
	controls   map[string]record.Control
	swept      map[record.Identity]record.Process
	late       []Late
	bystanders []*record.Event
	doubts     []*record.Event
	end        *record.End
}

// folded is what was read of the events.
type folded struct {
	run     string // the token in the command lines of the run's servers
	whole   bool   // see Of
	events  []record.Event
	n       int // of the events that were applied
	dropped int
	last    int64
}

// population are the servers.
type population struct {
	servers    []*Server // in the order of their births
	byID       map[string]*Server
	byIdentity map[record.Identity]*Server
	live       map[string]int // by label
	liveAll    int
	peakLive   int
	counts     []CountPoint
}

// agenda are the sessions.
type agenda struct {
	sessions []*Session // in the order of their first events
	byName   map[sessionKey]*Session
	opening  map[sessionKey]*race // where an open is under way
	races    int
}

// succession are the lives of the host, and what each has left to the next.
type succession struct {
	hosts      []*Host // at least one, which may not have started
	left       map[record.Identity]int
	leftPIDs   map[int]int
	leftGroups map[int]int // process groups and sessions
	handed     int         // how many lives have ended so that another one would begin
}

// New is the history of a run before its first event. It keeps no censuses, so
// that it does not grow with the length of a run that is under way.
func New(run string) *History {
	return &History{
		folded:     folded{run: run},
		population: population{byID: map[string]*Server{}, byIdentity: map[record.Identity]*Server{}, live: map[string]int{}},
		agenda:     agenda{byName: map[sessionKey]*Session{}, opening: map[sessionKey]*race{}},
		succession: succession{
			hosts: []*Host{newHost(1)}, left: map[record.Identity]int{}, leftPIDs: map[int]int{}, leftGroups: map[int]int{},
		},
		parts: newAttributions(), open: map[int][]*Step{},
		controls: map[string]record.Control{}, swept: map[record.Identity]record.Process{},
	}
}

// Of is the history of a whole run, with its events and with what its censuses show. It refers to the run. It ends
// before the first event that is not valid: what follows may mean something else than it says.
func Of(run *record.Run) *History {
	h := New(run.Header.ID)
	h.whole, h.events = true, run.Events
	h.looks.zombieSince, h.looks.wrappers = map[record.Identity]int64{}, map[int]bool{}
	for i := range run.Events {
		if !h.apply(&run.Events[i]) {
			h.events, h.dropped = run.Events[:i], len(run.Events)-i
			break
		}
	}
	return h
}

// Apply folds one more event. It drops one that is not valid.
func (h *History) Apply(e record.Event) { h.apply(&e) }

func (h *History) apply(e *record.Event) (ok bool) {
	if !h.valid(e) {
		h.dropped++
		return false
	}
	h.last = e.T
	h.note(e)
	h.n++
	return true
}

// valid says that an event carries what its kind must carry, is not earlier than the one before it, and speaks of a
// server that was born; and that a server is born once.
func (h *History) valid(e *record.Event) bool {
	if e.T < h.last {
		return false
	}
	if e.Kind == record.Reaped || e.Kind == record.HostReady {
		return true // nothing is missed where they are empty
	}
	if e.Check() != nil { // an unknown kind may have been a death
		return false
	}
	if !e.Kind.OfServer() {
		return true
	}
	return (h.byID[e.Server] == nil) == (e.Kind == record.Born)
}

func (h *History) note(e *record.Event) {
	switch e.Kind {
	case record.Born:
		h.born(e)
	case record.SessionChanged:
		h.session(e)
	case record.StepBegun, record.StepEnded, record.StepSkipped:
		h.race(e)
		h.step(e)
	case record.HostStarted, record.HostExited:
		h.host(e)
	case record.CheckpointBegun, record.CheckpointEnded, record.EvidenceTaken:
		h.checkpoint(e)
	case record.CensusTaken:
		h.census(e)
	case record.Swept:
		h.sweep(e)
	case record.Reaped: // by the keeper: it says nothing of what the host did while it lived
		h.unseen(e.T, e.Process)
	default:
		if e.Kind.OfServer() {
			h.server(e)
		} else {
			h.remark(e)
		}
	}
}

// sweep notes what the keeper has killed after the host was gone.
func (h *History) sweep(e *record.Event) {
	for i := range e.Census.Processes {
		p := &e.Census.Processes[i]
		h.swept[p.Identity] = *p
		if p.State != record.StateZombie {
			h.unseen(e.T, p)
		}
	}
}

// remark notes what is said once. What a server under test wrote to stdout changes nothing.
func (h *History) remark(e *record.Event) {
	switch e.Kind {
	case record.HostReady:
		h.hello = e.Hello
	case record.Controlled:
		h.controls[e.Control.Label] = *e.Control
	case record.BystanderSeen:
		if e.Exit != nil {
			h.bystanders = append(h.bystanders, e)
		}
	case record.Doubted:
		h.doubts = append(h.doubts, e)
	case record.Ended:
		h.end = e.End
	}
}

// Events are the valid events of a whole run.
func (h *History) Events() []record.Event { return h.events }

// Dropped is how many events there are from the first that is not valid: none of them is looked at.
func (h *History) Dropped() int { return h.dropped }

// Last is the time of the last event.
func (h *History) Last() int64 { return h.last }

// Hello is what the latest life of the host that came up has said of itself, or nil.
func (h *History) Hello() *record.Hello { return h.hello }

// Controls are the controls of the servers, by label.
func (h *History) Controls() map[string]record.Control { return h.controls }

// Swept is what the keeper had to kill after the host was gone.
func (h *History) Swept() map[record.Identity]record.Process { return h.swept }

// Bystanders are the events of those bystanders that somebody ended.
func (h *History) Bystanders() []*record.Event { return h.bystanders }

// Doubts are the events of what the bench itself could not do or see.
func (h *History) Doubts() []*record.Event { return h.doubts }

// End is how the run ended, or nil.
func (h *History) End() *record.End { return h.end }

// Done says that the run was played to its end.
func (h *History) Done() bool { return h.end != nil && h.end.Reason == record.EndDone }
