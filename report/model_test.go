package report

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/report/model"
)

func TestOverdueBeginsWhereTheServerWasReplaced(t *testing.T) {
	t.Parallel()
	j := storm("naive", true, 4)
	s := model.New(&j)
	old, next := s.ByID["flaky#3"], s.ByID["flaky#4"]
	require.GreaterOrEqual(t, next.Established, int64(0))
	assert.Equal(t, next.Established, old.Overdue)
	assert.Equal(t, history.Never, next.Overdue)
	assert.Equal(t, history.Never, s.ByID["steady#1"].Overdue)
	assert.Contains(t, s.Outcome(old), "too long")
}

func TestFaultsOfThePlanAreCounted(t *testing.T) {
	t.Parallel()
	j := storm("naive", true, 20)
	var fired []int
	s := model.New(&j)
	for _, f := range s.History.Faults(s.Header.Plan) {
		fired = append(fired, f.Fired)
	}
	assert.Equal(t, []int{1, 10, 10}, fired)
}

func TestSurvivorsAreOverdueToTheEnd(t *testing.T) {
	t.Parallel()
	j := cron()
	s := model.New(&j)
	deaf := s.ByID["job#4"]
	require.True(t, deaf.Left)
	life := model.Stretches(deaf)
	last := life[len(life)-1]
	assert.Equal(t, "over", last.State)
	assert.Equal(t, deaf.Until, last.To)
	assert.Equal(t, "outlived the host", s.Outcome(deaf))
	assert.Equal(t, "ended by mistake", s.Outcome(s.ByID["user#1"]))
}
