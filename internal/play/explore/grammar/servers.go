package grammar

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// labels are what servers are called.
var labels = [maxServers]string{"alpha", "beta", "gamma", "delta"}

// server is a server of the scenario and what is known of it at a place in the steps.
type server struct {
	scenarios.Server
	launches int  // at least so many servers were launched
	exact    bool // and the host had no reason to launch it more often
	spoiled  bool // nobody knows what the host makes of it
}

func (m *maker) makeServers() {
	n := 1
	if !m.One {
		n = 1 + m.weighted(45, 35, 15, 5)
	}
	for i := range n {
		s := &server{Server: scenarios.Server{Label: labels[i]}, exact: !m.Loose}
		if m.chance(15) && !m.Calm {
			s.Script.Era = of(m, fakeserver.EraLegacyMute, fakeserver.EraModern, fakeserver.EraDual)
		}
		if i == 0 {
			m.addWanted(s)
		}
		for range m.weighted(30, 40, 20, 10) {
			if !m.Calm && len(s.Script.Faults) < maxFaults {
				m.addFault(s, m.anyPair())
			}
		}
		s.Optional = len(s.Script.Faults) > 0 || s.Script.Era != ""
		s.spoiled = m.shared && s.Optional
		m.servers = append(m.servers, s)
	}
}

// addWanted gives a server the fault that is to be tried, and what brings a session into the state for it.
func (m *maker) addWanted(s *server) {
	if m.Want.On == "" || m.Want.On == onOrder {
		return
	}
	if m.Want.State == Connecting {
		s.Script.Era = ""
		hold := fakeserver.Fault{On: "initialize", Do: "hang"}
		if m.Want.Op != record.OpCancel && m.chance(50) {
			hold.Do, hold.For = "delay", time400
		}
		s.Script.Faults = append(s.Script.Faults, hold)
	}
	for try := 0; try < 4 && !m.addFault(s, m.Want.Pair); try++ {
		if m.Want.State != Connecting {
			s.Script.Era = of(m, "", fakeserver.EraDual, fakeserver.EraModern)
		}
	}
}

// onOrder is the moment of what a break step orders.
const onOrder = "order"

// Pairs are the faults that the grammar makes, each with its moment.
func Pairs() (all []Pair) {
	for _, moment := range fakeserver.Moments {
		for _, do := range moment.With {
			if Never(Pair{moment.Name, do}) == "" {
				all = append(all, Pair{moment.Name, do})
			}
		}
	}
	return all
}

// Never says why the grammar leaves a fault out, or "".
func Never(p Pair) string {
	switch p.On {
	case "ping":
		return "no step makes a host ping its server"
	case "epipe":
		return "whether a server writes once nobody reads it can't be asked for"
	}
	return ""
}

func (m *maker) anyPair() Pair {
	all := Pairs()
	for {
		p := all[m.IntN(len(all))]
		// A server that spins takes a processor from the others on the machine.
		if p.On != onOrder && (p.Do != "spin" || m.chance(30)) {
			return p
		}
	}
}

// addFault adds a fault, unless it contradicts those that are there.
func (m *maker) addFault(s *server, p Pair) bool {
	f := m.values(fakeserver.Fault{On: p.On, Do: p.Do})
	switch m.weighted(50, 20, 10, 10, 10) {
	case 1:
		f.Launch = 1
	case 2:
		f.Launch = 2
	case 3:
		f.Every = 2
	case 4:
		f.Probability = 0.5
	}
	if (p.On == "call" || slices.Contains(listed, p.On)) && m.chance(30) {
		f.After = 1 + m.IntN(2)
	}
	if p.On == "call" && m.chance(20) {
		f.Tool = of(m, "echo", "sleep")
	}
	script := s.Script
	script.Faults = append(slices.Clone(script.Faults), f)
	if script.Check() != nil {
		return false
	}
	s.Script = script
	return true
}

// values fills in what a fault needs, small enough for a run of a second.
func (m *maker) values(f fakeserver.Fault) fakeserver.Fault {
	for _, d := range fakeserver.Fields[2:] {
		if !d.GoesWith(f.Do, f.On) {
			continue
		}
		switch d.Name {
		case "for":
			f.For = of(m, time10, time50, time150, time400)
			if f.On == "exit" { // what a well-behaved server gets for its cleanup, at the least
				f.For = of(m, time50, time150)
			}
		case "each":
			f.Each = time50
		case "mib":
			f.MiB = 1 + m.IntN(8)
		case "bytes":
			f.Bytes = of(m, 0, 10)
		case "code":
			f.Code = of(m, 0, 1, 3)
		case "count":
			f.Count = of(m, 0, 2)
		case "as":
			f.As = m.way(f.Do)
		}
	}
	return f
}

