package grammar

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// pad is more than a pipe holds (64 KiB, pipe(7)).
func pad() map[string]any { return map[string]any{"pad": strings.Repeat("x", 128<<10)} }

// order is what a break orders.
func (m *maker) order() fakeserver.Fault {
	if m.Want.On == onOrder && m.chance(80) {
		return m.values(fakeserver.Fault{On: onOrder, Do: m.Want.Do})
	}
	var orders []Pair
	for _, p := range Pairs() {
		if p.On == onOrder {
			orders = append(orders, p)
		}
	}
	p := of(m, orders...)
	// What most servers do wrong in the end: they exit.
	if m.chance(30) {
		p.Do = "exit"
	}
	return m.values(fakeserver.Fault{On: onOrder, Do: p.Do})
}

// breakAlone breaks the server of a host that opens its sessions by itself. Nobody can ask that host to open another one: one break is
// all there is to see.
func (m *maker) breakAlone() []scenarios.Step {
	v := of(m, m.servers...)
	if v.spoiled || !v.opens() || !m.Can(record.OpBreak) {
		return m.checkpointMove()
	}
	v.spoiled = true
	return []scenarios.Step{{Op: record.OpBreak, Label: v.Label, With: m.order()}}
}

func (m *maker) tickMove() []scenarios.Step {
	step := scenarios.Step{Op: record.OpTick}
	var fit []*server
	for _, v := range m.servers {
		if m.canDo(v) {
			fit = append(fit, v)
		}
	}
	if len(fit) == 0 {
		return m.openMove()
	}
	for range 1 + m.weighted(40, 40, 20) {
		step.Jobs = append(step.Jobs, m.job(of(m, fit...)))
	}
	for _, j := range step.Jobs {
		v := m.servers[slices.IndexFunc(m.servers, func(v *server) bool { return v.Label == j.Label })]
		v.launches += j.Count
		v.exact = v.exact && j.Expect == "" && !m.Alone
	}
	if s := m.some(isSure); s != nil && m.chance(40) {
		step.Steps = []scenarios.Step{m.call(s)}
		if m.chance(30) {
			step.Steps = append(step.Steps, m.close(s))
		}
	}
	return []scenarios.Step{step}
}

// canDo says that a job of a server comes to an end.
func (m *maker) canDo(v *server) bool {
	always := !slices.ContainsFunc(v.Script.Faults, fakeserver.Fault.Selective)
	return !v.hangs() || m.Alone || always && v.holds(true) && m.Can(record.OpCancel)
}

func (m *maker) job(v *server) scenarios.Job {
	j := scenarios.Job{Label: v.Label, Count: 1 + m.weighted(70, 20, 10)}
	selective := slices.ContainsFunc(v.Script.Faults, fakeserver.Fault.Selective)
	if v.hangs() && !m.Alone {
		j.Cancel, j.Count, j.Expect = true, 1, record.ExpectFail
		return j
	}
	if !v.opens() || !v.answers(v.launches+1) || selective {
		j.Timeout, j.Expect = millis(of(m, 200, 500, 1000)), record.ExpectAny
		return j
	}
	switch m.weighted(40, 20, 20, 15, 10) {
	case 1:
		j.Tool, j.Args = "sleep", map[string]any{"ms": int64(1 + m.IntN(300))}
	case 2:
		if !m.Alone { // what a command calls is its own business
			j.Tool, j.Args = "sleep", map[string]any{"ms": forEver}
			j.Timeout, j.Expect = millis(of(m, 100, 300)), record.ExpectFail
		}
	case 3:
		if !m.Alone && m.Can(record.OpCancel) {
			j.Tool, j.Args = "sleep", map[string]any{"ms": forEver}
			j.Cancel, j.Expect = true, record.ExpectFail
		}
	case 4:
		j.Probe = true
	}
	return j
}

