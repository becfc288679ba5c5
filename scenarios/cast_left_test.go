package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func opens(session, label string) scenarios.Step {
	return scenarios.Step{Op: record.OpOpen, Session: session, Label: label}
}

func calls(session string) scenarios.Step {
	return scenarios.Step{Op: record.OpCall, Session: session}
}

func defining(s scenarios.Step) scenarios.Step {
	s.Defining = true
	return s
}

// left puts steps into a line: "open x, repeat(call x | call y)".
func left(all []scenarios.Step) string {
	var parts []string
	for _, s := range all {
		text := strings.TrimSpace(fmt.Sprintf("%s %s", s.Op, s.Session))
		for _, j := range s.Jobs {
			text += " " + j.Label
		}
		var inside []string
		for _, lane := range append([][]scenarios.Step{s.Steps}, s.Lanes...) {
			if len(lane) > 0 {
				inside = append(inside, left(lane))
			}
		}
		if len(inside) > 0 {
			text += "(" + strings.Join(inside, " | ") + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func server(label string, faults int, optional bool) scenarios.Server {
	return scenarios.Server{Label: label, Optional: optional, Script: fakeserver.Script{Faults: make([]fakeserver.Fault, faults)}}
}

// TestWhatIsLeftOfAScenario: of what a host is not given, or can't be asked, nothing is left, and around it what is inside alone.
func TestWhatIsLeftOfAScenario(t *testing.T) {
	t.Parallel()
	one := scenarios.Ability{One: true}
	noCall := map[record.Op]string{record.OpCall: "no calls"}
	all := []scenarios.Step{
		defining(opens("x", "a")), opens("y", "b"),
		{Op: record.OpRepeat, Count: 2, Steps: []scenarios.Step{calls("x"), calls("y")}},
		{Op: record.OpRepeat, Count: 2, Steps: []scenarios.Step{calls("y")}},
		{Op: record.OpParallel, Lanes: [][]scenarios.Step{{calls("x")}, {calls("y")}, {calls("y"), calls("x")}}},
		{Op: record.OpParallel, Lanes: [][]scenarios.Step{{calls("y")}}},
		{Op: record.OpTick, Jobs: []scenarios.Job{{Label: "a"}, {Label: "b"}, {Label: "a"}}, Steps: []scenarios.Step{calls("y"), calls("x")}},
		{Op: record.OpTick, Jobs: []scenarios.Job{{Label: "b"}}, Steps: []scenarios.Step{calls("x")}},
		{Op: record.OpStop},
	}
	for name, c := range map[string]struct {
		servers []scenarios.Server
		steps   []scenarios.Step
		ability scenarios.Ability
		want    string
		servs   string
		omitted scenarios.Omitted
		why     string
	}{
		"all of it": {
			[]scenarios.Server{server("a", 0, false), server("b", 0, false)},
			all,
			scenarios.Ability{},
			"open x, open y, repeat(call x, call y), repeat(call y), parallel(call x | call y | call y, call x), parallel(call y), " +
				"tick a b a(call y, call x), tick b(call x), stop", "a b",
			scenarios.Omitted{},
			"",
		},
		"one server": {
			[]scenarios.Server{server("a", 0, false), server("b", 0, false)},
			all, one,
			"open x, repeat(call x), parallel(call x | call x), tick a a(call x), call x, stop", "a",
			scenarios.Omitted{Foreign: 8},
			"",
		},
		"calls can't be asked for, and are what it is about": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{opens("x", "a"), defining(calls("x"))},
			scenarios.Ability{Cannot: noCall, ByItself: true},
			"", "",
			scenarios.Omitted{},
			"call: no calls",
		},
		"calls can't be asked for, and are made anyway": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{defining(opens("x", "a")), calls("x")},
			scenarios.Ability{Cannot: noCall, ByItself: true},
			"open x", "a",
			scenarios.Omitted{Unasked: 1},
			"",
		},
		"calls of its own session can't be asked for": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{defining(opens("x", "a")), calls("x")},
			scenarios.Ability{Cannot: noCall},
			"", "",
			scenarios.Omitted{},
			"call: no calls",
		},
		"calls beside it can't be asked for": {
			[]scenarios.Server{server("a", 0, false), server("b", 0, false)},
			[]scenarios.Step{defining(opens("x", "a")), opens("y", "b"), calls("y")},
			scenarios.Ability{Cannot: noCall},
			"open x, open y", "a b",
			scenarios.Omitted{Unasked: 1},
			"",
		},
		"a server beside it is used no more": {
			[]scenarios.Server{server("a", 0, false), server("b", 0, false)},
			[]scenarios.Step{defining(opens("x", "a")), {Op: record.OpCall, Session: "y", Label: "b"}},
			scenarios.Ability{Cannot: noCall},
			"open x", "a",
			scenarios.Omitted{Unasked: 1},
			"",
		},
		"a step about the host can't be asked for": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{opens("x", "a"), {Op: record.OpReload}, calls("x")},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpReload: "no reload", record.OpCall: "no calls"}},
			"", "",
			scenarios.Omitted{},
			"reload: no reload",
		},
		"a cancel can't be asked for": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{defining(opens("x", "a")), {Op: record.OpTick, Jobs: []scenarios.Job{{Label: "a"}, {Label: "a", Cancel: true}}}},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpCancel: "no cancel"}},
			"", "",
			scenarios.Omitted{},
			"cancel: no cancel",
		},
		"a cancel is not asked for": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{defining(scenarios.Step{Op: record.OpTick, Jobs: []scenarios.Job{{Label: "a"}}})},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpCancel: "no cancel"}},
			"tick a", "a",
			scenarios.Omitted{},
			"",
		},
		"each job is to be cancelled": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{defining(scenarios.Step{Op: record.OpTick, Jobs: []scenarios.Job{{Label: "a", Cancel: true}}})},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpCancel: "no cancel"}},
			"", "",
			scenarios.Omitted{},
			"cancel: no cancel",
		},
		"jobs can't be asked for, the steps beside them can": {
			[]scenarios.Server{server("a", 0, false)},
			[]scenarios.Step{defining(opens("x", "a")), {Op: record.OpTick, Jobs: []scenarios.Job{{Label: "a"}}, Steps: []scenarios.Step{calls("x")}}},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpTick: "no tick"}, ByItself: true},
			"open x, call x", "a",
			scenarios.Omitted{Unasked: 1},
			"",
		},
		"a server that it launches by itself stays": {
			[]scenarios.Server{server("a", 1, false), server("b", 0, false)},
			[]scenarios.Step{opens("y", "b"), {Op: record.OpKill}},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpOpen: "no open"}, ByItself: true},
			"kill", "a b",
			scenarios.Omitted{Unasked: 1},
			"",
		},
		"a server that it is about stays": {
			[]scenarios.Server{server("a", 1, false), server("b", 0, false)},
			[]scenarios.Step{opens("y", "b"), {Op: record.OpKill}},
			scenarios.Ability{Cannot: map[record.Op]string{record.OpOpen: "no open"}},
			"kill", "a",
			scenarios.Omitted{Unasked: 1},
			"",
		},
		"a server that no step is about stays": {
			[]scenarios.Server{server("a", 1, false), server("b", 0, false)},
			[]scenarios.Step{opens("x", "a")},
			scenarios.Ability{},
			"open x", "a b",
			scenarios.Omitted{},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scenarios.Scenario{Name: "made", Servers: c.servers, Steps: c.steps}
			parts, why := s.Cast(c.ability)
			assert.Equal(t, c.why, why)
			if c.why != "" {
				assert.Empty(t, parts)
				return
			}
			require.Len(t, parts, 1)
			assert.Equal(t, c.want, left(parts[0].Steps))
			var labels []string
			for _, v := range parts[0].Servers {
				labels = append(labels, v.Label)
			}
			assert.Equal(t, c.servs, strings.Join(labels, " "))
			assert.Equal(t, c.omitted, parts[0].Omitted)
			assert.Equal(t, c.ability.Cannot, parts[0].Ability.Cannot)
			again, _ := parts[0].Cast(c.ability)
			assert.Equal(t, c.omitted, again[0].Omitted, "nothing more is left out, and what was stays told")
		})
	}
}

