package record

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// A command that is read again names the same host with the same limits.
func TestCommandIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	limits := CommandLimits{time.Second, 300 * time.Millisecond, time.Minute, 75 * time.Second, false}
	for want, c := range map[string]Command{
		"leakbench run storm --seed 7 --host exact": {Scenario: "storm", Seed: 7, Host: "exact"},
		"leakbench run ./a.yaml --seed 7 --server flaky --settle 1s --confirm 300ms --start 1m0s --patience 1m15s --for 8h0m0s --host x.yaml": {
			Scenario: "./a.yaml", Seed: 7, Server: "flaky", Limits: limits, For: 8 * time.Hour, Host: "x.yaml",
		},
		"leakbench run storm --seed 7 --settle 1s --fast --host exact": {
			Scenario: "storm", Seed: 7, Limits: CommandLimits{Settle: time.Second, Fast: true}, Host: "exact",
		},
		"leakbench run storm --seed 1 --settle 1s -- gw --settle 9s --fast --host h {{server}}": {
			Scenario: "storm", Seed: 1, Limits: CommandLimits{Settle: time.Second}, Argv: []string{"gw", "--settle", "9s", "--fast", "--host", "h", "{{server}}"},
		},
	} {
		assert.Equal(t, want, strings.Join(c.Words(), " "))
		assert.Equal(t, Command{Limits: c.Limits, Host: c.Host, Argv: c.Argv}, ReadCommand(c.Words()), want)
	}
	for _, cut := range []string{"", "leakbench run storm --host", "leakbench run storm --settle soon"} {
		assert.Empty(t, ReadCommand(strings.Fields(cut)), cut)
	}
}
