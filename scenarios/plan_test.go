package scenarios_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// play is the text of a scenario with these servers and steps.
func play(servers, steps string) string {
	indent := func(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
	return "name: x\ntitle: x\nservers:\n" + indent(servers) + "\nsteps:\n" + indent(steps) + "\n"
}

func parse(t *testing.T, src string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("x.yaml", []byte(src))
	require.NoError(t, err, "%s", src)
	return s
}

func TestPlanLaunches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps string
		want  int
	}{
		"an open":                           {"- {open: a, server: one}", 1},
		"a reconnect":                       {"- {open: a, server: one}\n- open: a", 2},
		"one that is to fail is tried":      {"- {open: a, server: one, expect: fail}\n- open: a", 2},
		"one that may fail is not certain":  {"- {open: a, server: one, expect: any}\n- {open: a, expect: any}\n- open: a", 1},
		"a repeat":                          {"- repeat: 7\n  steps: [{open: a, server: one}]", 7},
		"repeats in repeats":                {"- repeat: 3\n  steps:\n    - {open: a, server: one}\n    - repeat: 4\n      steps: [{open: b, server: one}]", 15},
		"jobs":                              {"- tick: {jobs: [{server: one, count: 5}, {server: one}]}", 6},
		"a reload moves what is open":       {"- {open: a, server: one}\n- {open: b, server: one}\n- reload: one\n- close: b\n- reload: one", 5},
		"lanes":                             {"- parallel: [[{open: a, server: one}], [{open: b, server: one}, {open: b}]]", 3},
		"nothing after the end":             {"- {open: a, server: one}\n- kill: host\n- checkpoint: after", 1},
		"a lane beside the end is not sure": {"- {open: c, server: one}\n- parallel: [[{open: a, server: one}, {open: a}], [{open: b, server: one}, {kill: host}]]", 2},
		"nor are jobs":                      {"- {open: c, server: one}\n- tick: {jobs: [{server: one, count: 9}], during: [{open: c}, {term: host}]}", 2},
		"a host that launches by itself":    {"- {break: one, with: exit}", 1},
		"not opened, but there":             {"- checkpoint: up", 1},
		"a reload of what may be open":      {"- {open: a, server: one}\n- {open: a, expect: any}\n- reload: one", 1},
		"a reload beside what is not open":  {"- {open: a, server: one}\n- {open: b, server: one, expect: fail}\n- reload: one", 3},
		"a reload of the second life":       {"- {open: a, server: one}\n- restart: host\n- {open: b, server: one}\n- reload: one", 3},
		"a repeat beside jobs":              {"- tick: {jobs: [{server: one}], during: [{repeat: 3, steps: [{open: a, server: one}]}]}", 4},
		"one for those who share":           {"- {open: a, server: one, shared: true}\n- {open: b, server: one, shared: true}", 1},
		"a restart beside jobs":             {"- tick: {jobs: [{server: one, count: 9}], during: [{open: a, server: one}, {restart: host}]}", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, play("one:", c.steps))
			assert.Equal(t, []record.PlanLabel{{Label: "one", Launches: c.want}}, s.Plan(1).Labels)
		})
	}
}