// besideMove has steps side by side.
func (m *maker) besideMove() []scenarios.Step {
	if !m.Can(record.OpCall) {
		return nil
	}
	kind := m.IntN(4)
	switch m.Want.State {
	case InCall:
		kind = 2
	case Connecting:
		kind = 3
	}
	switch kind {
	case 0:
		return m.race()
	case 1:
		return m.strangers()
	case 2:
		return m.inCall(m.meanwhile)
	}
	return m.connecting(m.meanwhile)
}

// race opens one session several times at once.
func (m *maker) race() []scenarios.Step {
	s := m.some(func(s *session) bool { return s.server.opens() && len(s.server.Script.Faults) == 0 })
	if s == nil || m.Loose {
		return nil
	}
	step := scenarios.Step{Op: record.OpParallel}
	for range 2 + m.IntN(3) {
		m.launched(s, 0)
		step.Lanes = append(step.Lanes, []scenarios.Step{{Op: record.OpOpen, Session: s.name, Label: s.server.Label}})
	}
	s.state = sure
	return []scenarios.Step{step}
}

// strangers use sessions side by side that have nothing to do with each other.
func (m *maker) strangers() []scenarios.Step {
	step := scenarios.Step{Op: record.OpParallel}
	seen := map[*server]bool{}
	for _, s := range m.sessions {
		if seen[s.server] || len(step.Lanes) == 3 {
			continue
		}
		seen[s.server] = true
		lane := m.open(s)
		if s.mayBeOpen() {
			lane = append(lane, m.call(s))
		}
		if s.mayBeOpen() && m.chance(40) {
			lane = append(lane, m.close(s))
		}
		step.Lanes = append(step.Lanes, lane)
	}
	return []scenarios.Step{step}
}

// inCall does something to a session while a call is in its server.
func (m *maker) inCall(what func(*session) []scenarios.Step) []scenarios.Step {
	s := m.some(func(s *session) bool { return isSure(s) && s.server.answers(s.launch) })
	if s == nil {
		return m.openMove()
	}
	call := scenarios.Step{
		Op: record.OpCall, Session: s.name, Tool: "sleep", Args: map[string]any{"ms": forEver},
		Timeout: millis(of(m, 300, 600, 1000)), Expect: record.ExpectFail,
	}
	wait := scenarios.Step{Op: record.OpAwait, Session: s.name, For: scenarios.AwaitCall, Expect: record.ExpectAny}
	return []scenarios.Step{{Op: record.OpParallel, Lanes: [][]scenarios.Step{{call}, append([]scenarios.Step{wait}, what(s)...)}}}
}

// connecting does something to a session, or its server, while the handshake is kept waiting.
func (m *maker) connecting(what func(*session) []scenarios.Step) []scenarios.Step {
	s := m.some(func(s *session) bool {
		return s.server.holds(false) && (s.state != fresh || m.Want.State != Connecting)
	})
	if s == nil {
		s = m.some(func(s *session) bool { return s.server.holds(false) })
	}
	if s == nil {
		return m.inCall(what)
	}
	known := s.state != fresh
	open := scenarios.Step{Op: record.OpOpen, Session: s.name, Label: s.server.Label, Expect: record.ExpectAny}
	open.Timeout = millis(of(m, 300, 600))
	if s.mayBeOpen() { // the server that it has may have to be ended first
		open.Timeout *= 2
	}
	m.launched(s, open.Timeout)
	s.state, s.server.exact = unsure, false
	wait := scenarios.Step{Op: record.OpAwait, Session: s.name, For: scenarios.AwaitConnect, Expect: record.ExpectAny}
	var beside []scenarios.Step
	if known {
		beside = what(s)
	} else {
		beside = m.open(s)
	}
	if s.state == sure { // the open that was first may be given up last
		s.state, s.shaken = unsure, true
	}
	return []scenarios.Step{{Op: record.OpParallel, Lanes: [][]scenarios.Step{{open}, append([]scenarios.Step{wait}, beside...)}}}
}

