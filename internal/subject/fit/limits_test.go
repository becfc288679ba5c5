package fit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

const sec = record.Duration(time.Second)

// What the user insists on comes first, then what the host's file says of this scenario, what it declares, and the scenario.
func TestWhoseLimitsHold(t *testing.T) {
	t.Parallel()
	s := &scenarios.Scenario{Name: "storm", Limits: record.Limits{Settle: sec, Confirm: 2 * sec, Close: 3 * sec, Stop: 4 * sec, SpawnsPerSession: 5}}
	own := map[string]subject.Limits{"storm": {Settle: 7 * sec, Close: sec, Stop: 8 * sec, SpawnsPerSession: 9, SpawnsPerMinute: 10}}
	slow := record.Profile{Settle: 5 * sec, Confirm: 6 * sec, Stop: sec}
	for name, c := range map[string]struct {
		host    subject.Spec
		profile record.Profile
		wish    fit.Wish
		want    record.Limits
	}{
		"the scenario's":  {want: record.Limits{Settle: sec, Confirm: 2 * sec, Close: 3 * sec, Stop: 4 * sec, SpawnsPerSession: 5}},
		"the host's":      {profile: slow, want: record.Limits{Settle: 5 * sec, Confirm: 6 * sec, Close: 5 * sec, Stop: 4 * sec, SpawnsPerSession: 5}},
		"its file's":      {host: subject.Spec{File: "host.yaml"}, profile: slow, want: record.Limits{Settle: 5 * sec, Confirm: 6 * sec, Close: 5 * sec, Stop: sec, SpawnsPerSession: 5}},
		"of the scenario": {host: subject.Spec{Scenarios: own}, profile: slow, want: record.Limits{Settle: 7 * sec, Confirm: 6 * sec, Close: sec, Stop: 8 * sec, SpawnsPerSession: 9, SpawnsPerMinute: 10}},
		"the user's": {
			host: subject.Spec{Scenarios: own}, wish: fit.Wish{Settle: 11 * sec, Confirm: 12 * sec},
			want: record.Limits{Settle: 11 * sec, Confirm: 12 * sec, Close: sec, Stop: 8 * sec, SpawnsPerSession: 9, SpawnsPerMinute: 10},
		},
		"several launches": {host: subject.Spec{Launches: 2}, want: record.Limits{Settle: sec, Confirm: 2 * sec, Close: 3 * sec, Stop: 4 * sec, SpawnsPerSession: 10}},
		"a command": {
			host: subject.Spec{Kind: record.KindCommand},
			want: record.Limits{Settle: sec, Confirm: 2 * sec, Close: 3 * sec, Stop: 4 * sec, SpawnsPerSession: 5, SpawnsPerMinute: 60},
		},
		"a driver's server for each request": {
			profile: record.Profile{Servers: record.PerRequest}, want: record.Limits{Settle: sec, Confirm: 2 * sec, Close: 3 * sec, Stop: 4 * sec},
		},
		"a server for each request": {host: gateway(record.PerRequest), want: record.Limits{Settle: sec, Confirm: 2 * sec, Close: 3 * sec, Stop: 4 * sec}},
	} {
		c.want.Controls = true
		assert.Equal(t, c.want, fit.Limits(s, c.host, c.profile, c.wish), name)
	}
	s.Steps = []scenarios.Step{{Op: record.OpBreak}, {Op: record.OpCheckpoint}, {Op: record.OpBreak}}
	assert.Equal(t, 66, fit.Limits(s, subject.Spec{Kind: record.KindCommand}, record.Profile{}, fit.Wish{}).SpawnsPerMinute, "each break is a reason to launch")
}

// A fast answer takes 2 s, or as long as the host declares, whatever the user and the scenario allow.
func TestHowLongAFastAnswerTakes(t *testing.T) {
	t.Parallel()
	s := &scenarios.Scenario{Name: "storm", Limits: record.Limits{Settle: 15 * sec, Confirm: 10 * sec}}
	own := map[string]subject.Limits{"storm": {Settle: 7 * sec}}
	for name, c := range map[string]struct {
		host    subject.Spec
		profile record.Profile
		wish    fit.Wish
		want    record.Duration
	}{
		"nobody wants it":              {profile: record.Profile{Settle: 5 * sec}},
		"nothing is declared":          {wish: fit.Wish{Fast: true}, want: 2 * sec},
		"a shorter time":               {profile: record.Profile{Settle: sec}, wish: fit.Wish{Fast: true}, want: 2 * sec},
		"a longer time":                {profile: record.Profile{Settle: 5 * sec}, wish: fit.Wish{Fast: true}, want: 5 * sec},
		"a longer one of the scenario": {host: subject.Spec{Scenarios: own}, wish: fit.Wish{Fast: true}, want: 7 * sec},
		"the user allows more":         {wish: fit.Wish{Fast: true, Settle: 9 * sec}, want: 2 * sec},
		"the user allows less":         {profile: record.Profile{Settle: 5 * sec}, wish: fit.Wish{Fast: true, Settle: 3 * sec}, want: 3 * sec},
	} {
		assert.Equal(t, c.want, fit.Limits(s, c.host, c.profile, c.wish).Fast, name)
	}
}

// What a host says of itself stands in the place of what the bench knew; servers that it keeps are not taken from it.
func TestWhatAHostDeclares(t *testing.T) {
	t.Parallel()
	known := record.Profile{Settle: sec, Confirm: 2 * sec, Stop: 3 * sec, Resident: 2, Spare: 1, Idle: 4 * sec, Renewal: 5 * sec}
	assert.Equal(t, known, fit.Declared(known, driver.Profile{}))
	said := fit.Declared(known, driver.Profile{Settle: driver.Duration(9 * time.Second), Resident: 1, Spare: 3, Servers: driver.PerRequest})
	assert.Equal(t, record.Profile{Settle: 9 * sec, Confirm: 2 * sec, Stop: 3 * sec, Resident: 2, Spare: 3, Idle: 4 * sec, Renewal: 5 * sec, Servers: record.PerRequest}, said)
}