// TestWhatAScenarioIsAbout: the servers of the defining steps, else those that do something wrong, else all that must be there.
func TestWhatAScenarioIsAbout(t *testing.T) {
	t.Parallel()
	plain, faulty, maybe, both := server("a", 0, false), server("b", 1, false), server("c", 0, true), server("d", 1, true)
	tick := scenarios.Step{Op: record.OpTick, Defining: true, Jobs: []scenarios.Job{{Label: "c"}, {Label: "a"}, {Label: "c"}}}
	for name, c := range map[string]struct {
		servers []scenarios.Server
		steps   []scenarios.Step
		want    []string
	}{
		"a defining step":            {[]scenarios.Server{plain, faulty}, []scenarios.Step{defining(opens("x", "a")), opens("y", "b")}, []string{""}},
		"a defining use":             {[]scenarios.Server{plain, faulty}, []scenarios.Step{opens("x", "a"), opens("y", "b"), defining(calls("x"))}, []string{""}},
		"jobs":                       {[]scenarios.Server{plain, faulty, maybe}, []scenarios.Step{tick}, []string{"a", "c"}},
		"those that do it wrong":     {[]scenarios.Server{plain, faulty, server("e", 2, false), both}, []scenarios.Step{opens("x", "a")}, []string{"b", "e"}},
		"those that must be there":   {[]scenarios.Server{plain, server("e", 0, false), maybe, both}, []scenarios.Step{opens("x", "a")}, []string{"a", "e"}},
		"all, where none must be so": {[]scenarios.Server{maybe, both}, []scenarios.Step{opens("x", "c")}, []string{"c", "d"}},
	} {
		s := &scenarios.Scenario{Name: "made", Servers: c.servers, Steps: c.steps}
		parts, why := s.Cast(scenarios.Ability{One: true})
		assert.Empty(t, why, name)
		var got []string
		for _, p := range parts {
			got = append(got, p.Part)
		}
		assert.Equal(t, c.want, got, name)
		whole, _ := s.Cast(scenarios.Ability{})
		assert.Len(t, whole, 1, name)
	}
}

