package acceptance_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// TestProcessFaults plays scenarios about trees of processes, and holds the
// verdict to the kind of each finding, to a sentence of it, and to naming
// nothing else: what a server did to itself or to others is not the host's.
func TestProcessFaults(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Matrix)
	if runtime.GOOS != "linux" {
		t.Skip("what is orphaned is not seen here")
	}
	for _, c := range []struct{ scenario, host, kinds, says string }{
		{"container", "naive", "L1 superseded box x1", "the host never closed it|who inherited a copy|launcher (pid"},
		{"container", "exact", "", ""},
		{"container-killed", "exact", "", ""}, // its guard outlives it, and ends the daemon
		{"launcher-killed", "exact", "", ""},
		{"launcher-killed", "naive", "L2 deaf z x1, L2 helper  x1", "it stands between the host and z#1"},
		{"zombies", "exact", "", ""},
		{"zombies", "naive", "", ""}, // it closes what it is asked to close; the zombies are the server's
		{"lock-file", "exact", "", ""},
		{"lock-port", "exact", "", ""},
		{"lock-file", "naive", "L1 superseded z x1, L4 zombie z x6, L10 resource-held z x6", "It holds what z#2, z#3, z#4 and 3 more needed to start"},
		{"lock-port", "naive", "L1 superseded z x1, L4 zombie z x6, L10 resource-held z x6", "It holds what z#2"},
		{"siblings", "exact", "", ""}, // nobody but the siblings ended anybody
		{"siblings", "naive", "L4 zombie k x1, L4 zombie z x1", "its parent is the host"},
		{"watchdog", "exact", "", ""},
		{"watchdog", "naive", "L2 watchdog-blind y x1, L4 zombie z x1", "it read stdin EOF"},
	} {
		t.Run(c.scenario+"/"+c.host, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Load(filepath.Join("testdata", "processes", c.scenario+".yaml"))
			require.NoError(t, err)
			s.Name = "process-" + c.scenario // some have the name of a built-in one
			right := wanted{cmp.Or(c.kinds, "clean"), func(j verdict.Judged) bool { return certain(j) && kindsOf(j) == c.kinds }}
			judged := playUntil(t, medium, cellOf(s, builtinHost(t, c.host)), play.Limits{}, right)
			var why []string
			for _, f := range judged.Verdict.Findings {
				why = append(why, f.Why)
			}
			assert.Equal(t, c.kinds, kindsOf(judged), account(judged))
			assert.Empty(t, judged.Verdict.Doubts)
			all := strings.Join(why, "\n")
			assert.True(t, slices.ContainsFunc(strings.Split(c.says, "|"), func(part string) bool { return strings.Contains(all, part) }), "%s\nsays not: %s", all, c.says)
		})
	}
}

func kindsOf(j verdict.Judged) string {
	var kinds []string
	for _, f := range j.Verdict.Findings {
		kinds = append(kinds, fmt.Sprintf("%s %s %s x%d", f.Law, f.Kind, f.Label, f.Count))
	}
	return strings.Join(kinds, ", ")
}
