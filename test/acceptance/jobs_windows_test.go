package acceptance_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// TestJobs plays the hosts that do something wrong with their Job Objects: what the catalogue says is found, and nothing else.
func TestJobs(t *testing.T) {
	t.Parallel()
	for _, h := range catalogue.WindowsHosts {
		shows := map[string][]string{h.Clean: {}}
		for _, f := range h.Shows {
			shows[f.Scenario] = append(shows[f.Scenario], f.Law+" "+f.Kind)
		}
		for scenario, want := range shows {
			t.Run(h.Name+"/"+scenario, func(t *testing.T) {
				t.Parallel()
				right := wanted{cmp.Or(strings.Join(want, " "), "clean"), func(j verdict.Judged) bool { return slices.Equal(want, errorsIn(j)) && len(j.Verdict.Doubts) == 0 }}
				judged := playUntil(t, short, cellOf(builtin(t, scenario), builtinHost(t, h.Name)), play.Limits{}, right)
				assert.Equal(t, want, errorsIn(judged), account(judged))
				assert.Empty(t, judged.Verdict.Doubts)
				if h.Flaw == catalogue.JobsLate && scenario == "helpers" {
					left := func(f verdict.Finding) bool { return strings.Contains(f.Title, "conhost.exe") }
					assert.True(t, slices.ContainsFunc(judged.Verdict.Findings, left), "the consoles are not in the jobs, either\n%s", account(judged))
				}
			})
		}
	}
}

// errorsIn are the laws and kinds that were found as errors, each once.
func errorsIn(j verdict.Judged) []string {
	found := map[string]bool{}
	for _, f := range j.Verdict.Findings {
		if f.Severity == record.SeverityError {
			found[f.Law+" "+f.Kind] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(found))...)
}