const (
	time10  = fakeserver.Duration(10 * time.Millisecond)
	time50  = fakeserver.Duration(50 * time.Millisecond)
	time150 = fakeserver.Duration(150 * time.Millisecond)
	time400 = fakeserver.Duration(400 * time.Millisecond)
)

func (m *maker) way(do string) string {
	i := slices.IndexFunc(fakeserver.Actions, func(d fakeserver.Doc) bool { return d.Name == do })
	ways := fakeserver.Actions[i].As
	n := m.IntN(len(ways))
	if n == 0 {
		return ""
	}
	return ways[n].Name
}

// early are the moments that a server passes before its session is open.
var early = []string{"start", "discover", "initialize", "list"}

// listed are the moments of a list. That of the tools may come before a session is open, too.
var listed = []string{"list", "list-resources", "list-prompts"}

// harmless are the actions that leave a session as good as it was.
var harmless = []string{"delay", "grow", "swell", "zombies", "helper", "launcher", "ignore-term"}

// lasting are the actions that reach other launches of the label, or end the server at a time of its own.
var lasting = []string{"lock", "kill-siblings", "watchdog"}

// opens says that the next launch opens its session, whichever number it has by now.
func (s *server) opens() bool {
	return !s.spoiled && s.Script.Era == "" && !s.hindered(early, s.launches+1)
}

// answers says that a call is answered in a session that has at least this launch.
func (s *server) answers(launch int) bool {
	return !s.spoiled && s.Script.Era == "" && !s.hindered(append([]string{"call"}, listed...), launch)
}

// hindered says that a fault at one of the moments may be in the way of a launch of this number, or of a later one.
func (s *server) hindered(moments []string, launch int) bool {
	return slices.ContainsFunc(s.Script.Faults, func(f fakeserver.Fault) bool {
		switch {
		case slices.Contains(lasting, f.Do):
			return true
		case !slices.Contains(moments, f.On), slices.Contains(harmless, f.Do):
			return false
		}
		return f.Launch == 0 || f.Launch >= launch
	})
}

// holds says that the next launch keeps its handshake waiting for certain, until it is given up (a cancel needs that) or at least for
// a while.
func (s *server) holds(forEver bool) bool {
	held := false
	for _, f := range s.Script.Faults {
		waits := f.Do == "hang" || f.Do == "delay" && f.For >= time150 && !forEver
		switch {
		case f.On == "initialize" && waits && s.next(f):
			held = true
		case slices.Contains(early, f.On) && f.On != "list" && !slices.Contains(harmless, f.Do), slices.Contains(lasting, f.Do):
			return false
		}
	}
	return held && !s.spoiled && s.Script.Era == ""
}

// next says that the next launch is one that a fault is for, for certain.
func (s *server) next(f fakeserver.Fault) bool {
	return f.Probability == 0 && (s.exact && f.Launch == s.launches+1 || f.Launch == 0 && f.Every == 0)
}

// answered are the actions after which a handshake is over all the same: refused, or with the end of the server. After the others a client
// may wait for an answer that it can read.
var answered = []string{"exit", "answer-exit", "reject"}

// hangs says that a connect may never be answered. The job of a tick has a time limit for its call alone.
func (s *server) hangs() bool {
	return s.Script.Era == fakeserver.EraLegacyMute || slices.ContainsFunc(s.Script.Faults, func(f fakeserver.Fault) bool {
		return slices.Contains(early, f.On) && !slices.Contains(harmless, f.Do) && !slices.Contains(answered, f.Do)
	})
}

// steady says that each launch is like the others, and none of them does anything that could fail a step.
func (s *server) steady() bool {
	selective := slices.ContainsFunc(s.Script.Faults, fakeserver.Fault.Selective)
	return !selective && s.opens() && s.answers(1)
}

// stubborn says that it does not end as soon as it is told to.
func (s *server) stubborn() bool {
	return slices.ContainsFunc(s.Script.Faults, func(f fakeserver.Fault) bool { return !slices.Contains(early, f.On) })
}

// Left are the faults that the grammar leaves out.
func Left() (all []Pair) {
	for _, moment := range fakeserver.Moments {
		for _, do := range moment.With {
			if p := (Pair{moment.Name, do}); Never(p) != "" {
				all = append(all, p)
			}
		}
	}
	return all
}
