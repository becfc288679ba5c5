package driver_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/driver"
)

// TestCommandsOfJobs: of a command that does not end, and of one that can't be asked to, the bench is told.
func TestCommandsOfJobs(t *testing.T) {
	t.Parallel()
	errs := map[string]error{"hung": &driver.Hung{PID: 7, Within: time.Second}, "unasked": &driver.Unasked{Why: errors.New("it is deaf")}, "unknown": &driver.NotPlayed{Why: "no call"}}
	got := driver.RunJobs(t.Context(), []driver.Job{{Session: "hung"}, {Session: "unasked"}, {Session: "unknown"}}, func(_ context.Context, j driver.Job) error {
		return errs[j.Session]
	})
	assert.Equal(t, []driver.JobResult{
		{Session: "hung", Error: "the command did not exit within 1 s", PID: 7},
		{Session: "unasked", Error: "the command could not be asked to end: it is deaf", Unasked: "it is deaf"},
		{Session: "unknown", Error: "no call", NotPlayed: "no call"},
	}, got)
}
