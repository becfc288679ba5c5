package play_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

func TestLineOfAResult(t *testing.T) {
	t.Parallel()
	storm := play.Cell{Scenario: &scenarios.Scenario{Name: "storm"}}
	again := storm
	again.Repeat, again.Again = 2, "there was a doubt beside other runs"
	leak := verdict.Verdict{Outcome: verdict.Leak, Findings: []verdict.Finding{{Law: "L1", Kind: "superseded"}, {Law: "L4", Kind: "zombie"}, {Law: "L1", Kind: "superseded"}}}
	doubt := verdict.Verdict{Outcome: verdict.Inconclusive, Doubts: []record.Doubt{{Text: "the machine \x1b was busy"}}}
	for want, c := range map[string]struct {
		play.Result
		failed bool
	}{
		"✓ storm 1.2 s": {play.Result{Cell: storm, Judged: &verdict.Judged{Verdict: verdict.Verdict{Outcome: verdict.Clean}}}, false},
		"✗ storm 1.2 s (repeat 2) (again, alone: there was a doubt beside other runs): L1 superseded, L4 zombie": {
			play.Result{Cell: again, Judged: &verdict.Judged{Verdict: leak}}, true,
		},
		"? storm 1.2 s: the machine ? was busy": {play.Result{Cell: storm, Judged: &verdict.Judged{Verdict: doubt}}, true},
		"? storm 1.2 s: no port":                {play.Result{Cell: storm, Err: errors.New("no port\nand more")}, true},
		"– storm 1.2 s: not applicable: why":    {play.Result{Cell: storm, Err: &fit.NotApplicable{Why: "why"}}, false},
	} {
		c.Took = 1234 * time.Millisecond
		assert.Equal(t, want, c.Line())
		assert.Equal(t, c.failed, c.Failed(), want)
	}
}

func TestLeftOutHasALineForEachReason(t *testing.T) {
	t.Parallel()
	of := func(name, why string) gate.NotApplicable {
		return gate.NotApplicable{Scenario: name, Host: "gw", Why: why}
	}
	assert.Equal(t, []string{
		"not applicable to gw: cron, probe, reload (tick, reload: a command is only started)",
		"not applicable to gw: storm (it has no sessions: at all)",
	}, play.LeftOut([]gate.NotApplicable{
		of("cron", "tick: a command is only started"), of("probe", "tick: a command is only started"),
		of("storm", "it has no sessions: at all"), of("reload", "reload: a command is only started"),
	}))
	assert.Empty(t, play.LeftOut(nil))
}

// TestAHostFileThatCannotBeRead is followed by how to write one, and not by the list of the hosts of leakbench.
func TestAHostFileThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, hint := range map[string]string{"no.yaml": "leakbench init writes a host file", "naiv": "leakbench list hosts shows them"} {
		_, err := play.TheHost("leakbench", name, nil)
		var m *play.Misuse
		require.ErrorAs(t, err, &m, name)
		assert.Equal(t, hint, m.Hint, name)
	}
}
