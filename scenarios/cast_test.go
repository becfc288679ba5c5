package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// What a host can't be asked decides what is played of each scenario.
func TestCast(t *testing.T) {
	t.Parallel()
	cannot := func(ops ...record.Op) map[record.Op]string {
		all := map[record.Op]string{}
		for _, op := range ops {
			all[op] = "no " + string(op)
		}
		return all
	}
	driver, one := scenarios.Ability{}, scenarios.Ability{One: true}
	command := scenarios.Ability{
		One: true, ByItself: true, Unknown: true,
		Cannot: cannot(record.OpOpen, record.OpCall, record.OpClose, record.OpForget, record.OpReload, record.OpTick, record.OpAwait),
	}
	jobs := scenarios.Ability{Cannot: cannot(record.OpOpen, record.OpCall, record.OpClose, record.OpBreak)}
	for _, c := range []struct {
		scenario string
		ability  scenarios.Ability
		parts    []string
		servers  int // of the first part
		why      string
	}{
		{"forget", driver, []string{"forget"}, 2, ""},
		{"forget", one, []string{"forget"}, 1, ""},
		{"forget", command, nil, 0, "forget: no forget"},
		{"wrapper", one, []string{"wrapper (shell)", "wrapper (npx)", "wrapper (own-group)", "wrapper (own-session)"}, 1, ""},
		{"wrapper", command, []string{"wrapper (shell)", "wrapper (npx)", "wrapper (own-group)", "wrapper (own-session)"}, 1, ""},
		{"storm", command, []string{"storm"}, 1, ""},
		{"hang", one, []string{"hang"}, 1, ""},
		{"cron", jobs, []string{"cron"}, 1, ""}, // the session beside the jobs can't be had, and is not what it is about
		{"cron", command, nil, 0, "tick: no tick"},
		{"reload", scenarios.Ability{Cannot: cannot(record.OpReload)}, nil, 0, "reload: no reload"},
		{"cancel", scenarios.Ability{Cannot: cannot(record.OpCancel)}, nil, 0, "cancel: no cancel"},
	} {
		s, err := scenarios.Builtin(c.scenario)
		require.NoError(t, err)
		parts, why := s.Cast(c.ability)
		assert.Equal(t, c.why, why, c.scenario)
		var names []string
		for _, p := range parts {
			names = append(names, p.String())
			assert.Len(t, p.Servers, c.servers, "%s", p)
			assert.Positive(t, p.Plan(1).Defining+boolean(endsWithHost(p)), "%s shows nothing of what it is about", p)
			again, _ := p.Cast(c.ability)
			assert.Equal(t, p, again[0], "what was cast stays as it is")
		}
		assert.Equal(t, c.parts, names, c.scenario)
	}
}

// Each part of each scenario has a step of what the scenario is about, and only steps about its server.
func TestPartsOfAll(t *testing.T) {
	t.Parallel()
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		parts, why := s.Cast(scenarios.Ability{One: true})
		require.Empty(t, why)
		for _, p := range parts {
			assert.NotEmpty(t, p.Defining(), "%s", p)
			for _, label := range p.Plan(1).Labels {
				assert.Equal(t, p.Servers[0].Label, label.Label, "%s", p)
			}
		}
	}
}

func endsWithHost(s *scenarios.Scenario) bool {
	return s.Defining()[0][:4] == "kill" || s.Defining()[0][:4] == "term"
}

func boolean(is bool) int {
	if is {
		return 1
	}
	return 0
}
