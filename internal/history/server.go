package history

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/record"
)

// Server is the life of one fake server. Times are those of the events, in
// nanoseconds since the run started; Never where there is none.
type Server struct {
	ID      string // "flaky#2"
	Label   string
	Session string // "" where nobody told
	Launch  int
	Birth   record.Birth
	Life    int // of the host that launched it: 1 is the first
	Race    int // the same for servers that opens of one session, side by side, have launched; 0: none did

	Times

	Signals []SignalMark // all that it saw
	Faults  []FaultMark
	Lists   []record.Method // the lists that it was asked for, in the order in which it received them
	Calls   []Call          // of tools, in the order in which it received them

	LastRPC record.RPCInfo // received or answered
	Inits   int            // how many initialize and server/discover requests it received

	held  bool  // its start or a fault may keep it from reading
	reads int64 // since when it reads again
}

// Times are when something happened to a server first, or Never.
type Times struct {
	Born        int64
	Ready       int64
	Established int64 // the first initialize or server/discover that was answered, not refused; without a handshake, the first request
	Working     int64 // from when on it was seen to be used: its client has taken the answer of the handshake, or asked for more
	EOF         int64 // the first time it saw the end of stdin
	Term        int64 // the first SIGTERM it saw
	Bye         int64
	Died        int64
	Lost        int64 // its connection ended, its process did not: from here on nothing is known of it
	Broken      int64 // the first fault after which no working session can be expected of it
	// Heard is the last time at which a message came or went while it would have seen that it was to end: the host had not begun
	// with that. Where no message says so, it is when the server was born; Never without any message.
	Heard int64
}

// backlog is how long a server that reads again may take to read what has waited for it.
const backlog = int64(50 * time.Millisecond)

// CallsFor are the calls that it received for a session: all of them, where it is the session's own.
func (s *Server) CallsFor(session string) []Call {
	if s.Session == session {
		return s.Calls
	}
	var calls []Call
	for _, c := range s.Calls {
		if c.Session == session && session != "" {
			calls = append(calls, c)
		}
	}
	return calls
}

// SignalMark is a signal at the time at which it was caught.
type SignalMark struct {
	T     int64
	Text  string // "SIGTERM"
	Stdin record.StdinState
}

// Call is a call of a tool. Answered is when its result or its error was sent, or Never: then it was in flight to the end.
type Call struct {
	Tool, ID           string
	Session            string // that it names itself
	Nonce              string // of the step that asked for it
	Received, Answered int64
}

func newServer(e *record.Event) *Server {
	b := *e.Birth
	return &Server{
		ID: e.Server, Label: b.Label, Session: b.Session, Launch: b.Launch, Birth: b, held: true,
		Times: Times{
			Born: e.T, Ready: Never, Established: Never, Working: Never, EOF: Never, Term: Never, Bye: Never, Died: Never, Lost: Never,
			Broken: Never, Heard: Never,
		},
	}
}

// By says that what happened at a time had happened by another one.
func By(at, t int64) bool { return at >= 0 && at <= t }

// SharesSession says that two servers were launched for one session.
func (s *Server) SharesSession(o *Server) bool { return s.Label == o.Label && s.Session == o.Session }

// LivedAt says that it had been born by t, and not died.
func (s *Server) LivedAt(t int64) bool { return s.Born <= t && !By(s.Died, t) }

// endedInOrder says that it read the end of its stdin before any signal, and died.
func (s *Server) endedInOrder() bool {
	return s.Died != Never && s.EOF != Never && (len(s.Signals) == 0 || s.Signals[0].T > s.EOF)
}

// Alive says that the ledger holds the server for alive. A lost one is not: it
// may live or not, and its loss is a doubt of its own.
func (s *Server) Alive() bool { return s.Died == Never && s.Lost == Never }

// Silent says that it died without a word of having been told: it read no end of stdin and caught no signal.
func (s *Server) Silent() bool {
	return s.Died != Never && s.Bye == Never && s.EOF == Never && len(s.Signals) == 0
}

// Worked says that it has received a call after one time, and answered it by another.
func (s *Server) Worked(from, to int64) bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Received > from && c.Answered >= 0 && c.Answered <= to })
}

