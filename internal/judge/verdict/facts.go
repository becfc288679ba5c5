package verdict

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

const never = -1

// facts is a run, digested.
type facts struct {
	header    record.Header
	truncated string
	events    []record.Event // the sound ones
	unsound   int            // how many were not
	end       *record.End
	lastT     int64

	lives    *history.History
	servers  []*history.Server // in the order of their births
	byID     map[record.Identity]*history.Server
	sessions map[sessionKey]*history.Session

	hosts       []*host // the lives of the host; at least one
	keeperAt    int64   // when the keeper was lost
	steps       []*step
	checkpoints []*checkpoint
	cycles      []*cycle
	zombieSince map[record.Identity]int64 // first census that showed it as a zombie
	swept       map[record.Identity]record.Process
	wrappers    map[int]bool              // pids whose command line holds that of a server
	controls    map[string]record.Control // by label
	bystanders  []*record.Event           // those that somebody ended

	breaches []*breach
	harmed   map[sessionKey]int64 // when L3 found the session harmed
	blamed   map[int]bool         // numbers of the steps whose failure a law explains
	doubts   []Doubt
}

type sessionKey struct{ label, name string }

// step is a step with its times.
type step struct {
	record.Step
	begun, ended int64 // ended: never
	skipped      bool
}

// failed says that it ended, and not as a step that works does.
func (s *step) failed() bool { return s.ended >= 0 && !s.skipped && !s.OK }

// mustWork says that the scenario expects the step to succeed.
func (s *step) mustWork() bool { return s.Expect == "" || s.Expect == record.ExpectOK }

// gather digests a run.
func gather(run *record.Run) *facts {
	f := &facts{
		header: run.Played(), truncated: run.Truncated,
		byID: map[record.Identity]*history.Server{}, sessions: map[sessionKey]*history.Session{},
		zombieSince: map[record.Identity]int64{}, swept: map[record.Identity]record.Process{}, wrappers: map[int]bool{},
		controls: map[string]record.Control{}, harmed: map[sessionKey]int64{}, blamed: map[int]bool{},
		hosts: []*host{newHost(1)}, keeperAt: never,
	}
	f.sift(run.Events)
	for i := range f.events {
		f.note(i)
	}
	f.replay()
	f.servers = f.lives.Servers()
	for _, s := range f.servers {
		f.byID[s.Birth.Identity] = s
	}
	for _, s := range f.lives.Sessions() {
		f.sessions[sessionKey{s.Label, s.Name}] = s
	}
	return f
}

// note takes in what an event says of anything but servers and sessions.
func (f *facts) note(i int) {
	switch e := &f.events[i]; e.Kind {
	case record.HostStarted:
		f.noteStart(e)
	case record.HostExited:
		f.last().exitAt, f.last().exit = e.T, *e.Exit
	case record.StepBegun, record.StepEnded, record.StepSkipped:
		f.noteStep(e)
	case record.CheckpointBegun, record.CheckpointEnded, record.EvidenceTaken:
		f.noteCheckpoint(i)
	case record.CensusTaken:
		f.noteCensus(i)
		f.noteCycle(e)
	case record.Swept:
		for _, p := range e.Census.Processes {
			f.swept[p.Identity] = p
		}
	case record.BystanderSeen:
		if e.Exit != nil {
			f.bystanders = append(f.bystanders, e)
		}
	case record.Controlled:
		f.controls[e.Control.Label] = *e.Control
	case record.Doubted:
		if e.Doubt.Code == record.DoubtKeeperLost && f.keeperAt < 0 {
			f.keeperAt = e.T
		}
	case record.Ended:
		f.end = e.End
	}
}

func (f *facts) noteStep(e *record.Event) {
	if e.Kind == record.StepBegun {
		f.steps = append(f.steps, &step{Step: *e.Step, begun: e.T, ended: never})
		if h := f.last(); h.askedAt < 0 && e.Step.Op.EndsHost() {
			h.askedAt, h.askedOp = e.T, e.Step.Op
		}
		return
	}
	for _, s := range slices.Backward(f.steps) {
		if s.N == e.Step.N && s.ended < 0 {
			s.Step, s.ended, s.skipped = *e.Step, e.T, e.Kind == record.StepSkipped
			return
		}
	}
}

// isCommand says that the host's sessions are not known to the bench.
func (f *facts) isCommand() bool { return f.header.Host.SessionsUnknown() }

// server is the one that a process is, or nil. Where the process could not be
// identified at birth its pid must do.
func (f *facts) server(id record.Identity) *history.Server {
	if s := f.byID[id]; s != nil {
		return s
	}
	return f.byID[record.Identity{PID: id.PID}]
}

// left counts what outlived the host: what the last look saw, and what the
// keeper swept. A sweep that took the host as well shows nothing: the bench
// ended it all before its time.
func (f *facts) left() int {
	left := map[record.Identity]bool{}
	for _, cp := range slices.Backward(f.checkpoints) {
		if census := cmp.Or(cp.confirm, cp.settled); cp.HostGone && census != nil {
			for _, p := range census.Processes {
				left[p.Identity] = p.State != record.StateZombie
			}
			break
		}
	}
	if _, all := f.swept[f.last().id]; !all {
		for id, p := range f.swept {
			left[id] = left[id] || p.State != record.StateZombie
		}
	}
	n := 0
	for _, is := range left {
		if is {
			n++
		}
	}
	return n
}

// established says that the server had answered a handshake or a call by t. A
// modern client need not shake hands.
func established(s *history.Server, t int64) bool {
	if s.Established >= 0 && s.Established <= t {
		return true
	}
	return slices.ContainsFunc(s.Calls, func(c history.Call) bool { return c.Answered >= 0 && c.Answered <= t })
}

// brokenBy says that a fault had made the server useless by t.
func brokenBy(s *history.Server, t int64) bool { return s.Broken >= 0 && s.Broken <= t }

// breakingFault is the fault that made it useless.
func breakingFault(s *history.Server) *record.Fault {
	for i := range s.Faults {
		if s.Faults[i].Breaks {
			return &s.Faults[i].Fault
		}
	}
	return nil
}

// brokenBefore says that s was broken when next was launched. The words of two
// servers are read one by one: on a busy machine that of an ordered fault can
// stand after the birth that it has led to. What was launched after the bench
// had set out to break a server that worked was launched for that.
func (f *facts) brokenBefore(s, next *history.Server) bool {
	if brokenBy(s, next.Born) {
		return true
	}
	at := slices.IndexFunc(s.Faults, func(m history.FaultMark) bool { return m.Breaks && m.On == record.OnOrder })
	if at < 0 || s.Established < 0 || next.Born < s.Established {
		return false
	}
	for _, st := range slices.Backward(f.steps) {
		if st.Op == record.OpBreak && st.Label == s.Label && st.begun <= s.Faults[at].T {
			return st.begun <= next.Born && (st.ended < 0 || st.ended >= s.Faults[at].T)
		}
	}
	return false
}
