package scenarios_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

func TestNamesAreTheFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	var files []string
	for _, p := range paths {
		files = append(files, strings.TrimSuffix(p, ".yaml"))
	}
	assert.ElementsMatch(t, files, scenarios.Names())
	scenarios.Names()[0] = "changed"
	assert.Equal(t, "storm", scenarios.Names()[0], "the list can't be changed from outside")
}

func TestBuiltins(t *testing.T) {
	t.Parallel()
	for _, name := range scenarios.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Builtin(name)
			require.NoError(t, err)
			src, err := os.ReadFile(name + ".yaml")
			require.NoError(t, err)
			assert.Equal(t, name, s.Name)
			assert.Equal(t, name+".yaml", s.File)
			assert.Equal(t, string(src), s.Source)
			assert.NotEmpty(t, s.Title)
			assert.NotEmpty(t, s.About)
			assert.NotEmpty(t, s.Reports, "each says which reports it reproduces")
			for _, server := range s.Servers {
				assert.Empty(t, server.Script.Check(), "the script of %s", server.Label)
			}
		})
	}
}

// events are the scenarios of what a host does, in their order.
const events = "cancel, deadline, patience, probe, per-request, subagents, race, reload-connect, forget, nofile, " + faults

// faults are those of what a server does.
const faults = "stderr, stdout, full-pipe, spin, container, lock, watchdog, siblings, zombies, restart, replace, recycled, pid-1, subreaper, lists, relist, list-changed, odd-handshakes, odd-lists, odd-calls, odd-orders, odd-ends, odd-moments, odd-jobs, odd-reloads, odd-closes, odd-restarts, killed-in-a-call, terminated-in-a-call, vanish, checks, check-faults, check-cut, sharing, conformance"

func TestBuiltinUnknown(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"strom":  `no scenario "strom"; did you mean storm?`,
		"banana": `no scenario "banana"; there are storm, cron, reload, hang, stuck, half-open, crash, shutdown, deaf, grow, wrapper, helpers, ` + events,
		"":       `no scenario ""; there are storm, cron, reload, hang, stuck, half-open, crash, shutdown, deaf, grow, wrapper, helpers, ` + events,
	} {
		_, err := scenarios.Builtin(name)
		assert.EqualError(t, err, want)
	}
}

func TestPlansOfBuiltins(t *testing.T) {
	t.Parallel()
	labels := func(pairs ...any) (all []record.PlanLabel) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, record.PlanLabel{Label: pairs[i].(string), Launches: pairs[i+1].(int)})
		}
		return all
	}
	final := scenarios.FinalCheckpoint
	for name, want := range map[string]record.Plan{
		"storm": {
			Labels: labels("steady", 1, "flaky", 11),
			Faults: []record.PlanFault{
				{Label: "flaky", On: "initialize", Do: "reject", Launch: 2, Fires: 1},
				{Label: "flaky", On: "order", Do: "exit", Fires: 11},
				{Label: "flaky", On: "order", Do: "close-stdout", Fires: 11},
			},
			Checkpoints: []string{"after-storm", final},
		},
		"cron": {
			Labels: labels("desk", 1, "worker", 12), Faults: []record.PlanFault{{Label: "desk", On: "order", Do: "close-stdout", Fires: 1}},
			Checkpoints: []string{"after-ticks", final},
		},
		"reload": {
			Labels: labels("app", 8, "bystander", 1), Faults: []record.PlanFault{{Label: "app", On: "order", Do: "close-stdout", Fires: 1}},
			Checkpoints: []string{"after-reloads", final},
		},
		"hang": {
			Labels: labels("mute", 4, "slow", 1),
			Faults: []record.PlanFault{
				{Label: "probed", On: "discover", Do: "hang", Launch: 1},
				{Label: "mute", On: "initialize", Do: "hang", Launch: 1, Fires: 1},
				{Label: "mute", On: "initialize", Do: "hang", Launch: 2, Fires: 1},
				{Label: "mute", On: "initialize", Do: "hang", Launch: 3, Fires: 1},
				{Label: "slow", On: "initialize", Do: "hang", Launch: 1, Fires: 1},
			},
			Checkpoints: []string{"after-retries", final},
		},
		"crash": {
			Labels: labels("tidy", 2, "deaf", 1, "stubborn", 1),
			Faults: []record.PlanFault{
				{Label: "deaf", On: "eof", Do: "ignore"}, {Label: "stubborn", On: "eof", Do: "ignore"}, {Label: "stubborn", On: "term", Do: "ignore"},
			},
			Checkpoints: []string{final},
		},
		"shutdown": {
			Labels: labels("deaf", 2, "stubborn", 1, "slow", 1),
			Faults: []record.PlanFault{
				{Label: "deaf", On: "eof", Do: "ignore"},
				{Label: "stubborn", On: "eof", Do: "ignore"},
				{Label: "stubborn", On: "term", Do: "ignore"},
				{Label: "slow", On: "exit", Do: "delay"},
			},
			Checkpoints: []string{final},
		},
		"grow": {
			Labels: labels("hungry", 3), Faults: []record.PlanFault{{Label: "hungry", On: "order", Do: "grow", Fires: 2}},
			Checkpoints: []string{"after-reconnects", "after-close", final},
		},
		"wrapper": {
			Labels: labels("shell", 2, "npx", 1, "own-group", 1, "own-session", 1),
			Faults: []record.PlanFault{
				{Label: "shell", On: "start", Do: "launcher", Fires: 2},
				{Label: "shell", On: "eof", Do: "ignore"},
				{Label: "npx", On: "start", Do: "launcher", Fires: 1},
				{Label: "npx", On: "eof", Do: "ignore"},
				{Label: "own-group", On: "start", Do: "launcher", Fires: 1},
				{Label: "own-group", On: "eof", Do: "ignore"},
				{Label: "own-session", On: "start", Do: "launcher", Fires: 1},
				{Label: "own-session", On: "eof", Do: "ignore"},
			},
			Checkpoints: []string{"after-closes", final},
		},
		"helpers": {
			Labels: labels("grouped", 2, "sharing", 1, "apart", 1, "forked-twice", 1),
			Faults: []record.PlanFault{
				{Label: "grouped", On: "start", Do: "helper", Fires: 2},
				{Label: "sharing", On: "start", Do: "helper", Fires: 1},
				{Label: "sharing", On: "call", Do: "helper", Fires: 1},
				{Label: "apart", On: "start", Do: "helper", Fires: 1},
				{Label: "forked-twice", On: "start", Do: "helper", Fires: 1},
			},
			Checkpoints: []string{"after-close", final},
		},
	} {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		plan := s.Plan(1)
		assert.NotEmpty(t, plan.Laws, name)
		plan.Laws, plan.Defining = nil, 0
		assert.Equal(t, want, plan, name)
	}
}

