package scenarios

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Ability is what can be asked of a host, as far as it is known before a scenario is played. The zero value can be asked for all.
type Ability struct {
	Cannot map[record.Op]string // why a step can't be asked, by its op
	// One says that the host is given one server of a scenario, and not all of them.
	One bool
	// ByItself says that the host opens the session of its server and uses it without being asked.
	ByItself bool
	// OwnCalls says that the host itself chooses which tools it calls. No call can be made to last, so none can be cut off.
	OwnCalls bool
	// Unknown says that its sessions are not known to the bench: how often it launches a server is its own business.
	Unknown bool
}

// Cast is how a host can play the scenario: as a whole, or, where it is given one server, once for each server that
// the scenario is about. What can't be asked of it is left out. Where that is what the scenario is about, there is no
// part, and why says what can't be asked.
func (s *Scenario) Cast(a Ability) (parts []*Scenario, why string) {
	about := s.subjects()
	labels := []string{""}
	if a.One { // a part is about the one server that it has
		labels = about
	}
	for _, label := range labels {
		c := casting{Ability: a, about: about, servers: s.Servers, part: label, labels: s.Sessions()}
		part := *s
		part.Steps = c.steps(s.Steps)
		if c.why != "" {
			return nil, c.why
		}
		part.Servers = slices.DeleteFunc(slices.Clone(s.Servers), func(server Server) bool {
			return label != "" && server.Label != label || c.unused(server.Label, part.Steps)
		})
		part.Ability, part.Omitted = a, Omitted{
			s.Omitted.Foreign + c.omitted.Foreign, s.Omitted.Unasked + c.omitted.Unasked, s.Omitted.Lists + c.omitted.Lists,
		}
		if part.Part = label; len(about) == 1 && s.Part == "" {
			part.Part = "" // there is no other
		}
		parts = append(parts, &part)
	}
	return parts, ""
}

// String names the scenario, with its part where it is one.
func (s *Scenario) String() string { return record.Scenario{Name: s.Name, Part: s.Part}.String() }

// subjects are the servers that the scenario is about: those of its defining steps; where these are about the host, those
// that do something wrong.
func (s *Scenario) subjects() []string {
	sessions, named := s.Sessions(), map[string]bool{}
	each(s.Steps, func(step Step) {
		if !step.Defining {
			return
		}
		for _, label := range labelsOf(step, sessions) {
			named[label] = true
		}
	})
	for _, is := range []func(Server) bool{
		func(v Server) bool { return named[v.Label] },
		func(v Server) bool { return len(v.Script.Faults) > 0 && !v.Optional },
		func(v Server) bool { return !v.Optional },
	} {
		var about []string
		for _, server := range s.Servers {
			if is(server) {
				about = append(about, server.Label)
			}
		}
		if len(about) > 0 {
			return about
		}
	}
	return lists.Map(s.Servers, func(v Server) string { return v.Label })
}

// labelsOf are the servers that a step is about; none for one that is about the host, or about steps inside it.
func labelsOf(s Step, sessions map[string]string) []string {
	switch {
	case s.Label != "":
		return []string{s.Label}
	case sessions[s.Session] != "":
		return []string{sessions[s.Session]}
	}
	return lists.Map(s.Jobs, func(j Job) string { return j.Label })
}

// Sessions are the servers that the sessions are opened with.
func (s *Scenario) Sessions() map[string]string {
	labels := map[string]string{}
	each(s.Steps, func(step Step) {
		if step.Op == record.OpOpen {
			labels[step.Session] = step.Label
		}
	})
	return labels
}

// casting leaves out what a host can't be asked.
type casting struct {
	Ability
	about   []string
	servers []Server
	part    string // the one server that it is given, or ""
	labels  map[string]string
	omitted Omitted
	why     string // the scenario can't be played
}

// Omitted is how many steps of a scenario are left out for a host, as they are written.
type Omitted struct {
	Foreign int // they are about servers that the host is not given
	Unasked int // they can't be asked of it
	Lists   int // those of Unasked that ask for a list, which it may ask for by itself
}