func TestPlanFaults(t *testing.T) {
	t.Parallel()
	open := func(n int) string {
		return fmt.Sprintf("- repeat: %d\n  steps: [{open: a, server: one, expect: fail}]", n)
	}
	for name, c := range map[string]struct {
		server, steps string
		want          []int
	}{
		"a launch that must come":            {"faults: [{on: initialize, do: reject, launch: 2}]", open(2), []int{1}},
		"a launch that nothing forces":       {"faults: [{on: initialize, do: reject, launch: 3}]", open(2), []int{1}},
		"every launch":                       {"faults: [{on: initialize, do: reject}]", open(5), []int{5}},
		"every second launch":                {"faults: [{on: start, do: delay, for: 1ms, every: 2}]", open(5), []int{2}},
		"an ignored end of stdin":            {"faults: [{on: eof, do: ignore}, {on: term, do: ignore}]", open(5), []int{0, 0}},
		"a slow exit is up to the host":      {"faults: [{on: exit, do: delay, for: 1s}]", open(5), []int{0}},
		"a host asks for tools when it will": {"faults: [{on: list, do: reject}, {on: call, do: reject, every: 2}]", open(5), []int{1, 1}},
		"a probe is sent once or each time":  {"faults: [{on: discover, do: hang}]\nera: modern", open(5), []int{1}},
		"a dual server is asked either way":  {"faults: [{on: initialize, do: hang}]\nera: dual", open(5), []int{1}},
		"one that never gets that far":       {"faults: [{on: start, do: exit, launch: 2}, {on: initialize, do: reject}]", open(3), []int{1, 2}},
		"all of them":                        {"faults: [{on: start, do: exit}, {on: initialize, do: reject}]", open(3), []int{3, 0}},
		"a client falls back to initialize":  {"faults: [{on: discover, do: reject}, {on: initialize, do: hang}]", open(3), []int{1, 3}},
		"an optional server":                 {"faults: [{on: initialize, do: reject}]\noptional: true", open(3), []int{0}},
		"two that look the same":             {"faults: [{on: call, do: reject, tool: echo}, {on: call, do: reject, tool: sleep}]", open(2), []int{2}},
		"orders":                             {"era: legacy", "- {open: a, server: one}\n- repeat: 3\n  steps: [{break: a, with: exit}, {open: a}, {break: one, with: hang}, {open: a}]", []int{3, 3}},
		"three that look the same":           {"faults: [{on: call, do: reject, tool: echo}, {on: call, do: reject, tool: sleep}, {on: call, do: reject, tool: whoami}]", open(2), []int{3}},
		"two that are both far off":          {"faults: [{on: start, do: exit, launch: 2}, {on: initialize, do: reject, launch: 2}]", open(1), []int{1, 0}},
		"initialize is not a modern one's":   {"faults: [{on: initialize, do: hang}]\nera: modern", open(5), []int{1}},
		"a later death leaves the call":      {"faults: [{on: ping, do: exit}, {on: call, do: hang}]", open(5), []int{1, 1}},
		"an order to an optional server":     {"optional: true", "- {open: a, server: one}\n- {break: a, with: exit}", []int{0}},
		"an order beside the end":            {"era: legacy", "- {open: a, server: one}\n- parallel: [[{break: a, with: exit}], [{kill: host}]]", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := parse(t, play("one:\n  "+strings.ReplaceAll(c.server, "\n", "\n  "), c.steps))
			var got []int
			for _, f := range s.Plan(1).Faults {
				got = append(got, f.Fires)
			}
			assert.Equal(t, c.want, got)
		})
	}
}

func TestPlanCheckpoints(t *testing.T) {
	t.Parallel()
	for steps, want := range map[string][]string{
		"- checkpoint: up":                                               {"up", "host gone"},
		"- checkpoint: up\n- stop: host":                                 {"up", "host gone"},
		"- checkpoint: up\n- kill: host\n- checkpoint: z":                {"up", "z"},
		"- repeat: 2\n  steps: [{checkpoint: round}]\n- checkpoint: end": {"round-1", "round-2", "end", "host gone"},
		"- parallel: [[{kill: host}]]":                                   {"host gone"},
		"- stop: host\n- checkpoint: z":                                  {"z"},
		"- term: host\n- checkpoint: y\n- checkpoint: z":                 {"y", "z"},
	} {
		assert.Equal(t, want, parse(t, play("one:", steps)).Plan(1).Checkpoints, steps)
	}
}

