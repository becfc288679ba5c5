package main

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/leakbench/leakbench/internal/play/selftest"
	"github.com/leakbench/leakbench/internal/record"
)

func TestSelftestThatFails(t *testing.T) {
	t.Parallel()
	results := []selftest.Result{
		{Case: selftest.Case{Scenario: "storm", Host: "exact"}, OK: true},
		{Case: selftest.Case{Scenario: "storm", Host: "mutant-l4", Law: "L4", Kind: "zombie"}, Laws: []string{"L1"}, Kinds: []string{"superseded"}},
		{Case: selftest.Case{Scenario: "cron", Host: "exact"}, Doubts: []record.Doubt{{Code: "x", Text: "who knows"}}},
		{Case: selftest.Case{Scenario: "hang", Host: "exact"}, Error: "no luck"},
	}
	var out strings.Builder
	if err := (&app{out: &out, format: "text"}).concludeSelftest(results, 0); !errors.Is(err, verdictExit(exitFinding)) {
		t.Errorf("got %v, want exit 1", err)
	}
	for _, want := range []string{"4 runs in 0s, 1 as expected, 3 not", "  L4     .   1 "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for i, want := range []string{
		"✓ exact            storm     no law broken",
		"✗ mutant-l4        storm     L4 zombie; found: L1 superseded",
		"✗ exact            cron      no law broken; found: no law broken; unclear: who knows",
		"✗ exact            hang      no law broken; found: no law broken; failed: no luck",
	} {
		if got := resultLine(results[i]); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	out.Reset()
	if err := (&app{out: &out, format: "json"}).concludeSelftest(results[:1], 0); err != nil {
		t.Error(err)
	}
	var said struct {
		OK     bool
		Matrix map[string]map[string]int
	}
	if err := json.Unmarshal([]byte(out.String()), &said); err != nil || !said.OK || said.Matrix["none"]["none"] != 1 {
		t.Errorf("%v in %s", err, out.String())
	}
}
