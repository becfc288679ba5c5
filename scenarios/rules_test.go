package scenarios_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/scenarios"
)

// TestRules breaks one rule of a scenario file in each case, and holds what is said of it against the whole list of
// problems: nothing is left out, and no step is blamed for the mistake of another. The steps begin below the servers, on line 6 or 7.
func TestRules(t *testing.T) {
	t.Parallel()
	const open = "- {open: a, server: one}\n"
	inRepeat := func(levels int) string {
		return open + "- {" + strings.Repeat("repeat: 1, steps: [{", levels) + "call: a" + strings.Repeat("}]", levels) + "}"
	}
	inTick := func(levels int) string {
		return open + "- " + strings.Repeat("tick: {jobs: [{server: one}], during: [{", levels) + "call: a" + strings.Repeat("}]}", levels)
	}
	inLane := func(levels int) string {
		return open + "- " + strings.Repeat("parallel: [[{", levels) + "call: a" + strings.Repeat("}]]", levels)
	}
	for name, c := range map[string]struct {
		servers, steps string
		says           []string // how each problem begins
	}{
		// A session is opened once with its server, and keeps it.
		"a call before any open":        {"one:", "- call: a", []string{"6: no earlier step opens session a; none is open here"}},
		"sessions without names":        {"one:\ntwo:", "- {open: A!, server: one}\n- {open: B!, server: two}", []string{`7: "A!" is not a valid name`, `8: "B!" is not a valid name`}},
		"a call of no name":             {"one:", open + "- call: A!", []string{`7: "A!" is not a valid name`}},
		"a new session without server":  {"one:", open + "- open: b\n- call: b\n- {open: b, server: one}", []string{"7: session b is new"}},
		"a new session of no server":    {"one:", "- {open: b, server: onne}\n- call: b", []string{"6: there is no server onne"}},
		"an old one of no server":       {"one:", open + "- {open: a, server: onne}\n- reload: one", []string{"7: there is no server onne"}},
		"an old one of another":         {"one:\ntwo:", open + "- {open: t, server: two}\n- close: a\n- {open: a, server: two}\n- call: a\n- reload: one", []string{"10: session a belongs to server one (line 9) and keeps it"}},
		"a session by another's label":  {"one:\ntwo:", open + "- {open: two, server: one}\n- call: two\n- {open: t, server: two}", []string{"8: two is the label of another server"}},
		"an open that is to fail":       {"one:", "- {open: a, server: one, expect: fail}\n- call: a", []string{"7: session a can't be open here: the step on line 6 is expected to fail"}},
		"a close of what nobody opened": {"one:", open + "- close: b\n- call: b", []string{"7: no earlier step opens session b; did you mean a?", "8: no earlier step opens session b; did you mean a?"}},

		// Other steps look at what is open.
		"an await of no name":           {"one:", open + "- {await: A!, for: call}", []string{`7: "A!" is not a valid name`}},
		"an await between steps":        {"one:", open + "- {await: a, for: call}", []string{"7: await belongs inside a parallel"}},
		"an await of what is not asked": {"one:", open + "- parallel: [[{await: a, for: call}]]", []string{"7: no step beside it calls session a: what it waits for can't come"}},
		"an await of its own lane":      {"one:", open + "- parallel: [[{close: a}], [{await: a, for: call}, {call: a}]]", []string{"7: no step beside it calls session a"}},
		"an await of an earlier step":   {"one:", open + "- parallel: [[{close: a}], [{await: a, for: connect}]]", []string{"7: no step beside it opens session a"}},
		"an await of another session":   {"one:", open + "- {open: b, server: one}\n- parallel: [[{call: b}], [{await: a, for: call}]]", []string{"8: no step beside it calls session a"}},
		"an await inside a tick":        {"one:", open + "- tick: {jobs: [{server: one}], during: [{call: a}, {await: a, for: call}]}", []string{"7: no step beside it calls session a"}},
		"a reload of no server":         {"one:", open + "- reload: onne", []string{"7: there is no server onne"}},
		"a reload of what is closed":    {"one:", open + "- close: a\n- reload: one", []string{"8: no session of server one can be open here"}},
		"a reload of another's session": {"one:\ntwo: {optional: true}", open + "- reload: two", []string{"8: no session of server two can be open here"}},
		"a break of no name":            {"one:", open + "- {break: A!, with: exit}", []string{`7: "A!" is not a valid name`}},
		"a break of what is closed":     {"one:", open + "- close: a\n- {break: a, with: exit}", []string{"8: session a can't be open here: the step on line 7 closes it"}},
		"a break of it in a repeat": {"one:", open + "- repeat: 2\n  steps: [{break: a, with: exit}, {close: a}]", []string{
			"8: session a can't be open here: the step on line 8, in the round before, closes it", "8: session a can't be open here: the step on line 8, in the round before, closes it",
		}},

		// What stands beside each other.
		"a lane closes it":             {"one:", open + "- parallel: [[{close: a}], [{call: a}]]\n- call: a", []string{"8: session a can't be open here: the step on line 7 closes it"}},
		"the same checkpoint in lanes": {"one:", open + "- parallel: [[{checkpoint: x}], [{checkpoint: x}]]", []string{"7: a checkpoint belongs between steps", "7: a checkpoint belongs between steps"}},
		"checkpoints without names":    {"one:", open + "- checkpoint: A!\n- checkpoint: A!", []string{`7: "A!" is not a valid name`, `8: "A!" is not a valid name`}},
		"a checkpoint three times":     {"one:", open + "- checkpoint: x\n- checkpoint: x\n- checkpoint: x", []string{"8: there is a checkpoint x on line 7 already", "9: there is a checkpoint x on line 7 already"}},

		// Once the host is gone, only checkpoints follow.
		"steps after the end":             {"one:", open + "- kill: host\n- call: b\n- checkpoint: x\n- checkpoint: x", []string{"8: the host is gone: kill on line 7", "10: there is a checkpoint x on line 9 already"}},
		"an unknown step after the end":   {"one:", open + "- kill: host\n- rest: host", []string{`8: "rest" is not a step`}},
		"checkpoints after a lane's end":  {"one:", open + "- parallel: [[{call: a}], [{kill: host}]]\n- checkpoint: x\n- checkpoint: x", []string{"8: no checkpoint can follow here", "9: no checkpoint can follow here"}},
		"a checkpoint after an inner end": {"one:", open + "- parallel: [[{tick: {jobs: [{server: one}], during: [{term: host}]}}], [{parallel: [[{call: a}]]}]]\n- checkpoint: x", []string{"8: no checkpoint can follow here"}},

		// Steps stand in steps, and jobs in ticks, up to a limit.
		"deep repeats":  {"one:", inRepeat(6), []string{"7: steps can be nested at most 4 levels deep"}},
		"deep lanes":    {"one:", inLane(5), []string{"7: steps can be nested at most 4 levels deep"}},
		"deep ticks":    {"one:", inTick(5), []string{"7: steps can be nested at most 4 levels deep"}},
		"too many jobs": {"one:", "- repeat: 100\n  steps: [{tick: {jobs: [{server: one, count: 600}, {server: one, count: 401}]}}]", []string{"7: a tick has at most 1000 jobs"}},
		"a bare word":   {"one:", open + "- stop", []string{"7: this must be a step, a mapping of keys to values, not stop (text)"}},

		// A server is there once, by its name, and a step uses it.
		"a label twice":          {"one: {era: nix}\none: {era: nax}", open, []string{`4: "nix" is not an era`, "5: one appears twice"}},
		"a label of no name":     {"one:\nUno: {era: nix}", open, []string{`5: "Uno" is not a valid name`}},
		"no label is a name":     {"Uno:", open, []string{`4: "Uno" is not a valid name`}},
		"a server of no name":    {"one:", open + "- {open: b, server: B!}", []string{`7: "B!" is not a valid name`}},
		"a server without a job": {"one:\ntwo:", "- tick: {jobs: [{server: one}]}", []string{"5: no step has a session with server two"}},
		"live of no server":      {"one:", open + "- {checkpoint: x, live: {onne: -1}}", []string{"7: there is no server onne"}},

		// A call is told what it needs, and what can't be ok is not expected to be.
		"args that are none":       {"one:", open + "- {call: a, args: 3}", []string{"7: this must be args, a mapping of keys to values, not 3 (a number)"}},
		"a sleep without a time":   {"one:", open + "- {call: a, tool: sleep, args: {s: 3}}", []string{"7: sleep needs args: {ms: N}"}},
		"a sleep of less than 0":   {"one:", open + "- call: a\n  tool: sleep\n  args: {ms: -1}", []string{"9: sleep needs args: {ms: N}"}},
		"a sleep of an hour":       {"one:", open + "- call: a\n  tool: sleep\n  args: {ms: 3600001}", []string{"9: sleep needs args: {ms: N}"}},
		"an ok of what is cut off": {"one:", open + "- {call: a, tool: sleep, args: {ms: 100}, timeout: 100ms, expect: ok}", []string{"7: this call can't be ok: it sleeps longer than its timeout"}},

		// A fault is one that there is.
		"an order of nothing":      {"one:", open + "- {break: a, with: }", []string{"7: with needs do"}},
		"an order that is not one": {"one:", open + "- {break: a, with: {do: grow, mib: much}}", []string{"7: this must be a size in MiB, a whole number, not much (text)"}},
		"a way that there is not":  {"one: {faults: [{on: start, do: helper, as: wrong}]}", open, []string{`4: "wrong" is not a way to do it; choose from group, stdio, stdout, session, daemon, pipes`}},
		"a way of what has none":   {"one: {faults: [{on: call, do: hang, as: group}]}", open, []string{"4: as does not go with do: hang"}},
	} {
		_, err := scenarios.Parse("x.yaml", []byte(play(c.servers, strings.TrimSuffix(c.steps, "\n"))))
		var all scenarios.Errors
		require.ErrorAs(t, err, &all, name)
		var got []string
		for _, p := range all {
			got = append(got, fmt.Sprintf("%d: %s", p.Line, p.Message))
		}
		if assert.Len(t, got, len(c.says), "%s: %q", name, got) {
			for i, begins := range c.says {
				assert.True(t, strings.HasPrefix(got[i], begins), "%s:\n%s\nbegins not with\n%s", name, got[i], begins)
			}
		}
	}
}