// meanwhile is what happens to a session that is busy.
func (m *maker) meanwhile(s *session) []scenarios.Step {
	what := m.weighted(30, 25, 15, 15, 15)
	if m.Want.State == InCall || m.Want.State == Connecting {
		ops := []record.Op{record.OpClose, record.OpOpen, record.OpReload, record.OpBreak, record.OpRestart}
		what = max(slices.Index(ops, m.Want.Op), 0)
	}
	switch what {
	case 0:
		return []scenarios.Step{m.close(s)}
	case 1:
		return m.open(s)
	case 2:
		if isSure(s) && m.Can(record.OpReload) {
			return []scenarios.Step{m.reload(s.server)}
		}
	case 3:
		if isSure(s) && m.Can(record.OpBreak) {
			return []scenarios.Step{m.breakNow(s)}
		}
	case 4:
		if m.Can(record.OpRestart) {
			return m.restartMove()
		}
	}
	return []scenarios.Step{m.close(s)}
}

// endBeside ends the host beside other steps. over says that it has: nothing can follow.
func (m *maker) endBeside() (steps []scenarios.Step, over bool) {
	op := m.ending()
	if op == "" || m.some(isSure) == nil {
		return nil, false
	}
	end := func(*session) []scenarios.Step {
		over = true
		return []scenarios.Step{{Op: op}}
	}
	steps = m.inCall(end)
	return steps, over
}

// repeatMove does the same several times. What grows from time to time shows only there.
func (m *maker) repeatMove() []scenarios.Step {
	s := m.some(func(s *session) bool { return s.server.steady() })
	if s == nil || m.repeats || m.Loose {
		return nil
	}
	m.repeats = true
	count := of(m, 3, 6, 10)
	if s.server.stubborn() {
		count = 3
	}
	open := scenarios.Step{Op: record.OpOpen, Session: s.name, Label: s.server.Label}
	call := scenarios.Step{Op: record.OpCall, Session: s.name}
	body := []scenarios.Step{open, call}
	s.state = sure
	switch m.IntN(3) {
	case 0:
		body = append(body, scenarios.Step{Op: record.OpClose, Session: s.name})
		s.state = ended
	case 1:
		if m.Can(record.OpBreak) {
			exit := scenarios.Step{Op: record.OpBreak, Session: s.name, Label: s.server.Label, With: fakeserver.Fault{On: onOrder, Do: "exit"}}
			body = append(body, exit, open, call)
		}
	}
	for _, step := range body {
		if step.Op == record.OpOpen {
			s.opens += count
			if !m.Loose {
				s.server.launches += count
			}
		}
	}
	s.launch, s.server.exact = s.server.launches, false
	return []scenarios.Step{{Op: record.OpRepeat, Count: count, Steps: body}}
}

// lose breaks a session that is open, so that its server lives on and does not answer, and leaves it to the host to reconnect in a call.
// The old server ends with the host at the latest: the look comes before that.
func (m *maker) lose() []scenarios.Step {
	s := m.some(func(s *session) bool { return s.server.steady() && !s.server.stubborn() })
	if s == nil || m.Loose || !m.Can(record.OpOpen) || !m.Can(record.OpBreak) || !m.Can(record.OpCall) {
		return nil
	}
	open := scenarios.Step{Op: record.OpOpen, Session: s.name, Label: s.server.Label}
	m.launched(s, 0)
	silent := scenarios.Step{
		Op: record.OpBreak, Session: s.name, Label: s.server.Label, With: fakeserver.Fault{On: onOrder, Do: "close-stdout"},
	}
	s.server.exact = false
	call := scenarios.Step{Op: record.OpCall, Session: s.name}
	return slices.Concat([]scenarios.Step{open, call, silent}, m.callFirst(s), []scenarios.Step{call}, m.checkpointMove())
}

// callFirst calls a session that may be lost, and opens it if the host has not reconnected it by itself.
func (m *maker) callFirst(s *session) []scenarios.Step {
	call := scenarios.Step{Op: record.OpCall, Session: s.name, Timeout: millis(of(m, 1000, 2000)), Expect: record.ExpectAny}
	m.launched(s, 0)
	s.state, s.shaken = sure, false
	return []scenarios.Step{call, {Op: record.OpOpen, Session: s.name, Label: s.server.Label, If: scenarios.IfLost}}
}
