package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/internal/tier"
)

// reconnects are the scenarios in which a session is called before it is opened anew.
var reconnects = []string{"storm", "cron", "reload", "half-open", "stuck"}

// TestReconnectingHosts plays hosts that reconnect by themselves, inside of a call: each breaks the laws that the host breaks which it is
// like, and what its flaw comes to. The first tier plays the storm on the right one and on the one that drops the old server.
func TestReconnectingHosts(t *testing.T) {
	t.Parallel()
	for _, h := range catalogue.Reconnecting {
		for _, scenario := range reconnects {
			first := scenario == "storm" && (h.Name == "itself" || h.Name == "itself-naive")
			if len(h.Shows) > 0 && scenario != h.Shows[0].Scenario || !first && !tier.Plays(tier.Matrix) {
				continue
			}
			t.Run(h.Name+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				want, _ := catalogue.Breaks(scenario, h.Like)
				if len(h.Shows) > 0 {
					want = h.Shows[0].Law
				}
				judged := playUntil(t, short, cellOf(builtin(t, scenario), builtinHost(t, h.Name)), play.Limits{}, breaks(want))
				assert.Equal(t, want, brokenLaws(judged.Verdict), account(judged))
				itself, asked := cameBack(judged)
				if scenario == "storm" && h.Like != "reap-all" && h.Flaw != catalogue.NeverReconnects {
					assert.Equal(t, []int{12, 0}, []int{itself, asked}, "how the sessions came back")
				}
				for _, f := range h.Shows {
					assert.Contains(t, kindsOf(judged), f.Law+" "+f.Kind+" ")
				}
			})
		}
	}
}

// cameBack counts the sessions that the host has connected anew by itself, and those that had to be opened.
func cameBack(judged verdict.Judged) (itself, asked int) {
	for _, s := range judged.History.Steps() {
		switch s.Reconnect {
		case record.ByItself:
			itself++
		case record.ByOpen:
			asked++
		}
	}
	return itself, asked
}