// FirstAnswer is when it answered its first call, or was born where it has answered none.
func (s *Server) FirstAnswer() int64 {
	i := slices.IndexFunc(s.Calls, func(c Call) bool { return c.Answered >= 0 })
	if i < 0 {
		return s.Born
	}
	return s.Calls[i].Answered
}

// BrokenBy says that a fault of its own had broken it by t.
func (s *Server) BrokenBy(t int64) bool { return By(s.Broken, t) }

// pidFor is the server's pid as another server has it.
func (s *Server) pidFor(other *Server) int {
	if other.Birth.Claimed != 0 && s.Birth.Claimed != 0 {
		return s.Birth.Claimed
	}
	return s.Birth.PID
}

func (s *Server) apply(e *record.Event) {
	switch e.Kind {
	case record.Ready:
		first(&s.Ready, e.T)
		s.catchUp(e.T)
	case record.RPC:
		s.rpc(e.T, *e.RPC)
	case record.Faulted:
		s.Faults = append(s.Faults, FaultMark{T: e.T, Fault: *e.Fault})
		s.held = s.held || !e.Fault.Passive && !aside[e.Fault.Do]
		if e.Fault.Breaks {
			first(&s.Broken, e.T)
		}
	case record.SawEOF:
		first(&s.EOF, e.T)
	case record.SawSignal:
		s.Signals = append(s.Signals, SignalMark{T: e.T, Text: e.Signal, Stdin: record.StdinState(e.Text)})
		if e.Signal == "SIGTERM" {
			first(&s.Term, e.T)
		}
	case record.Bye:
		first(&s.Bye, e.T)
	case record.Died:
		first(&s.Died, e.T)
	case record.Lost:
		first(&s.Lost, e.T)
	}
}

// first keeps the earliest of several times.
func first(at *int64, t int64) {
	if *at == Never {
		*at = t
	}
}

func (s *Server) rpc(t int64, m record.RPCInfo) {
	s.LastRPC = m
	s.hears(t)
	if m.Own && s.Session == "" {
		s.Session = m.Session
	}
	received := m.Phase == record.PhaseReceived
	if s.Established != Never && received && m.Method != record.MethodInitialize {
		first(&s.Working, t)
	}
	switch m.Method {
	case record.MethodInitialize, record.MethodDiscover:
		s.shakeHands(t, m)
	case record.MethodList, record.MethodResources, record.MethodPrompts:
		s.served(t, m.Phase)
		if received {
			s.Lists = append(s.Lists, m.Method)
		}
	case record.MethodCall:
		s.served(t, m.Phase)
		if received {
			s.Calls = append(s.Calls, Call{Tool: m.Tool, ID: m.ID, Session: m.Session, Nonce: m.Nonce, Received: t, Answered: Never})
		} else {
			s.answer(t, m.ID)
		}
	}
}

// hears notes a message that came or went at t. One may have waited to be read.
func (s *Server) hears(t int64) {
	first(&s.Heard, s.Born)
	if late := s.catchUp(t); !late && s.EOF == Never && len(s.Signals) == 0 {
		s.Heard = t
	}
}

func (s *Server) shakeHands(t int64, m record.RPCInfo) {
	switch m.Phase {
	case record.PhaseReceived:
		s.Inits++
	case record.PhaseAnswered:
		first(&s.Established, t)
		if m.Method == record.MethodDiscover { // which no word of the client's follows
			first(&s.Working, t)
		}
	}
}

// aside are the actions during which a server goes on reading.
var aside = map[record.Action]bool{
	"reject": true, "garbage": true, "wrong-version": true, record.DoUnsupported: true, "close-stdout": true, "progress": true,
	"helper": true, "zombies": true, record.DoLock: true, "kill-siblings": true, record.DoWatchdog: true, "ignore-term": true,
}

// catchUp reports whether a server that does something at t may only be reading what has waited for it.
func (s *Server) catchUp(t int64) bool {
	if s.held {
		s.held, s.reads = false, t
	}
	return t-s.reads < backlog
}

// served says that a request was answered. One that is answered without a handshake is of an era that has none: where the host asked
// another process of the same command line for the versions, nothing else establishes this one.
func (s *Server) served(t int64, phase record.Phase) {
	if phase == record.PhaseAnswered && s.Established == Never {
		s.Established, s.Working = t, t
	}
}

