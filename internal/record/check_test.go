package record

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAHeaderThatMakesNoSense: no Writer wrote it, so nothing is judged by it.
func TestAHeaderThatMakesNoSense(t *testing.T) {
	t.Parallel()
	read := func(change func(*Header)) error {
		h := whole("abc")
		h.Format, h.Version, h.Limits.Severity = Format, 1, map[string]Severity{"L5": SeverityOff, "L12": SeverityError}
		change(&h)
		line, err := json.Marshal(h)
		require.NoError(t, err)
		_, err = decode(string(line) + "\n")
		return err
	}
	require.NoError(t, read(func(*Header) {}))
	for want, change := range map[string]func(*Header){
		"limits.close is below 0":             func(h *Header) { h.Limits.Close = -1 },
		"limits.quiet is below 0":             func(h *Header) { h.Limits.Quiet = -1 },
		"limits.spawns_per_minute is below 0": func(h *Header) { h.Limits.SpawnsPerMinute = -1 },
		"limits.growth_per_cycle is below 0":  func(h *Header) { h.Limits.GrowthPerCycle = -1 },
		"soak is below 0":                     func(h *Header) { h.Soak = -1 },
		"plan.defining is below 0":            func(h *Header) { h.Plan.Defining = -1 },
		"host.profile.idle is below 0":        func(h *Header) { h.Host.Profile.Idle = -1 },
		"host.profile.resident is below 0":    func(h *Header) { h.Host.Profile.Resident = -1 },
		"limits.settle is more than a year":   func(h *Header) { h.Limits.Settle = Duration(400 * 24 * time.Hour) },
		"limits.close is more than a year":    func(h *Header) { h.Limits.Close = Duration(400 * 24 * time.Hour) },
		"host.profile.stop is more than a":    func(h *Header) { h.Host.Profile.Stop = Duration(400 * 24 * time.Hour) },
		"system.cpus is below 0":              func(h *Header) { h.System.CPUs = -1 },
		"plan.labels.launches is below 0":     func(h *Header) { h.Plan.Labels = []PlanLabel{{"a", 1}, {"b", -1}} },
		"plan.faults.launch is below 0":       func(h *Header) { h.Plan.Faults = []PlanFault{{Launch: -2}} },
		"plan.faults.fires is below 0":        func(h *Header) { h.Plan.Faults = []PlanFault{{Fires: -2}} },
		`a law "L0", which there is not`:      func(h *Header) { h.Plan.Laws = []string{"L1", "L0"} },
		`a law "flat", which there is not`:    func(h *Header) { h.Limits.Severity["flat"] = SeverityOff },
		`severity of L5 is "loud"`:            func(h *Header) { h.Limits.Severity["L5"] = "loud" },
	} {
		require.ErrorContains(t, read(change), "line 1: a header ")
		require.ErrorContains(t, read(change), want)
	}
}