// String is what is left out in words, or "".
func (o Omitted) String() string {
	var foreign, unasked string
	if o.Foreign > 0 {
		foreign = text.Count(o.Foreign, "step") + " about other servers"
	}
	if o.Unasked > 0 {
		unasked = text.Count(o.Unasked, "step") + " that it cannot play"
	}
	if foreign != "" && unasked != "" {
		return foreign + " and " + unasked
	}
	return foreign + unasked
}

func (c *casting) steps(all []Step) (kept []Step) {
	for _, s := range all {
		kept = append(kept, c.step(s)...)
	}
	return kept
}

// step is what is left of a step: nothing, itself with what is left inside it, or what is inside alone.
func (c *casting) step(s Step) []Step {
	labels := labelsOf(s, c.labels)
	switch {
	case s.Op == record.OpRepeat:
		s.Steps = c.steps(s.Steps)
		return unless(len(s.Steps) == 0, s)
	case s.Op == record.OpParallel:
		return c.lanes(s)
	case len(labels) > 0 && !slices.ContainsFunc(labels, c.given):
		c.omitted.Foreign++
		return c.steps(s.Steps)
	case c.cannot(s) != "":
		c.leaveOut(s, labels)
		return c.steps(s.Steps)
	}
	s.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), func(j Job) bool { return !c.given(j.Label) })
	s.Steps = c.steps(s.Steps)
	return []Step{s}
}

// asks is the op that a host must offer for the step: one that is cancelled is nothing without the cancel.
func (s *Step) asks() record.Op {
	if s.Shared {
		return record.OpShare
	}
	if s.Cancel || slices.ContainsFunc(s.Jobs, func(j Job) bool { return j.Cancel }) {
		return record.OpCancel
	}
	return s.Op
}

// Ops are what the steps ask for, each once.
func (s *Scenario) Ops() (ops []record.Op) {
	each(s.Steps, func(step Step) {
		for _, op := range []record.Op{step.Op, step.asks()} {
			if !slices.Contains(ops, op) {
				ops = append(ops, op)
			}
		}
	})
	return ops
}

func unless(not bool, s Step) []Step {
	if not {
		return nil
	}
	return []Step{s}
}

// cannot says why a step can't be asked, or "".
func (c *casting) cannot(s Step) string {
	for _, op := range []record.Op{s.Op, s.asks()} {
		if why := c.Cannot[op]; why != "" {
			return fmt.Sprintf("%s: %s", op, why)
		}
	}
	if c.OwnCalls && slices.ContainsFunc(s.Jobs, c.isCut) {
		return fmt.Sprintf("%s: what its command calls, and for how long, is its own business: its job can't be cut off in a call", s.Op)
	}
	return ""
}

// isCut says that a job is to be cut off in a call that only its tool makes last.
func (c *casting) isCut(j Job) bool {
	plain := func(s Server) bool { return s.Label == j.Label && len(s.Script.Faults) == 0 }
	return (j.Timeout > 0 || j.Cancel) && slices.ContainsFunc(c.servers, plain)
}

func (c *casting) lanes(s Step) []Step {
	var lanes [][]Step
	for _, lane := range s.Lanes {
		if lane = c.steps(lane); len(lane) > 0 {
			lanes = append(lanes, lane)
		}
	}
	s.Lanes = lanes
	return unless(len(lanes) == 0, s)
}

func (c *casting) given(label string) bool { return c.part == "" || label == c.part }

// leaveOut notes a step that can't be asked. That a host opens its session by itself is no loss; that a session of a
// bystander can't be opened neither.
func (c *casting) leaveOut(s Step, labels []string) {
	c.omitted.Unasked++
	if isOptionalList(s) {
		c.omitted.Lists++
		return
	}
	beside := len(labels) > 0 && !slices.ContainsFunc(labels, func(l string) bool { return slices.Contains(c.about, l) })
	if c.why == "" && (s.Defining || !c.ByItself && !beside) {
		c.why = c.cannot(s)
	}
}

// unused says that no step that is left is about a server, though one was.
func (c *casting) unused(label string, left []Step) bool {
	if c.ByItself || slices.Contains(c.about, label) {
		return false
	}
	uses := func(s Step) bool { return slices.Contains(labelsOf(s, c.labels), label) }
	return c.omitted.Unasked > 0 && !anyStep(left, uses)
}
