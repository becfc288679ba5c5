package scenarios

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// FinalCheckpoint is the name of the checkpoint that the bench adds once the
// host is gone, where the scenario has none there itself.
const FinalCheckpoint = "host gone"

// Expand returns the steps with every repeat written out, also those inside ticks and parallel lanes. A checkpoint
// that is reached several times gets a number, so that no two have the same name: "round-1", "round-2".
func (s *Scenario) Expand() []Step {
	steps := cycles(s.Steps)
	times := map[string]int{}
	for i := range steps {
		if steps[i].Op == record.OpCheckpoint {
			times[steps[i].Name]++
		}
	}
	reached := map[string]int{}
	for i := range steps {
		if step := &steps[i]; times[step.Name] > 1 {
			reached[step.Name]++
			step.Name = fmt.Sprintf("%s-%d", step.Name, reached[step.Name])
		}
	}
	return steps
}

// Waits is how often a play may have to wait for something to end that does not: at each checkpoint, and at each restart of the host.
// On a host that leaves much, a play takes about as long as there are of these. A patient step takes as long as many of them.
func (s *Scenario) Waits() (n int) {
	each(s.Expand(), func(step Step) {
		if step.Op == record.OpCheckpoint || step.Op == record.OpRestart {
			n++
		}
		if step.Patient {
			n += int(s.Limits.Patience / max(1, s.Limits.Settle))
		}
	})
	return n
}

// cycles writes the repeats out, and marks where a repetition ends.
func cycles(steps []Step) []Step {
	var all []Step
	series := 0
	for _, s := range steps {
		written := unroll([]Step{s})
		if s.Op == record.OpRepeat && len(written) > 0 {
			series++
			body := len(written) / s.Count
			for n := 1; n <= s.Count; n++ {
				written[n*body-1].Cycle = &record.Cycle{Series: series, N: n}
			}
		}
		all = append(all, written...)
	}
	return all
}

func unroll(steps []Step) []Step {
	var all []Step
	for _, s := range steps {
		if s.Op == record.OpRepeat {
			all = append(all, slices.Repeat(unroll(s.Steps), s.Count)...)
			continue
		}
		s.Steps = unroll(s.Steps)
		s.Lanes = slices.Clone(s.Lanes)
		for i := range s.Lanes {
			s.Lanes[i] = unroll(s.Lanes[i])
		}
		all = append(all, s)
	}
	return all
}

// anyStep reports whether a step is so, or one inside another.
func anyStep(steps []Step, is func(Step) bool) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return is(s) || slices.ContainsFunc(s.lanes(), func(lane []Step) bool { return anyStep(lane, is) })
	})
}

// each calls f for every step, those inside others too.
func each(steps []Step, f func(Step)) {
	anyStep(steps, func(s Step) bool { f(s); return false })
}

func ends(s Step) bool {
	return s.Op == record.OpStop || s.Op == record.OpTerm || s.Op == record.OpKill
}

// endsOrRestarts reports whether a step ends a life of the host.
func endsOrRestarts(steps []Step) bool {
	return anyStep(steps, func(s Step) bool { return ends(s) || s.Op == record.OpRestart })
}

// counts is what is certain to happen when the steps are played.
type counts struct {
	launches   map[string]int // by label
	perSession map[string]int
	orders     map[ordered]int
	open       map[string]string // sessions that are open for certain, and their labels
}

type ordered struct{ label, do string }

func count(steps []Step) *counts {
	c := &counts{
		launches: map[string]int{}, perSession: map[string]int{}, orders: map[ordered]int{}, open: map[string]string{},
	}
	c.add(steps)
	return c
}

// add counts the steps. Once the host is gone, no step follows that would count: follow sees to it.
func (c *counts) add(steps []Step) {
	for _, s := range steps {
		c.step(s)
	}
}

func (c *counts) step(s Step) {
	switch s.Op {
	case record.OpOpen:
		c.opens(s)
	case record.OpClose, record.OpForget:
		delete(c.open, s.Session)
	case record.OpRestart:
		clear(c.open)
	case record.OpReload:
		for session, label := range c.open {
			if label == s.Label {
				c.launch(label, session)
			}
		}
	case record.OpBreak:
		c.orders[ordered{s.Label, s.With.Do}]++
	case record.OpTick:
		c.tick(s)
	case record.OpParallel:
		c.parallel(s.Lanes)
	}
}

func (c *counts) opens(s Step) {
	delete(c.open, s.Session)
	if s.Expect == record.ExpectAny { // nobody knows what the host makes of it
		return
	}
	if s.If != "" { // the session is open then, but perhaps on the server that it had
		c.open[s.Session] = s.Label
		return
	}
	if !s.Shared || c.launches[s.Label] == 0 { // one process may serve them all
		c.launch(s.Label, s.Session)
	}
	if s.Expect == "" {
		c.open[s.Session] = s.Label
	}
}

func (c *counts) launch(label, session string) {
	c.launches[label]++
	c.perSession[session]++
}

