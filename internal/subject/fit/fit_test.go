package fit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

func gateway(servers record.Sharing) subject.Spec {
	return subject.Spec{Name: "g", Kind: record.KindGateway, HTTP: &subject.HTTP{URL: "http://x/mcp", Servers: servers}}
}

// What a host can be played follows from its kind and from what its file says.
func TestWhatAHostCanBePlayed(t *testing.T) {
	t.Parallel()
	command, driver := subject.Spec{Kind: record.KindCommand}, subject.Spec{Kind: record.KindDriver}
	tame := subject.Spec{Kind: record.KindDriver, NotApplicable: map[string]string{"reload": "it reads its file once"}}
	spared := subject.Spec{Kind: record.KindDriver, Scenarios: map[string]subject.Limits{"storm": {NotApplicable: "it is slow"}}}
	for _, c := range []struct {
		scenario string
		host     subject.Spec
		runs     int
		why      string
	}{
		{"reload", driver, 1, ""},
		{"reload", tame, 0, "reload: it reads its file once"},
		{"storm", spared, 0, "it is slow"},
		{"reload", gateway(record.PerSession), 0, "reload: its clients can't reload it"},
		{"storm", gateway(record.PerSession), 1, ""},
		{"storm", gateway(record.PerRequest), 0, "break: no server is alive between two requests: there is none to break"},
		{"shutdown", gateway(record.Shared), 3, ""},
		{"wrapper", command, 4, ""},
		{"cron", subject.Spec{Kind: record.KindOneshot}, 0, "tick: what its command calls, and for how long, is its own business: its job can't be cut off in a call"},
		{"checks", subject.Spec{Kind: record.KindOneshot}, 1, ""},
		{"crash", subject.Spec{Kind: record.KindOneshot}, 0, "open: a oneshot host is a command for each job: it has no session that lasts"},
	} {
		s, err := scenarios.Builtin(c.scenario)
		require.NoError(t, err)
		parts, why := fit.Cast(s, c.host)
		assert.Len(t, parts, c.runs, c.scenario)
		assert.Equal(t, c.why, why, c.scenario)
	}
}

// A driver says in its hello what it can be asked.
func TestWhatADriverSays(t *testing.T) {
	t.Parallel()
	s, err := scenarios.Builtin("reload")
	require.NoError(t, err)
	require.NoError(t, fit.Unaskable(s, record.Hello{Ops: []string{"open", "call", "close", "reload", "stop"}}))
	var not *fit.NotApplicable
	require.ErrorAs(t, fit.Unaskable(s, record.Hello{Ops: []string{"open", "call", "close"}}), &not)
	assert.Equal(t, "reload: the driver does not offer it", not.Why)
	hello := record.Hello{Ops: []string{"open", "call", "close"}, NotApplicable: map[string]string{"reload": "it has no file"}}
	require.EqualError(t, fit.Unaskable(s, hello), "not applicable: reload: it has no file")
	each := record.Hello{Ops: driver.Ops, Profile: &record.Profile{Servers: record.PerRequest}}
	require.ErrorAs(t, fit.Unaskable(s, each), &not)
	assert.Equal(t, "reload: no server is alive between two requests: there is none to replace", not.Why)
	s, err = scenarios.Builtin("subagents")
	require.NoError(t, err)
	assert.NoError(t, fit.Unaskable(s, each))
}
