// Package history folds the events of a run into the lives of its servers and
// sessions: who was born when, what it saw, and when it died. It is a pure
// function of the events, shared by the runner (is it quiet yet?), the verdict
// and the reports, so that the three can't disagree on who was alive.
package history

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Never is the time of what did not happen.
const Never int64 = -1

// Lives are the servers and sessions of a run, as far as its events tell.
// The zero value is not usable. It is not safe for concurrent use.
type Lives struct {
	servers  []*Server // in the order of their births
	byID     map[string]*Server
	sessions []*Session // in the order of their first events
	byName   map[sessionKey]*Session
	opening  map[sessionKey]*race // where an open is under way
	races    int
	hosts    []HostLife
	left     map[record.Identity]int // by which life of the host
	leftPIDs map[int]int
	handed   int // how many lives have ended so that another one would begin

	live     map[string]int // by label
	liveAll  int
	peakLive int
	counts   []CountPoint
}

type sessionKey struct{ label, name string }

// Session is a session of the host, and all that it was entitled to.
type Session struct {
	Name, Label string
	State       record.SessionState // the latest
	Changes     []SessionChange
}

// SessionChange is a change of a session at a time.
type SessionChange struct {
	T int64
	record.Session
}

// CountPoint says that from T on, Live servers of Label are alive.
type CountPoint struct {
	T     int64
	Label string
	Live  int
}

// HostLife is one life of the host: it may be restarted.
type HostLife struct {
	record.Identity
	Started int64
	Gone    int64 // when it was reaped, or Never
}

// New is the state before the first event.
func New() *Lives {
	return &Lives{
		byID: map[string]*Server{}, byName: map[sessionKey]*Session{}, opening: map[sessionKey]*race{},
		left: map[record.Identity]int{}, leftPIDs: map[int]int{}, live: map[string]int{},
	}
}

// Of folds all events.
func Of(events []record.Event) *Lives {
	l := New()
	for _, e := range events {
		l.Apply(e)
	}
	return l
}

// Apply folds one more event. Events of a server whose birth is not in the
// file (a run with a gap) are left out.
func (l *Lives) Apply(e record.Event) {
	switch e.Kind {
	case record.Born:
		l.born(e)
	case record.SessionChanged:
		l.session(e)
	case record.StepBegun, record.StepEnded, record.StepSkipped:
		l.step(e)
	case record.HostStarted, record.HostExited:
		l.host(e)
	case record.CensusTaken:
		l.handOver(e)
	default:
		if s := l.byID[e.Server]; s != nil {
			was, whose := s.Alive(), s.Session
			s.apply(e)
			if s.Session != whose {
				l.join(s)
			}
			l.strike(s, e)
			if was && !s.Alive() {
				l.count(e.T, s.Label, -1)
			}
		}
	}
}

func (l *Lives) host(e record.Event) {
	if e.Kind == record.HostStarted {
		h := HostLife{Started: e.T, Gone: Never}
		if e.Process != nil {
			h.Identity = e.Process.Identity
		}
		l.hosts = append(l.hosts, h)
		return
	}
	if n := len(l.hosts); n > 0 {
		first(&l.hosts[n-1].Gone, e.T)
	}
}

// handOver notes what a life of the host has left to the next one.
func (l *Lives) handOver(e record.Event) {
	if e.Census == nil || e.Census.Role != record.CensusHandover {
		return
	}
	l.handed = len(l.hosts)
	for _, p := range e.Census.Processes {
		if _, known := l.left[p.Identity]; !known && p.State != record.StateZombie {
			l.left[p.Identity], l.leftPIDs[p.PID] = len(l.hosts), len(l.hosts)
		}
	}
}

// lifeOf is the life of the host that a birth belongs to. What was launched
// before the host ended may report after that, and so may the server behind a
// launcher that was left. And a host may have launched its first server before
// it is written down that it was started.
func (l *Lives) lifeOf(b *record.Birth) int {
	if n, known := l.left[b.Identity]; known {
		return n
	}
	if n, known := l.leftPIDs[b.PPID]; known {
		return n
	}
	if len(l.hosts) == l.handed {
		return l.handed + 1
	}
	return len(l.hosts)
}

// hearsay is how much later than its effect the word of another server may
// come: each has a connection of its own.
const hearsay = int64(time.Second)

// strike marks those whom a fault of another server is about to hit, or has
// just hit: it was announced before it was committed.
func (l *Lives) strike(by *Server, e record.Event) {
	if e.Kind != record.Faulted || e.Fault == nil {
		return
	}
	for _, s := range l.servers {
		if s == by || !slices.Contains(e.Fault.Targets, s.pidFor(by)) {
			continue
		}
		at := e.T
		for _, m := range s.Signals {
			if m.T >= e.T-hearsay {
				at = min(at, m.T)
			}
		}
		if s.Died != Never {
			at = min(at, s.Died)
		}
		if at < e.T-hearsay {
			continue
		}
		s.Faults = append(s.Faults, FaultMark{T: at, Fault: record.Fault{Do: e.Fault.Do, Detail: "by " + by.ID, Breaks: true}})
		if s.Broken == Never || s.Broken > at {
			s.Broken = at
		}
	}
}

func (l *Lives) born(e record.Event) {
	if e.Birth == nil || l.byID[e.Server] != nil {
		return
	}
	s := newServer(e)
	s.Life = l.lifeOf(e.Birth)
	l.join(s)
	l.servers = append(l.servers, s)
	l.byID[s.ID] = s
	l.count(e.T, s.Label, +1)
}

func (l *Lives) count(t int64, label string, by int) {
	l.live[label] += by
	l.liveAll += by
	l.peakLive = max(l.peakLive, l.liveAll)
	l.counts = append(l.counts, CountPoint{T: t, Label: label, Live: l.live[label]})
}

func (l *Lives) session(e record.Event) {
	if e.Session == nil {
		return
	}
	key := sessionKey{e.Session.Label, e.Session.Name}
	s := l.byName[key]
	if s == nil {
		s = &Session{Name: key.name, Label: key.label}
		l.byName[key] = s
		l.sessions = append(l.sessions, s)
	}
	s.State = e.Session.State
	s.Changes = append(s.Changes, SessionChange{T: e.T, Session: *e.Session})
}

// Servers are all servers, the oldest first.
func (l *Lives) Servers() []*Server { return slices.Clone(l.servers) }

// Server is the server with an id ("flaky#2"), or nil.
func (l *Lives) Server(id string) *Server { return l.byID[id] }

// Sessions are all sessions, in the order in which they were first heard of.
func (l *Lives) Sessions() []*Session { return slices.Clone(l.sessions) }

// Alive are the servers that live now, the oldest first.
func (l *Lives) Alive() []*Server {
	var alive []*Server
	for _, s := range l.servers {
		if s.Alive() {
			alive = append(alive, s)
		}
	}
	return alive
}

// Hosts are the lives of the host, the first one first.
func (l *Lives) Hosts() []HostLife { return slices.Clone(l.hosts) }

// LeftBy is the life of the host that had left a process when the next one was
// started, from 1; 0 says that none had.
func (l *Lives) LeftBy(id record.Identity) int { return l.left[id] }

// PeakLive is the greatest number of servers that lived at one time.
func (l *Lives) PeakLive() int { return l.peakLive }

// Counts are the changes in the number of live servers of each label, in the
// order of time.
func (l *Lives) Counts() []CountPoint { return slices.Clone(l.counts) }
