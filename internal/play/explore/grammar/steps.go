package grammar

import (
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// state is what is known of a session at a place in the steps.
type state int

const (
	fresh  state = iota // nobody has opened it
	sure                // it is open, and its server works
	unsure              // it may be open
	ended               // it was closed, or could not be opened
)

type session struct {
	name   string
	server *server
	state  state
	opens  int // how often the steps launch a server for it
	launch int // its server has at least this number
	// shaken says that its server may have broken while it is open. A host need not notice, so that there is nothing to hold against it.
	shaken bool
}

// mayBeOpen are the sessions that a reload may move, and sure those that can be used.
func (s *session) mayBeOpen() bool { return s.state == sure || s.state == unsure }

// move makes a few steps, none where it has no use for what there is.
type move struct {
	weight int
	op     record.Op // which the host must offer
	make   func(*maker) []scenarios.Step
}

var moves = []move{
	{30, record.OpOpen, (*maker).openMove},
	{20, record.OpCall, (*maker).callMove},
	{10, record.OpList, (*maker).listMove},
	{12, record.OpClose, (*maker).closeMove},
	{6, record.OpForget, (*maker).closeMove},
	{8, record.OpReload, (*maker).reloadMove},
	{12, record.OpTick, (*maker).tickMove},
	{14, record.OpBreak, (*maker).breakMove},
	{8, record.OpCheckpoint, (*maker).checkpointMove},
	{16, record.OpParallel, (*maker).besideMove},
	{4, record.OpRestart, (*maker).restartMove},
	{4, record.OpRepeat, (*maker).repeatMove},
	{2, record.OpRecycle, (*maker).recycleMove},
}

func (m *maker) makeSessions() {
	for _, s := range m.servers {
		more := m.weighted(70, 30)
		if m.shared {
			more = 1 + m.IntN(2)
		}
		for n := range 1 + more {
			m.sessions = append(m.sessions, &session{name: fmt.Sprintf("%s-%d", s.Label, n+1), server: s})
		}
	}
}

// weights are those of the moves, by what the host can and what is to be tried.
func (m *maker) weights() []int {
	weights, beside := make([]int, len(moves)), m.Want.State == InCall || m.Want.State == Connecting
	for i, v := range moves {
		weights[i] = v.weight
		switch {
		case !m.can(v.op):
			weights[i] = 0
		case v.op == m.Want.Op && !beside, v.op == record.OpParallel && beside, v.op == record.OpTick && m.Want.Op == record.OpJob:
			weights[i] += wanted
		}
	}
	return weights
}

func (m *maker) makeSteps() (steps []scenarios.Step) {
	m.makeSessions()
	weights, over := m.weights(), false
	if m.Calm && m.can(record.OpRepeat) {
		steps = m.calmly()
	}
	for range 2 + m.IntN(maxMoves-1) {
		steps = append(steps, moves[m.weighted(weights...)].make(m)...)
	}
	if !m.byItself() && len(labelsIn(steps)) == 0 {
		steps = append(steps, m.begin()...)
	}
	if m.chance(30) || m.Want.State == InCall && isEnd(m.Want.Op) {
		var more []scenarios.Step
		more, over = m.endBeside()
		steps = append(steps, more...)
	}
	if over {
		return steps
	}
	if m.chance(70) {
		steps = append(steps, m.checkpointMove()...)
	}
	if op := m.ending(); op != "" {
		steps = append(steps, scenarios.Step{Op: op})
	}
	return steps
}

// calmly begins with what only shows where nothing goes wrong.
func (m *maker) calmly() (steps []scenarios.Step) {
	if !m.shared {
		if steps = m.repeatMove(); m.can(record.OpRecycle) && m.chance(40) {
			steps = append(steps, m.open(m.sessions[0])...)
			steps = append(steps, m.recycleMove()...)
		}
		return append(steps, m.lose()...)
	}
	for _, s := range m.sessions {
		if s.server == m.servers[0] {
			steps = append(steps, m.open(s)...)
		}
	}
	for _, s := range m.sessions {
		if isSure(s) {
			steps = append(steps, scenarios.Step{Op: record.OpCall, Session: s.name})
		}
	}
	return append(steps, m.checkpointMove()...)
}

func isEnd(op record.Op) bool {
	return op == record.OpStop || op == record.OpTerm || op == record.OpKill
}

// wanted is how much more often than others a move is made that the scenario is to try.
const wanted = 60

// begin is the least that a host can be asked.
func (m *maker) begin() []scenarios.Step {
	if m.Can(record.OpOpen) {
		return m.open(m.sessions[0])
	}
	return m.tickMove()
}

// can also knows what steps of the bench's own are good for.
func (m *maker) can(op record.Op) bool {
	switch op {
	case record.OpRecycle: // a server that others use, too, stays when a session is closed
		return m.Recycles && m.Can(op) && m.Can(record.OpClose) && !m.Loose
	case record.OpParallel, record.OpRepeat:
		return m.Can(record.OpOpen)
	}
	return m.Can(op)
}

// ending is how the host ends, "" where the bench ends it.
func (m *maker) ending() record.Op {
	op := of(m, "", "", record.OpStop, record.OpTerm, record.OpKill, record.OpKill)
	if isEnd(m.Want.Op) {
		op = m.Want.Op
	}
	if !m.Can(op) {
		return ""
	}
	return op
}

// some is one of the sessions that are so, or nil.
func (m *maker) some(is func(*session) bool) *session {
	var all []*session
	for _, s := range m.sessions {
		if is(s) {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return of(m, all...)
}

func isSure(s *session) bool { return s.state == sure }

func millis(n int) record.Duration { return record.Duration(time.Duration(n) * time.Millisecond) }

// openMove opens a session, one in the state that is to be tried if there is one.
func (m *maker) openMove() []scenarios.Step {
	if s := m.some(func(s *session) bool { return m.wants(record.OpOpen, stateOf(s)) }); s != nil {
		return m.open(s)
	}
	return m.open(of(m, m.sessions...))
}

// stateOf is the state of a session as far as it is certain.
func stateOf(s *session) State {
	return map[state]State{fresh: New, sure: Open, ended: Ended}[s.state]
}

func (m *maker) open(s *session) []scenarios.Step {
	step := scenarios.Step{Op: record.OpOpen, Session: s.name, Label: s.server.Label}
	if s.server.holds(true) && m.Can(record.OpCancel) && (m.chance(50) || m.Want.Op == record.OpCancel) {
		step.Cancel, step.Expect = true, record.ExpectFail
		m.launched(s, 0)
		s.state = ended
		return []scenarios.Step{step}
	}
	must := s.server.opens()
	if s.shaken = !must; must && !m.chance(8) {
		s.state = sure
	} else {
		const longest = 1000
		limit := of(m, 200, 500, longest)
		step.Timeout, step.Expect = millis(limit), record.ExpectAny
		switch {
		case must:
			step.Timeout = millis(of(m, 5, 50, 2000))
		case limit == longest && s.server.hangs() && m.Can(record.OpCancel): // until the host itself gives up, if it does
			step.Timeout, step.Patient, m.patient = 0, true, true
		}
		s.state, s.server.exact = unsure, false
	}
	m.launched(s, step.Timeout)
	return []scenarios.Step{step}
}

// bornBy is by when a server that is asked for has been born, also on a busy machine.
const bornBy = record.Duration(500 * time.Millisecond)

// launched notes that an open was asked for. One that is given up earlier may have come to no server, and one before a gateway may get a
// server that is there: the next one has the number then. Servers of some scripts end the others of their label.
func (m *maker) launched(s *session, timeout record.Duration) {
	s.opens++
	s.launch = s.server.launches + 1
	if (timeout == 0 || timeout >= bornBy) && !m.Loose {
		s.server.launches++
	}
	for _, f := range s.server.Script.Faults {
		if f.Do == "kill-siblings" {
			m.unsettle(s.server)
		}
	}
}

// unsettle makes nothing certain of the sessions of a server.
func (m *maker) unsettle(v *server) {
	v.exact = false
	for _, s := range m.sessions {
		if s.server == v && s.state == sure {
			s.state, s.shaken = unsure, true
		}
	}
}

func (m *maker) callMove() []scenarios.Step {
	s := m.some((*session).mayBeOpen)
	if s == nil {
		return m.openMove()
	}
	return []scenarios.Step{m.call(s)}
}

const forEver = int64(60_000) // ms

func (m *maker) call(s *session) scenarios.Step {
	step := scenarios.Step{Op: record.OpCall, Session: s.name}
	if !isSure(s) || !s.server.answers(s.launch) {
		step.Tool = of(m, "", "", "sleep")
		step.Timeout, step.Expect = millis(of(m, 100, 300, 1000)), record.ExpectAny
		step.Args = m.args(step.Tool)
		s.state, s.shaken = unsure, true
		return step
	}
	switch m.weighted(50, 10, 15, 10, 10, 5) {
	case 1:
		step.Tool = "whoami"
	case 2:
		step.Tool, step.Args = "sleep", map[string]any{"ms": int64(1 + m.IntN(200))}
	case 3:
		step.Tool, step.Args = "sleep", map[string]any{"ms": forEver}
		step.Timeout, step.Expect = millis(of(m, 50, 300)), record.ExpectFail
		if m.Can(record.OpCancel) && m.chance(60) { // until the host itself gives up, or has shown that it does not
			step.Timeout, step.Patient, m.patient = 0, true, true
			s.state, s.shaken = unsure, true
		}
	case 4:
		if m.Can(record.OpCancel) {
			step.Tool, step.Args = "sleep", map[string]any{"ms": forEver}
			step.Cancel, step.Twice, step.Expect = true, m.chance(30), record.ExpectFail
		}
	case 5:
		step.Args = pad()
	}
	return step
}

// args are those of a call that may fail; some fill more than a pipe holds.
func (m *maker) args(tool string) map[string]any {
	switch {
	case tool == "sleep":
		return map[string]any{"ms": int64(1 + m.IntN(400))}
	case m.chance(10):
		return pad()
	}
	return nil
}

func (m *maker) closeMove() []scenarios.Step {
	s := m.some((*session).mayBeOpen)
	if s == nil {
		return m.openMove()
	}
	return []scenarios.Step{m.close(s)}
}

func (m *maker) close(s *session) scenarios.Step {
	step := scenarios.Step{Op: record.OpClose, Session: s.name}
	if m.Can(record.OpForget) && (m.chance(30) || m.Want.Op == record.OpForget) && m.Want.Op != record.OpClose {
		step.Op = record.OpForget
	}
	if s.state != sure {
		step.Expect = record.ExpectAny
	}
	s.state, s.shaken = ended, false
	return step
}

func (m *maker) reloadMove() []scenarios.Step {
	s := m.some(isSure) // where no session is open, there is nothing to reload
	if s == nil {
		return m.openMove()
	}
	return []scenarios.Step{m.reload(s.server)}
}

func (m *maker) reload(v *server) scenarios.Step {
	step := scenarios.Step{Op: record.OpReload, Label: v.Label}
	now := sure
	unsettled := m.some(func(s *session) bool { return s.server == v && s.state == unsure }) != nil
	if !v.opens() || unsettled {
		now = unsure
		step.Timeout, step.Expect = millis(of(m, 300, 1000)), record.ExpectAny
	}
	from := v.launches + 1
	for _, s := range m.sessions {
		if s.server == v && s.mayBeOpen() {
			m.launched(s, step.Timeout)
			s.state, s.launch, s.shaken = now, from, now == unsure
		}
	}
	v.exact = v.exact && now == sure
	return step
}

func (m *maker) breakMove() []scenarios.Step {
	if m.Alone {
		return m.breakAlone()
	}
	s := m.some(isSure)
	if s == nil {
		return m.openMove()
	}
	steps := []scenarios.Step{m.breakNow(s)}
	if !m.Loose && m.chance(50) && m.Can(record.OpCall) && s.server.opens() && s.server.answers(s.server.launches+1) {
		steps = append(steps, m.callFirst(s)...)
	}
	return steps
}

func (m *maker) breakNow(s *session) scenarios.Step {
	step := scenarios.Step{Op: record.OpBreak, Session: s.name, Label: s.server.Label}
	step.With = m.order()
	s.state, s.shaken, s.server.exact = unsure, true, false
	if m.Loose {
		m.unsettle(s.server)
		s.server.spoiled = true
	}
	return step
}

// checkpointMove looks, once each session that may have broken was opened anew or closed.
func (m *maker) checkpointMove() (steps []scenarios.Step) {
	for _, s := range m.sessions {
		if s.shaken && s.state != ended && s.server.opens() && s.server.answers(s.server.launches+1) && m.chance(60) {
			steps = append(steps, m.open(s)...)
		}
		if s.shaken && s.state != ended {
			steps = append(steps, m.close(s))
		}
	}
	m.checkpoints++
	return append(steps, scenarios.Step{Op: record.OpCheckpoint, Name: fmt.Sprintf("look-%d", m.checkpoints)})
}

func (m *maker) restartMove() []scenarios.Step {
	step := scenarios.Step{Op: record.OpRestart, After: of(m, "", record.OpStop, record.OpKill)}
	if step.After == "" && m.chance(30) { // without a grace of the scenario: a host says itself how long its end may take
		step.After = record.OpKill
	}
	m.restarted()
	return []scenarios.Step{step}
}

func (m *maker) restarted() {
	for _, s := range m.sessions {
		if s.state != fresh {
			s.state = ended
		}
	}
}

// recycleMove gives away the PID of a session that was closed.
func (m *maker) recycleMove() []scenarios.Step {
	s := m.some(func(s *session) bool { return isSure(s) && !s.server.stubborn() })
	if s == nil {
		return m.openMove()
	}
	m.place = record.PlaceInit
	s.state = ended
	steps := []scenarios.Step{{Op: record.OpClose, Session: s.name}}
	steps = append(steps, m.checkpointMove()...)
	return append(steps, scenarios.Step{Op: record.OpRecycle, Session: s.name})
}