// tick counts the jobs, unless the host may end before they begin.
func (c *counts) tick(s Step) {
	if !endsOrRestarts(s.Steps) {
		for _, j := range s.Jobs {
			c.launches[j.Label] += j.Count
		}
	}
	c.add(s.Steps)
}

// parallel counts the lanes. Where one of them ends the host, or restarts it, nothing is certain of the others.
func (c *counts) parallel(lanes [][]Step) {
	cut := slices.ContainsFunc(lanes, endsOrRestarts)
	for _, lane := range lanes {
		if cut && !endsOrRestarts(lane) {
			continue
		}
		c.add(lane)
	}
}

// Plan says what must have happened for a verdict on a run of the scenario with this seed to mean anything.
func (s *Scenario) Plan(seed uint64) record.Plan {
	steps := s.Expand()
	c := count(steps)
	plan := record.Plan{Checkpoints: checkpoints(steps), Laws: s.Laws}
	each(steps, func(step Step) {
		if step.Defining && !endsOrRestarts([]Step{step}) { // what is certain is not counted
			plan.Defining++
		}
	})
	for _, server := range s.Servers {
		launches := max(1, c.launches[server.Label])
		if s.Ability.Unknown {
			launches = 1
		}
		if server.Optional {
			launches = 0
		} else {
			plan.Labels = append(plan.Labels, record.PlanLabel{Label: server.Label, Launches: launches})
		}
		drawn := schedule{seed, server, s.Ability.ByItself}
		for _, f := range server.Script.Faults {
			plan.Faults = addFault(plan.Faults, record.PlanFault{
				Label: server.Label, On: record.Moment(f.On), Do: record.Action(f.Do), Launch: f.Launch, Every: f.Every, Probability: f.Probability,
				Fires: drawn.fires(f, launches),
			})
		}
		for _, d := range fakeserver.Actions {
			n := c.orders[ordered{server.Label, d.Name}]
			if n == 0 {
				continue
			}
			if server.Optional {
				n = 0
			}
			plan.Faults = addFault(plan.Faults, record.PlanFault{Label: server.Label, On: record.OnOrder, Do: record.Action(d.Name), Fires: n})
		}
	}
	return plan
}

// addFault adds f, to the one that looks the same to who counts events.
func addFault(all []record.PlanFault, f record.PlanFault) []record.PlanFault {
	for i, g := range all {
		g.Fires = f.Fires
		if g == f {
			all[i].Fires += f.Fires
			return all
		}
	}
	return append(all, f)
}

// checkpoints are those of the steps, and the final one where the steps have none after the host's end.
func checkpoints(steps []Step) []string {
	var all []string
	gone, looked := false, false
	for _, s := range steps {
		gone = gone || ends(s)
		if s.Op == record.OpCheckpoint {
			all = append(all, s.Name)
			looked = gone
		}
	}
	if looked {
		return all
	}
	return append(all, FinalCheckpoint)
}

// schedule knows what a seed makes of the faults of a server.
type schedule struct {
	seed     uint64
	server   Server
	byItself bool // nobody asks the host for calls
}

func (d schedule) due(f fakeserver.Fault, launch int) bool {
	return f.Due(d.seed, d.server.Label, launch)
}

// fires is how often a fault must be seen when its label is launched that many times.
func (d schedule) fires(f fakeserver.Fault, launches int) int {
	if d.byItself && (f.On == "call" || isList(f.On)) {
		return 0
	}
	n, era := d.meets(f, launches), d.server.Script.Era
	switch f.On {
	case "start":
		return n
	case "initialize":
		if era != fakeserver.EraModern && era != fakeserver.EraDual {
			return n
		}
	case "eof", "term", "exit", "epipe":
		return 0 // whether the host lets it come to that is what is being tested
	}
	return min(n, 1) // how often a host asks for that is its own business
}

// meets is how many of the launches must come to the fault.
func (d schedule) meets(f fakeserver.Fault, launches int) int {
	n := 0
	for launch := 1; launch <= launches; launch++ {
		if d.due(f, launch) && !d.forestalled(f, launch) {
			n++
		}
	}
	// A fault of a launch that is not certain is still one that the author wants to see: a run without it shows
	// nothing. Where the launches were left to chance, the seed may have chosen none.
	first := max(f.Launch, f.Every, 1)
	if n == 0 && launches > 0 && f.Probability == 0 && !d.forestalled(f, first) {
		return 1
	}
	return n
}

// handshake is the order in which a server gets to the moments of a handshake.
var handshake = []string{"start", "discover", "initialize", "list", "list-resources", "list-prompts", "call"}

// forestalled says that another fault ends the launch before f can happen.
func (d schedule) forestalled(f fakeserver.Fault, launch int) bool {
	at := slices.Index(handshake, f.On)
	return slices.ContainsFunc(d.server.Script.Faults, func(g fakeserver.Fault) bool {
		earlier := slices.Index(handshake, g.On)
		return earlier >= 0 && earlier < at && d.due(g, launch) && g.Forestalls(d.server.Script.Era)
	})
}