// TestPlanOfAPart: what a host does by itself is not planned for it.
func TestPlanOfAPart(t *testing.T) {
	t.Parallel()
	s := parse(t, play("one: {faults: [{on: initialize, do: hang, launch: 1}, {on: list, do: reject}, {on: call, do: hang}]}\ntwo: {optional: true}",
		"- {open: a, server: one, defining: true}\n- {open: a, defining: true}\n- {open: b, server: two}\n- {kill: host, defining: true}"))
	for name, c := range map[string]struct {
		ability  scenarios.Ability
		launches int
		fires    []int
	}{
		"it does as it is told":            {scenarios.Ability{}, 2, []int{1, 1, 1}},
		"it uses its server by itself":     {scenarios.Ability{ByItself: true}, 2, []int{1, 0, 0}},
		"it launches as often as it likes": {scenarios.Ability{Unknown: true}, 1, []int{1, 0, 0}},
	} {
		parts, why := s.Cast(c.ability)
		require.Empty(t, why, name)
		plan := parts[0].Plan(1)
		assert.Equal(t, []record.PlanLabel{{Label: "one", Launches: c.launches}}, plan.Labels, name)
		assert.Equal(t, 2, plan.Defining, "%s: the host's end is certain, and opening b is beside the point", name)
		var fires []int
		for _, f := range plan.Faults {
			fires = append(fires, f.Fires)
		}
		assert.Equal(t, c.fires, fires, name)
	}
}

func TestExpandLeavesTheScenarioAlone(t *testing.T) {
	t.Parallel()
	s := parse(t, play("one:", "- repeat: 2\n  steps: [{checkpoint: round}, {parallel: [[{repeat: 2, steps: [{open: a, server: one}]}]]}]"))
	steps := s.Expand()
	require.Len(t, steps, 4)
	assert.Len(t, steps[1].Lanes[0], 2)
	assert.Equal(t, []string{"round-1", "", "round-2", ""}, lists.Map(steps, func(step scenarios.Step) string { return step.Name }))
	require.Len(t, s.Steps, 1)
	assert.Equal(t, "round", s.Steps[0].Steps[0].Name)
	assert.Equal(t, record.OpRepeat, s.Steps[0].Steps[1].Lanes[0][0].Op)
	assert.Equal(t, s.Expand(), steps)
}