// The storm is what its description says: breaks in two ways by turns, half of them answered by an open and half by a call, after
// which the open is asked for only where the session is lost. The last two come in the middle of a call.
func TestStorm(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Builtin("storm")
	require.NoError(t, err)
	var lines []string
	var write func(steps []scenarios.Step)
	write = func(steps []scenarios.Step) {
		for _, step := range steps {
			lines = append(lines, strings.Join(strings.Fields(fmt.Sprint(step.Op, " ", step.Session, " ", step.With.Do, " ", step.If)), " "))
			for _, lane := range step.Lanes {
				write(lane)
			}
		}
	}
	write(s.Expand())
	const asked = "break storm exit\nopen storm\ncall storm\ncall calm\n"
	const first = "break storm close-stdout\ncall storm\nopen storm lost\ncall storm\ncall calm\n"
	const refused = "break storm exit\nopen storm\nopen storm\ncall storm\ncall calm\n"
	const inside = "parallel\ncall storm\nawait storm\nbreak storm exit\nopen storm lost\ncall storm\n" +
		"parallel\ncall storm\nawait storm\nbreak storm close-stdout\ncall storm\nopen storm lost\ncall storm\ncall calm\n"
	want := "open calm\nopen storm\ncall storm\ncall calm\n" + refused + first + strings.Repeat(asked+first, 9) + inside + "checkpoint"
	assert.Equal(t, want, strings.Join(lines, "\n"))
}

// The fake server does not export its tools; a fault names them.
func TestToolsAreTheFakeServers(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"echo", "sleep", "whoami"} {
		require.NoError(t, fakeserver.Fault{On: "call", Do: "reject", Tool: tool}.Check().Err())
		args := ""
		if tool == "sleep" {
			args = ", args: {ms: 1}"
		}
		parse(t, play("one:", "- {open: a, server: one}\n- {call: a, tool: "+tool+args+"}"))
	}
}

func TestBuiltinsSayWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		assert.NotEmpty(t, s.Laws, name)
		assert.NotEmpty(t, s.Defining(), name)
	}
	storm, err := scenarios.Builtin("storm")
	require.NoError(t, err)
	assert.Equal(t, []string{"L1", "L3", "L4"}, storm.Laws)
	assert.Equal(t, []string{"break storm"}, storm.Defining())
	assert.Positive(t, storm.Plan(1).Defining)
}