// answer marks the oldest open call with an id: ids of one connection are not used again while they are open.
func (s *Server) answer(t int64, id string) {
	for i := range s.Calls {
		if c := &s.Calls[i]; c.ID == id && c.Answered == Never {
			c.Answered = t
			return
		}
	}
}

// CountPoint says that from T on, Live servers of Label are alive.
type CountPoint struct {
	T     int64
	Label string
	Live  int
}

func (h *History) born(e *record.Event) {
	s := newServer(e)
	s.Life = h.lifeOf(e.Birth)
	h.join(s)
	h.servers = append(h.servers, s)
	h.byID[s.ID], h.byIdentity[s.Birth.Identity] = s, s
	if s.Birth.Claimed == 0 {
		h.parts.byPPID[s.Birth.PPID] = append(h.parts.byPPID[s.Birth.PPID], s)
	}
	h.count(e.T, s.Label, +1)
}

func (h *History) count(t int64, label string, by int) {
	h.live[label] += by
	h.liveAll += by
	h.peakLive = max(h.peakLive, h.liveAll)
	h.counts = append(h.counts, CountPoint{T: t, Label: label, Live: h.live[label]})
}

// server applies what a server says of itself, or the ledger of it.
func (h *History) server(e *record.Event) {
	s := h.byID[e.Server]
	was, whose := s.Alive(), s.Session
	s.apply(e)
	if s.Session != whose {
		h.join(s)
	}
	h.strike(s, e)
	if was && !s.Alive() {
		h.count(e.T, s.Label, -1)
	}
}

// Servers are all servers, the oldest first. The slice is the caller's.
func (h *History) Servers() []*Server { return slices.Clone(h.servers) }

// Server is the server with an id ("flaky#2"), or nil.
func (h *History) Server(id string) *Server { return h.byID[id] }

// ServerOf is the server that a process is, or nil. Where the process could not be identified at birth its pid must do.
func (h *History) ServerOf(id record.Identity) *Server {
	if s := h.byIdentity[id]; s != nil {
		return s
	}
	return h.byIdentity[record.Identity{PID: id.PID}]
}

// Alive are the servers that live now, the oldest first. The slice is the caller's.
func (h *History) Alive() []*Server {
	var alive []*Server
	for _, s := range h.servers {
		if s.Alive() {
			alive = append(alive, s)
		}
	}
	return alive
}

// Outlasted says that the bench had to end the server, or never saw it die.
func (h *History) Outlasted(s *Server) bool {
	_, swept := h.swept[s.Birth.Identity]
	return swept || s.Alive()
}

// PeakLive is the greatest number of servers that lived at one time.
func (h *History) PeakLive() int { return h.peakLive }

// Counts are the changes in the number of live servers of each label, in the order of time.
func (h *History) Counts() []CountPoint { return h.counts }

// KeepsWaiting says that a server does something else than to answer its
// handshake. Without a fault a handshake is over before anybody could look.
func (s *Server) KeepsWaiting() bool {
	return s.Established == Never && s.hasFaultOn(record.OnInitialize, record.OnDiscover)
}

// IsHeldUp says that a fault may have kept a client waiting before its first call, in the handshake or in the list of tools, also if it has
// got past it by now.
func (s *Server) IsHeldUp() bool {
	return s.hasFaultOn(record.OnInitialize, record.OnDiscover, record.OnList)
}

func (s *Server) hasFaultOn(moments ...record.Moment) bool {
	return slices.ContainsFunc(s.Faults, func(f FaultMark) bool { return slices.Contains(moments, f.On) })
}

// CountCalls is how many calls of a tool the servers of a session have received.
func (h *History) CountCalls(session, tool string) int {
	n := 0
	for _, s := range h.servers {
		for _, c := range s.CallsFor(session) {
			if c.Tool == tool {
				n++
			}
		}
	}
	return n
}

// CountLists is how many requests of a list the servers of a session have received.
func (h *History) CountLists(session string, method record.Method) int {
	n := 0
	for _, s := range h.servers {
		for _, m := range s.Lists {
			if m == method && s.Session == session {
				n++
			}
		}
	}
	return n
}