// All that a file can say arrives where it belongs.
func TestParse(t *testing.T) {
	t.Parallel()
	s := parse(t, `
name: all
title: "All: of it"
about: |
  One.
  Two.
reports: [R001, F3]
servers:
  one:
    era: dual
    faults:
      - {on: call, do: delay, for: 1.5s, tool: sleep, every: 3}
      - {on: start, do: grow, mib: 7, launch: 2}
      - {on: initialize, do: exit, code: 4}
  two: {optional: true}
limits: {settle: 2s, confirm: 3s, quiet: 50ms, close: 4s, stop: 5s, spawns_per_session: 6, spawns_per_minute: 7, kib_per_cycle: 512, grace: 50ms, severity: {L4: warning, L8: off}}
steps:
  - {open: a, server: one, timeout: 1s, expect: any}
  - {call: a, tool: sleep, args: {ms: 500, deep: {list: [1, -2, 1.5, true, null, x]}}, timeout: 100ms}
  - {call: a, cancel: true}
  - {break: a, with: {do: exit, code: 9}}
  - {break: one, with: close-stdout}
  - {checkpoint: here, live: {one: 3}}
  - {reload: one, timeout: 2s, expect: fail}
  - tick:
      jobs: [{server: one, count: 2, tool: sleep, args: {ms: 10}, timeout: 1s}, {server: two, cancel: true}]
      during: [{call: a}]
  - parallel: [[{close: a, timeout: 3s}], [{term: host}]]
`)
	seconds := func(n int) record.Duration { return record.Duration(time.Duration(n) * time.Second) }
	assert.Equal(t, "All: of it", s.Title)
	assert.Equal(t, "One.\nTwo.", s.About)
	assert.Equal(t, []string{"R001", "F3"}, s.Reports)
	assert.Equal(t, []scenarios.Server{
		{Label: "one", Script: fakeserver.Script{Era: "dual", Faults: []fakeserver.Fault{
			{On: "call", Do: "delay", For: fakeserver.Duration(1500 * time.Millisecond), Tool: "sleep", Every: 3},
			{On: "start", Do: "grow", MiB: 7, Launch: 2},
			{On: "initialize", Do: "exit", Code: 4},
		}}},
		{Label: "two", Optional: true},
	}, s.Servers)
	assert.Equal(t, record.Limits{
		Settle: seconds(2), Confirm: seconds(3), Quiet: record.Duration(50 * time.Millisecond), Close: seconds(4), Stop: seconds(5),
		SpawnsPerSession: 6, SpawnsPerMinute: 7, GrowthPerCycle: 512 << 10, Grace: record.Duration(50 * time.Millisecond), Severity: map[string]record.Severity{"L4": "warning", "L8": "off"},
	}, s.Limits)

	steps := s.Steps
	require.Len(t, steps, 9)
	assert.Equal(t, scenarios.Step{Op: "open", Session: "a", Label: "one", Timeout: seconds(1), Expect: "any", Line: 18, Column: 6}, steps[0])
	assert.Equal(t, record.ExpectFail, steps[1].Expect, "it sleeps longer than it may")
	assert.Equal(t, map[string]any{
		"ms": int64(500), "deep": map[string]any{"list": []any{int64(1), int64(-2), 1.5, true, nil, "x"}},
	}, steps[1].Args)
	assert.True(t, steps[2].Cancel)
	assert.Equal(t, record.ExpectFail, steps[2].Expect, "it is cancelled")
	assert.Equal(t, scenarios.Step{Op: "break", Session: "a", Label: "one", With: fakeserver.Fault{On: "order", Do: "exit", Code: 9}, Line: 21, Column: 6}, steps[3])
	assert.Equal(t, scenarios.Step{Op: "break", Label: "one", With: fakeserver.Fault{On: "order", Do: "close-stdout"}, Line: 22, Column: 6}, steps[4])
	assert.Equal(t, map[string]int{"one": 3}, steps[5].Live)
	assert.Equal(t, []scenarios.Job{
		{Count: 2, Label: "one", Tool: "sleep", Args: map[string]any{"ms": int64(10)}, Timeout: seconds(1)},
		{Count: 1, Label: "two", Cancel: true, Expect: "fail"},
	}, steps[7].Jobs)
	assert.Equal(t, []scenarios.Step{{Op: "call", Session: "a", Line: 27, Column: 17}}, steps[7].Steps)
	assert.Equal(t, [][]scenarios.Step{
		{{Op: "close", Session: "a", Timeout: seconds(3), Line: 28, Column: 18}}, {{Op: "term", Line: 28, Column: 45}},
	}, steps[8].Lanes)
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	s := parse(t, play("one:", "- checkpoint: up"))
	assert.Equal(t, record.Limits{
		Settle: record.Duration(15 * time.Second), Confirm: record.Duration(10 * time.Second), Quiet: record.Duration(100 * time.Millisecond),
		Close: record.Duration(15 * time.Second), Stop: record.Duration(30 * time.Second),
		GrowthPerCycle: 1 << 20, Grace: record.Duration(200 * time.Millisecond),
	}, s.Limits)
}

