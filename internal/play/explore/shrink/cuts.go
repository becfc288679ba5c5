package shrink

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// cutter counts the cuts that a scenario allows, or makes one of them.
type cutter struct {
	take int // which cut is made, from 1; 0: none
	cuts int
}

// cut reports whether the next cut is the one to make.
func (c *cutter) cut(can bool) bool {
	if !can {
		return false
	}
	c.cuts++
	return c.cuts == c.take
}

// count goes through the cuts of a scenario, the large ones first.
func (c *cutter) count(s *scenarios.Scenario) {
	for _, label := range labelsOf(s) {
		if c.cut(len(s.Servers) > 1) {
			s.Steps = without(s.Steps, func(t *scenarios.Step) bool {
				return t.Label == label || t.Session != "" && s.Sessions()[t.Session] == label
			},
				func(j scenarios.Job) bool { return j.Label == label })
			s.Servers = slices.DeleteFunc(s.Servers, func(v scenarios.Server) bool { return v.Label == label })
			return
		}
	}
	for _, name := range sessionsOf(s) {
		if c.cut(true) {
			s.Steps = without(s.Steps, func(t *scenarios.Step) bool { return t.Session == name }, nil)
			return
		}
	}
	c.steps(&s.Steps)
	c.each(s.Steps, (*cutter).shape, func(steps *[]scenarios.Step) { s.Steps = *steps })
	for i := range s.Servers {
		c.script(&s.Servers[i])
	}
	c.each(s.Steps, (*cutter).detail, func(*[]scenarios.Step) {})
	if c.cut(s.Place != "") {
		s.Place = ""
	}
	if usual := scenarios.Defaults().SpawnsPerSession; c.cut(s.Limits.SpawnsPerSession != usual) {
		s.Limits.SpawnsPerSession = usual
	}
}

// steps takes out parts of a list: halves, quarters and so on, then single ones.
func (c *cutter) steps(list *[]scenarios.Step) {
	n := len(*list)
	for size := n / 2; size >= 1; size /= 2 {
		for at := 0; at+size <= n; at += size {
			if c.cut(true) {
				*list = slices.Delete(slices.Clone(*list), at, at+size)
				return
			}
		}
	}
	for i := range *list {
		s := &(*list)[i]
		if len(s.Steps) > 0 {
			c.steps(&s.Steps)
		}
		for k := range s.Lanes {
			c.steps(&s.Lanes[k])
		}
	}
}

// each goes through all steps, those inside others too. A step may be replaced by several.
func (c *cutter) each(list []scenarios.Step, f func(*cutter, *scenarios.Step) []scenarios.Step, set func(*[]scenarios.Step)) {
	for i := range list {
		s := &list[i]
		if in := f(c, s); in != nil {
			now := slices.Concat(list[:i:i], in, list[i+1:])
			set(&now)
			return
		}
		c.each(s.Steps, f, func(now *[]scenarios.Step) { s.Steps = *now })
		for k := range s.Lanes {
			c.each(s.Lanes[k], f, func(now *[]scenarios.Step) { s.Lanes[k] = *now })
		}
	}
}

// shape takes a step apart that has others inside it.
func (c *cutter) shape(s *scenarios.Step) []scenarios.Step {
	switch s.Op {
	case record.OpParallel:
		if c.cut(true) { // one after the other
			return withoutAwait(slices.Concat(s.Lanes...))
		}
		for k := range s.Lanes {
			if c.cut(len(s.Lanes) > 1) {
				s.Lanes = slices.Delete(slices.Clone(s.Lanes), k, k+1)
				return nil
			}
		}
	case record.OpRepeat:
		if c.cut(true) {
			return s.Steps
		}
		for _, n := range []int{s.Count / 2, s.Count - 1} {
			if c.cut(n > 1) {
				s.Count = n
				return nil
			}
		}
	case record.OpTick:
		if c.cut(len(s.Steps) > 0) {
			s.Steps = nil
		}
		for k := range s.Jobs {
			if c.cut(len(s.Jobs) > 1) {
				s.Jobs = slices.Delete(slices.Clone(s.Jobs), k, k+1)
				return nil
			}
		}
	}
	return nil
}

func withoutAwait(steps []scenarios.Step) []scenarios.Step {
	return slices.DeleteFunc(steps, func(s scenarios.Step) bool { return s.Op == record.OpAwait })
}

// script makes a server simpler.
func (c *cutter) script(v *scenarios.Server) {
	faults := &v.Script.Faults
	for i := range *faults {
		if c.cut(true) {
			*faults = slices.Delete(slices.Clone(*faults), i, i+1)
			return
		}
	}
	for i := range *faults {
		c.fault(&(*faults)[i])
	}
	if c.cut(v.Script.Era != "") {
		v.Script.Era = ""
	}
	if c.cut(v.Optional) {
		v.Optional = false
	}
}

// fault makes a fault act always, in the usual way.
func (c *cutter) fault(f *fakeserver.Fault) {
	for _, d := range fakeserver.Fields[2:] {
		switch v := d.Of(f).(type) {
		case *int:
			if c.cut(*v > 0 && d.Name != "mib") {
				*v = 0
			} else if c.cut(*v > 1 && d.Name == "mib") {
				*v = 1
			}
		case *float64:
			if c.cut(*v > 0) {
				*v = 0
			}
		case *string:
			if c.cut(*v != "") {
				*v = ""
			}
		case *fakeserver.Duration:
			if c.cut(v.D() > shortest) {
				*v = fakeserver.Duration(shortest)
			}
		}
	}
}

