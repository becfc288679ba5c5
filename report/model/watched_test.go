package model_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
)

// TestWatchedLines: of each command line stands there what became of it and what the host uses now.
func TestWatchedLines(t *testing.T) {
	t.Parallel()
	ten := record.Duration(10 * time.Second)
	assert.Equal(t, []string{
		"srv (for example pid 7): 1 alive, launched in 1 generation; 1 used in the last 10 s",
		"srv: 2 alive, 1 zombie, 25 ended, launched in 26 generations; 0 used in the last 10 s",
		"shell bash: 0 alive, 2 zombies, launched in 2 generations; 0 used in the last 10 s",
	}, model.WatchedLines(&attach.View{Looks: 2, Groups: []*attach.Group{
		{Label: "srv", Like: 7, Alive: 1, Used: 1, Generations: 1, IdleAfter: ten},
		{Label: "srv", Alive: 2, Zombies: 1, Ended: 25, Generations: 26, IdleAfter: ten},
		{Label: "bash", Shell: true, Zombies: 2, Generations: 2, IdleAfter: ten},
		{Label: "gone", Ended: 3, IdleAfter: ten},
	}}))
	assert.Equal(t, []string{"srv: 3 alive, launched in 2 generations; which are used is not known yet"},
		model.WatchedLines(&attach.View{Looks: 1, Groups: []*attach.Group{{Label: "srv", Alive: 3, Generations: 2, IdleAfter: ten}}}))
}

// TestGrowthLines: figures stand where there is something to tell them from.
func TestGrowthLines(t *testing.T) {
	t.Parallel()
	lines := func(withServers bool, trends ...attach.Trend) []string {
		return model.GrowthLines(&attach.View{Trends: trends, Looks: 4, To: int64(5 * time.Second), WithServers: withServers})
	}
	assert.Equal(t, []string{"too short: 4 looks in 5 s; needs 20 looks over 30 s"}, lines(false))
	assert.Empty(t, model.GrowthLines(&attach.View{}))
	day := 44.0
	grows := facts.Trend{Slope: 1.5, Low: 1, High: 2}
	assert.Equal(t, []string{
		"processes from 2 to 4: it changed too seldom to tell how much it grows",
		"processes +1.50 a minute (95%: +1.00 to +2.00), from 2 to 4: grows; watch for 10 min to project an hour and a day",
		"descriptors +1.5 an hour (95%: +1.0 to +2.0), from 2 to 4: grows; 44 in a day",
		"processes +0.00 a minute (95%: +0.00 to +0.00), from 2 to 2: no growth shown",
		"memory of the host +1.00 MiB a minute (95%: +0.00 MiB to +2.00 MiB), from 1 MiB to 2 MiB: no growth shown",
	}, lines(
		false,
		attach.Trend{Of: "processes", First: 2, Last: 4, Steps: true}, attach.Trend{Of: "processes", First: 2, Last: 4, Trend: facts.Trend{Slope: 90, Low: 60, High: 120}},
		attach.Trend{Of: attach.OfDescriptors, First: 2, Last: 4, InDay: &day, Trend: grows}, attach.Trend{Of: "processes", First: 2, Last: 2},
		attach.Trend{Of: attach.OfHostMemory, First: 1 << 20, Last: 2 << 20, Trend: facts.Trend{Slope: 60 << 20, High: 120 << 20}},
	))
	assert.Equal(t, []string{"descriptors +1.5 an hour (95%: +1.0 to +2.0), from 2 to 4: grows with the processes below it, which they lead to; 44 in a day"},
		lines(true, attach.Trend{Of: attach.OfDescriptors, First: 2, Last: 4, InDay: &day, Trend: grows}))
}