// TestAJobThatIsToBeCutOff needs a tool that lasts, or a server that makes it last.
func TestAJobThatIsToBeCutOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		job     scenarios.Job
		servers []scenarios.Server
		ok      bool
	}{
		"it may end as it will":     {scenarios.Job{Label: "a"}, []scenarios.Server{server("a", 0, false)}, true},
		"a time limit":              {scenarios.Job{Label: "a", Timeout: 5}, []scenarios.Server{server("a", 0, false)}, false},
		"a cancel":                  {scenarios.Job{Label: "a", Cancel: true}, []scenarios.Server{server("a", 0, false)}, false},
		"its server makes it last":  {scenarios.Job{Label: "a", Cancel: true}, []scenarios.Server{server("a", 1, false)}, true},
		"another server is the one": {scenarios.Job{Label: "a", Timeout: 5}, []scenarios.Server{server("a", 1, false), server("b", 0, false)}, true},
	} {
		s := &scenarios.Scenario{Name: "made", Servers: c.servers, Steps: []scenarios.Step{defining(scenarios.Step{Op: record.OpTick, Jobs: []scenarios.Job{c.job}})}}
		_, why := s.Cast(scenarios.Ability{OwnCalls: true})
		assert.Equal(t, c.ok, why == "", "%s: %s", name, why)
		_, why = s.Cast(scenarios.Ability{})
		assert.Empty(t, why, name)
	}
}

func TestOpsAndOmissionsInWords(t *testing.T) {
	t.Parallel()
	share := scenarios.Scenario{Steps: []scenarios.Step{{Op: record.OpOpen, Shared: true}}}
	assert.Equal(t, []record.Op{record.OpOpen, record.OpShare}, share.Ops(), "one that shares asks for more than an open")
	s := &scenarios.Scenario{Steps: []scenarios.Step{opens("x", "a"), {Op: record.OpRepeat, Steps: []scenarios.Step{calls("x"), {Op: record.OpCall, Session: "x", Cancel: true}}}, opens("y", "a")}}
	assert.Equal(t, []record.Op{record.OpOpen, record.OpRepeat, record.OpCall, record.OpCancel}, s.Ops())
	for want, o := range map[string]scenarios.Omitted{
		"":                            {},
		"1 step about other servers":  {Foreign: 1},
		"2 steps that it cannot play": {Unasked: 2},
		"2 steps about other servers and 1 step that it cannot play": {Foreign: 2, Unasked: 1},
	} {
		assert.Equal(t, want, o.String())
	}
	assert.Equal(t, map[string]string{"x": "a", "y": "a"}, s.Sessions())
	s = &scenarios.Scenario{
		Servers: []scenarios.Server{server("a", 2, false), server("b", 1, false)},
		Steps:   []scenarios.Step{opens("x", "a"), {Op: record.OpReload, Label: "a"}, {Op: record.OpRepeat, Steps: []scenarios.Step{calls("x")}}},
	}
	assert.Equal(t, map[string]string{"x": "a"}, s.Sessions(), "a reload is of no session")
	assert.Equal(t, scenarios.Size{Steps: 4, Servers: 2, Faults: 3}, s.Size())
	assert.Equal(t, "4 steps, 2 servers, 3 faults", s.Size().String())
	s.Steps = []scenarios.Step{
		defining(opens("x", "a")), defining(opens("x", "a")), calls("x"), defining(scenarios.Step{Op: record.OpReload, Label: "a"}), defining(scenarios.Step{Op: record.OpKill}),
	}
	assert.Equal(t, []string{"open x", "reload a", "kill"}, s.Defining())
}