const shortest = 50 * time.Millisecond

type step = scenarios.Step

// details are ways to make a step plainer.
var details = []struct {
	can func(*step) bool
	cut func(*step)
}{
	{func(s *step) bool { return s.Op == record.OpForget }, func(s *step) { s.Op = record.OpClose }},
	{
		func(s *step) bool { return s.Op == record.OpBreak && s.With.Do != "exit" },
		func(s *step) { s.With = fakeserver.Fault{On: s.With.On, Do: "exit"} },
	},
	{func(s *step) bool { return s.Cancel }, func(s *step) { s.Cancel, s.Twice, s.Expect = false, false, record.ExpectAny }},
	{func(s *step) bool { return s.Twice }, func(s *step) { s.Twice = false }},
	{func(s *step) bool { return s.Tool != "" || s.Args != nil }, func(s *step) {
		s.Tool, s.Args = "", nil
		if s.Expect == record.ExpectFail {
			s.Expect = record.ExpectAny
		}
	}},
	{func(s *step) bool { return s.Timeout > 0 && s.Expect == record.ExpectAny }, func(s *step) { s.Timeout, s.Expect = 0, "" }},
	{func(s *step) bool { return s.Timeout > 0 }, func(s *step) { s.Timeout = 0 }},
	{func(s *step) bool { return s.Timeout.D() > 4*shortest }, func(s *step) { s.Timeout = record.Duration(4 * shortest) }},
	{func(s *step) bool { return s.Expect == record.ExpectAny }, func(s *step) { s.Expect = "" }},
	{func(s *step) bool { return s.After != "" || s.Grace > 0 }, func(s *step) { s.After, s.Grace = "", 0 }},
}

// detail makes a step plainer.
func (c *cutter) detail(s *step) []step {
	for _, d := range details {
		if c.cut(d.can(s)) {
			d.cut(s)
			break
		}
	}
	for k := range s.Jobs {
		c.job(&s.Jobs[k])
	}
	return nil
}

func (c *cutter) job(j *scenarios.Job) {
	plain := scenarios.Job{Label: j.Label, Count: j.Count}
	switch {
	case c.cut(j.Count > 1):
		j.Count = 1
	case c.cut(j.Timeout > 0 || j.Cancel || j.Tool != "" || j.Probe || j.Expect != ""):
		*j = plain
	case c.cut(j.Expect == record.ExpectAny):
		j.Expect = ""
	}
}

func labelsOf(s *scenarios.Scenario) (all []string) {
	for _, v := range s.Servers {
		all = append(all, v.Label)
	}
	return all
}

func sessionsOf(s *scenarios.Scenario) (all []string) {
	var walk func([]scenarios.Step)
	walk = func(steps []scenarios.Step) {
		for i := range steps {
			if name := steps[i].Session; name != "" && !slices.Contains(all, name) {
				all = append(all, name)
			}
			walk(steps[i].Steps)
			for _, lane := range steps[i].Lanes {
				walk(lane)
			}
		}
	}
	walk(s.Steps)
	return all
}

// without leaves out steps and jobs, and what is empty then.
func without(steps []scenarios.Step, out func(*scenarios.Step) bool, job func(scenarios.Job) bool) (kept []scenarios.Step) {
	for _, s := range steps {
		if out(&s) {
			continue
		}
		full := len(s.Steps) + len(s.Lanes) + len(s.Jobs)
		s.Steps = without(s.Steps, out, job)
		var lanes [][]scenarios.Step
		for _, lane := range s.Lanes {
			if lane = without(lane, out, job); len(lane) > 0 {
				lanes = append(lanes, lane)
			}
		}
		s.Lanes = lanes
		if job != nil {
			s.Jobs = slices.DeleteFunc(slices.Clone(s.Jobs), job)
		}
		if full > 0 && len(s.Steps)+len(s.Lanes)+len(s.Jobs) == 0 {
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

// dropUnused takes out servers that no step is about any more, and what has become empty.
func dropUnused(s *scenarios.Scenario) {
	empty := func(t *scenarios.Step) bool {
		needs := map[record.Op]int{record.OpTick: len(t.Jobs), record.OpParallel: len(t.Lanes), record.OpRepeat: len(t.Steps)}
		n, nests := needs[t.Op]
		return nests && n == 0
	}
	s.Steps = without(s.Steps, empty, nil)
	used, opens := map[string]bool{}, false
	var walk func([]scenarios.Step)
	walk = func(steps []scenarios.Step) {
		for _, t := range steps {
			used[t.Label] = true
			opens = opens || t.Op == record.OpOpen || t.Op == record.OpTick
			for _, j := range t.Jobs {
				used[j.Label] = true
			}
			walk(t.Steps)
			for _, lane := range t.Lanes {
				walk(lane)
			}
		}
	}
	walk(s.Steps)
	if opens {
		s.Servers = slices.DeleteFunc(s.Servers, func(v scenarios.Server) bool { return !used[v.Label] })
	}
}
