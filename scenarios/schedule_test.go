package scenarios_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// The plan wants to see just what the seed makes the servers do.
func TestPlanFollowsTheSeed(t *testing.T) {
	t.Parallel()
	f := fakeserver.Fault{On: "initialize", Do: "reject", Probability: 0.3}
	s := parse(t, play("one: {faults: [{on: initialize, do: reject, probability: 0.3}]}\ntwo: {faults: [{on: start, do: banner, probability: 0.3, every: 2}]}",
		"- repeat: 6\n  steps: [{open: a, server: one, expect: fail}, {open: b, server: two}]"))
	seen := map[int]bool{}
	for seed := range uint64(40) {
		due := 0
		for launch := 1; launch <= 6; launch++ {
			if f.Due(seed, "one", launch) {
				due++
			}
		}
		seen[due] = true
		plan := s.Plan(seed).Faults
		assert.Equal(t, record.PlanFault{Label: "one", On: "initialize", Do: "reject", Probability: 0.3, Fires: due}, plan[0])
		assert.LessOrEqual(t, plan[1].Fires, 3, "each second launch, and of these some")
	}
	assert.True(t, seen[0], "a seed may choose no launch, and then none is asked for")
	assert.True(t, seen[1] && seen[2] && seen[3])
}

// A launch that a seed has end early lets nothing later happen.
func TestPlanForestalledByChance(t *testing.T) {
	t.Parallel()
	s := parse(t, play("one: {faults: [{on: start, do: exit, probability: 0.5}, {on: initialize, do: reject}]}",
		"- repeat: 9\n  steps: [{open: a, server: one, expect: fail}]"))
	for seed := range uint64(20) {
		plan := s.Plan(seed).Faults
		assert.Equal(t, 9, plan[0].Fires+plan[1].Fires, "each launch does the one or the other")
	}
}

func TestPlanOfNewFaults(t *testing.T) {
	t.Parallel()
	for faults, want := range map[string][]int{
		"{on: ping, do: reject}":                                              {1},
		"{on: call, do: hang, after: 2}":                                      {1},
		"{on: epipe, do: spin}, {on: eof, do: write}":                         {0, 0},
		"{on: eof, do: linger-timer}, {on: start, do: ignore-term}":           {0, 5},
		"{on: start, do: banner}, {on: initialize, do: hang}":                 {5, 5}, // a host may get past it
		"{on: initialize, do: long-line}, {on: call, do: hang}":               {5, 1},
		"{on: initialize, do: partial}, {on: call, do: hang}":                 {5, 0},
		"{on: discover, do: stop-reading}, {on: initialize, do: hang}":        {1, 0}, // there is nothing to fall back to
		"{on: list, do: hang, after: 1}, {on: call, do: hang}":                {1, 1},
		"{on: initialize, do: progress, launch: 2}, {on: call, do: bad-utf8}": {1, 1},
	} {
		s := parse(t, play("one: {faults: ["+faults+"]}", "- repeat: 5\n  steps: [{open: a, server: one, expect: fail}]"))
		var got []int
		for _, f := range s.Plan(1).Faults {
			got = append(got, f.Fires)
		}
		assert.Equal(t, want, got, faults)
	}
}

func TestParseNewFields(t *testing.T) {
	t.Parallel()
	s := parse(t, play("one: {faults: [{on: call, do: progress, each: 20ms, after: 3, probability: 0.25, tool: echo}, {on: start, do: swell, mib: 9, step: 3, each: 1s}]}",
		"- {open: a, server: one}\n- {break: a, with: {do: swell, mib: 5, step: 2, each: 10ms}}\n- {break: a, with: spin}"))
	assert.Equal(t, []fakeserver.Fault{
		{On: "call", Do: "progress", Each: fakeserver.Duration(20 * time.Millisecond), After: 3, Probability: 0.25, Tool: "echo"},
		{On: "start", Do: "swell", MiB: 9, Step: 3, Each: fakeserver.Duration(time.Second)},
	}, s.Servers[0].Script.Faults)
	assert.Equal(t, fakeserver.Fault{On: "order", Do: "swell", MiB: 5, Step: 2, Each: fakeserver.Duration(10 * time.Millisecond)}, s.Steps[1].With)
	assert.Equal(t, fakeserver.Fault{On: "order", Do: "spin"}, s.Steps[2].With)
}

// What contradicts itself is refused where it stands.
func TestNewFieldsRefused(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]string{
		"{on: call, do: hang, probability: 1.5}":                                 "x.yaml:4:39: probability is out of range; it is more than 0 and less than 1",
		"{on: call, do: hang, probability: 1}":                                   "probability is out of range",
		"{on: call, do: hang, probability: 0}":                                   "probability is more than 0; leave it out for always",
		"{on: call, do: hang, probability: 0.0}":                                 "probability is more than 0; leave it out for always",
		"{on: call, do: hang, probability: -0.1}":                                "probability is out of range",
		"{on: call, do: hang, probability: often}":                               "this must be a probability, a number, not often (text)",
		"{on: call, do: hang, probability: .nan}":                                "this must be a probability, a number",
		"{on: call, do: hang, after: 0}":                                         "after is 1 or more; leave it out for the first one on",
		"{on: call, do: hang, after: -1}":                                        "after: -1 is less than 1",
		"{on: term, do: ignore, after: 1}":                                       "after does not go with on: term",
		"{on: call, do: swell, mib: 3, step: 65537}":                             "step is out of range; it may be 1 to 65536",
		"{on: call, do: swell, mib: 3, step: 0}":                                 "step is 1 or more",
		"{on: start, do: ignore-term}, {on: term, do: ignore}":                   "contradicts the fault on line 4 (on start: ignore-term): after that one, this one can't happen",
		"{on: call, do: hang, probability: 0.1}, {on: call, do: exit, after: 1}": "both can be due at the same moment of the same launch",
		"{on: eof, do: spin}, {on: eof, do: linger-socket}":                      "both can be due",
	} {
		_, err := scenarios.Parse("x.yaml", []byte(play("one: {faults: ["+fault+"]}", "- {open: a, server: one}")))
		require.Error(t, err, fault)
		require.ErrorContains(t, err, want)
		assert.Equal(t, 1, strings.Count(err.Error(), "x.yaml:"), "one problem: %v", err)
	}
	_, err := scenarios.Parse("x.yaml", []byte(play("one:", fmt.Sprintf("- {open: a, server: one}\n- {break: a, with: {do: exit, %s}}", "probability: 0.5"))))
	require.ErrorContains(t, err, `with has no "probability"`)
}
