// Package grammar makes scenarios that nobody wrote. Each is valid by construction, asks of a host only what it can do, and expects only
// what must follow from the steps before: where a fault may be in the way, any answer will do. The same source makes the same scenario.
package grammar

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// Reach is what can be asked of a host.
type Reach struct {
	Cannot map[record.Op]string // why a step can't be asked, by its op
	One    bool                 // it is given one server of a scenario
	// Loose says that the bench does not decide which server a session has, as before a gateway: what becomes of one after its server
	// broke is the host's own business.
	Loose bool
	// Alone says that the host opens its sessions by itself, or has none that last: open, call and close can't be asked.
	Alone bool
	// Recycles says that this machine can put a host below an init in a PID namespace.
	Recycles bool
}

// Can reports whether a step can be asked.
func (r *Reach) Can(op record.Op) bool { return r.Cannot[op] == "" }

// Pair is a fault and its moment.
type Pair struct{ On, Do string }

// Cell is one thing to try: a fault and its moment, what the host was asked for last, and the state in which that found the session.
type Cell struct {
	Pair
	Op    record.Op
	State State
}

func (c Cell) String() string { return fmt.Sprintf("%s %s, %s, %s", c.On, c.Do, c.Op, c.State) }

// State is what a session was when the host was asked for something.
type State string

// The states.
const (
	New        State = "new"        // never opened before
	Connecting State = "connecting" // an open of it is under way
	Open       State = "open"
	InCall     State = "in a call" // open, with a call under way
	Ended      State = "ended"     // closed, or it could not be opened
)

// Params say what a scenario is to be like.
type Params struct {
	Reach
	Name string
	Want Cell // what it is to try, if the grammar gets there; the zero Cell is nothing special
	// Calm is for servers that do nothing wrong, and a session that is opened again and again: what a host does for no reason, or what
	// grows a little each time, shows only there.
	Calm bool
}

// wants says that the scenario is to ask for an operation in one of some states.
func (p *Params) wants(op record.Op, states ...State) bool {
	return p.Want.Op == op && slices.Contains(states, p.Want.State)
}

const (
	maxServers = 4
	maxFaults  = 3
	maxMoves   = 8 // what the steps are made of; a move is one step, or a few that belong together
)

// maker is a scenario in the making.
type maker struct {
	Params
	*rand.Rand
	servers     []*server
	sessions    []*session
	repeats     bool // there is one
	patient     bool // a step waits for the host's own time limit
	checkpoints int
	shared      bool // sessions use one entry of a server together
	place       record.Place
}

// Make makes a scenario.
func Make(source *rand.Rand, p Params) *scenarios.Scenario {
	m := &maker{Params: p, Rand: source}
	if m.Can(record.OpShare) && !m.Alone && p.Calm && m.chance(35) {
		m.share()
	}
	m.makeServers()
	steps := m.makeSteps()
	if m.shared {
		shareAll(steps)
	}
	s := &scenarios.Scenario{Name: p.Name, Title: fmt.Sprintf("Generated: %s", p.Name), Place: m.place, Steps: steps, Limits: m.limits()}
	used := labelsIn(steps)
	for _, server := range m.servers {
		if m.byItself() || used[server.Label] {
			s.Servers = append(s.Servers, server.Server)
		}
	}
	return s
}

// share has the sessions of a server use its entry together. That is not for jobs, nor for a reload. One that breaks, breaks for all.
func (m *maker) share() {
	m.shared, m.Loose = true, true
	cannot := maps.Clone(m.Cannot)
	if cannot == nil {
		cannot = map[record.Op]string{}
	}
	for _, op := range []record.Op{record.OpTick, record.OpReload, record.OpCancel} {
		cannot[op] = "the sessions share the entry of their server"
	}
	m.Cannot = cannot
}

func shareAll(steps []scenarios.Step) {
	for i := range steps {
		s := &steps[i]
		s.Shared = s.Op == record.OpOpen
		shareAll(s.Steps)
		for _, lane := range s.Lanes {
			shareAll(lane)
		}
	}
}

// byItself says that nobody can ask the host for a session, not even for a job.
func (m *maker) byItself() bool { return m.Alone && !m.Can(record.OpTick) }

// limits are those of the built-in scenarios. A profile of the host goes before settle and confirm.
func (m *maker) limits() record.Limits {
	l := scenarios.Defaults()
	l.Settle, l.Confirm = record.Duration(1500*time.Millisecond), record.Duration(1500*time.Millisecond)
	l.Close, l.Stop = record.Duration(2*time.Second), record.Duration(4*time.Second)
	if m.patient {
		l.Patience = record.Duration(6 * time.Second) // some libraries give up after 5 s
	}
	most, faulty := 0, false
	for _, s := range m.sessions {
		most = max(most, s.opens)
	}
	for _, s := range m.servers {
		faulty = faulty || len(s.Script.Faults) > 0
	}
	// Who connects a few times more than it is asked to may have reasons where something fails, and has none elsewhere.
	if l.SpawnsPerSession = 3*most + 2; faulty {
		l.SpawnsPerSession = 10*most + 10
	}
	return l
}

func labelsIn(steps []scenarios.Step) map[string]bool {
	used := map[string]bool{}
	for _, s := range steps {
		if s.Label != "" {
			used[s.Label] = true
		}
		for _, j := range s.Jobs {
			used[j.Label] = true
		}
		for _, inner := range append([][]scenarios.Step{s.Steps}, s.Lanes...) {
			for label := range labelsIn(inner) {
				used[label] = true
			}
		}
	}
	return used
}

// chance is true in p of 100 cases.
func (m *maker) chance(p int) bool { return m.IntN(100) < p }

// of is one of some values.
func of[T any](m *maker, values ...T) T { return values[m.IntN(len(values))] }

// weighted is an index by weight.
func (m *maker) weighted(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := m.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return 0
}