// What is odd but means something is not refused.
func TestAllowed(t *testing.T) {
	t.Parallel()
	for name, steps := range map[string]string{
		"a call that is to fail on a closed session": "- {open: a, server: one}\n- close: a\n- {call: a, expect: fail}\n- open: a",
		"a session that a lane has opened":           "- parallel: [[{open: a, server: one}], [{open: b, server: one}]]\n- call: a\n- call: b",
		"a session of the label's own name":          "- {open: one, server: one}\n- {break: one, with: exit}",
		"a call after a death":                       "- {open: a, server: one}\n- {break: a, with: exit}\n- {call: a, expect: any}",
		"a repeat that leaves a session open":        "- repeat: 3\n  steps: [{open: a, server: one}, {call: a}]\n- call: a",
		"one lane closes it, one opens it anew":      "- {open: a, server: one}\n- parallel: [[{close: a}], [{open: a}]]\n- call: a",
		"one lane opens it anew, one closes it":      "- {open: a, server: one}\n- parallel: [[{open: a}], [{close: a}]]\n- call: a",
		"an await after lanes inside a tick":         "- {open: a, server: one}\n- tick: {jobs: [{server: one}], during: [{parallel: [[{call: a}]]}, {parallel: [[{call: a}], [{await: a, for: call}]]}]}",
		"an await of lanes around it":                "- {open: a, server: one}\n- parallel: [[{call: a}], [{parallel: [[{close: a}], [{await: a, for: call}]]}]]",
		"an await of what a reload connects":         "- {open: a, server: one}\n- parallel: [[{reload: one}], [{await: a, for: connect}]]",
		"an await of what a break connects":          "- {open: a, server: one}\n- parallel: [[{break: a, with: exit}], [{await: a, for: connect}]]",
		"an await of what a call connects":           "- {open: a, server: one}\n- parallel: [[{call: a}], [{await: a, for: connect}]]",
		"an await that may come too late":            "- {open: a, server: one}\n- parallel: [[{call: a}], [{await: a, for: call, expect: any}]]",
		"as many jobs as there may be":               "- tick: {jobs: [{server: one, count: 500}, {server: one, count: 500}]}",
		"a code of 0":                                "- {open: a, server: one}\n- {break: a, with: {do: exit, code: 0}}",
		"steps as deep as may be":                    "- {open: a, server: one}\n- {repeat: 1, steps: [{repeat: 1, steps: [{repeat: 1, steps: [{repeat: 1, steps: [{call: a}]}]}]}]}",
		"kill while it opens":                        "- parallel: [[{open: a, server: one, expect: any}, {call: a, expect: any}], [{kill: host}]]",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parse(t, play("one:", steps))
		})
	}
}

// TestWhatACallIsTold: it has what is written, and is expected to fail where it is cut off, and only there.
func TestWhatACallIsTold(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("x", 2<<10)
	for call, want := range map[string]scenarios.Step{
		"pad: 2":                                     {Args: map[string]any{"pad": pad}},
		"args: {text: y}, pad: 2":                    {Args: map[string]any{"text": "y", "pad": pad}},
		"args: ":                                     {},
		"tool: sleep, args: {ms: 3600000}":           {Tool: "sleep", Args: map[string]any{"ms": int64(3600000)}},
		"tool: sleep, args: {ms: 0}, expect: ok":     {Tool: "sleep", Args: map[string]any{"ms": int64(0)}},
		"args: {ms: 500}, timeout: 100ms":            {Args: map[string]any{"ms": int64(500)}, Timeout: record.Duration(100 * time.Millisecond)},
		"tool: sleep, args: {ms: 99}, timeout: 0.1s": {Tool: "sleep", Args: map[string]any{"ms": int64(99)}, Timeout: record.Duration(100 * time.Millisecond)},
		"tool: sleep, args: {ms: 100}, timeout: 0.1s": {
			Tool: "sleep", Args: map[string]any{"ms": int64(100)}, Timeout: record.Duration(100 * time.Millisecond), Expect: record.ExpectFail,
		},
	} {
		s := parse(t, play("one:", "- {open: a, server: one}\n- {call: a, "+call+"}"))
		want.Op, want.Session, want.Line, want.Column = record.OpCall, "a", 7, 6
		assert.Equal(t, want, s.Steps[1], call)
	}
	s := parse(t, play("one:\ntwo:", "- {open: a, server: one}\n- {open: b, server: two}\n- {checkpoint: up, live: {one: 2, two: 0}}"))
	assert.Equal(t, map[string]int{"one": 2, "two": 0}, s.Steps[2].Live)
}

// TestLaunchesOfASession: the limit may be reached by the steps themselves, and not passed.
func TestLaunchesOfASession(t *testing.T) {
	t.Parallel()
	const steps = "- {open: b, server: one}\n- open: b\n- {open: a, server: one}\n- open: a\n"
	text := func(limit int) []byte {
		return []byte(fmt.Sprintf("limits: {spawns_per_session: %d}\n", limit) + play("one:", strings.TrimSuffix(steps, "\n")))
	}
	_, err := scenarios.Parse("x.yaml", text(2))
	require.NoError(t, err)
	_, err = scenarios.Parse("x.yaml", text(1))
	var all scenarios.Errors
	require.ErrorAs(t, err, &all)
	require.Len(t, all, 2)
	for i, session := range []string{"a", "b"} {
		assert.Equal(t, "the steps themselves launch a server for session "+session+" 2 times", all[i].Message)
	}
}

// A play may be long, but not so long that it never ends.
func TestSize(t *testing.T) {
	t.Parallel()
	const inner = "- {open: a, server: one}\n- repeat: %d\n  steps:\n    - repeat: 10\n      steps: [{call: a}]"
	s := parse(t, play("one:", fmt.Sprintf(inner, 9_999)))
	assert.Len(t, s.Expand(), 99_991)
	assert.Len(t, parse(t, play("one:", fmt.Sprintf(inner, 9_999)+strings.Repeat("\n- call: a", 9))).Expand(), 100_000)
	_, err := scenarios.Parse("x.yaml", []byte(play("one:", fmt.Sprintf(inner, 10_001))))
	require.ErrorContains(t, err, "x.yaml:7:13: the steps, with repeats written out, are more than 100000 steps")
	_, err = scenarios.Parse("x.yaml", []byte(play("one:", "- {open: a, server: one}\n- repeat: 60000\n  steps: [{call: a}]\n- repeat: 60000\n  steps: [{call: a}]")))
	require.ErrorContains(t, err, "x.yaml:5:1: the steps, with repeats written out, are more than 100000")
	_, err = scenarios.Parse("x.yaml", []byte(play("one:", "- repeat: 100\n  steps: [{tick: {jobs: [{server: one, count: 1000}]}}]")))
	require.ErrorContains(t, err, "written out")
}

// Each repetition of a repeat ends in a mark, also where it holds others; what
// is inside another step has none.
func TestTheEndsOfCycles(t *testing.T) {
	t.Parallel()
	s := parse(t, `
name: cycles
title: Cycles
servers: {a: }
steps:
  - open: s
    server: a
  - repeat: 2
    steps:
      - call: s
      - repeat: 2
        steps: [{call: s}, {open: s}]
  - parallel: [[{repeat: 3, steps: [{call: s}]}]]
  - repeat: 1
    steps: [{call: s}]
`)
	var marks []string
	for _, step := range s.Expand() {
		mark := string(step.Op)
		if step.Cycle != nil {
			mark += fmt.Sprintf(" %d.%d", step.Cycle.Series, step.Cycle.N)
		}
		marks = append(marks, mark)
	}
	assert.Equal(t, []string{
		"open", "call", "call", "open", "call", "open 1.1", "call", "call", "open", "call", "open 1.2", "parallel", "call 2.1",
	}, marks)
}

func TestCancelledAndForgotten(t *testing.T) {
	t.Parallel()
	s := parse(t, play("one:", `- {open: a, server: one, cancel: true}
- {open: a, cancel: true, expect: any}
- open: a
- {call: a, cancel: true, twice: true}
- parallel:
    - - {call: a, tool: sleep, args: {ms: 9}, expect: any}
    - - {await: a, for: call}
      - forget: a
- open: a`))
	assert.Equal(t, record.ExpectFail, s.Steps[0].Expect, "a connect that is cancelled fails")
	assert.Equal(t, record.ExpectAny, s.Steps[1].Expect)
	assert.True(t, s.Steps[3].Cancel && s.Steps[3].Twice)
	assert.Equal(t, scenarios.AwaitCall, s.Steps[4].Lanes[1][0].For)
	assert.Equal(t, []record.PlanLabel{{Label: "one", Launches: 3}}, s.Plan(0).Labels)
}
