package report

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/rows"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
)

// suiteCheck is ConformanceCheck in src/types.ts of modelcontextprotocol/conformance (c321dd3).
type suiteCheck struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Description    string `json:"description"`
	Status         string `json:"status"`
	Timestamp      string `json:"timestamp"`
	SpecReferences []struct {
		ID  string `json:"id"`
		URL string `json:"url"`
	} `json:"specReferences"`
	Source       map[string]any `json:"source"`
	Details      map[string]any `json:"details"`
	Metadata     map[string]any `json:"metadata"`
	ErrorMessage string         `json:"errorMessage"`
	Logs         []string       `json:"logs"`
}

func readConformance(t *testing.T, out string, runs []verdict.Judged) {
	t.Helper()
	var checks []suiteCheck
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&checks))
	want := 0
	for i := range runs {
		want += len(rows.Of(runs[i].Run, runs[i].History)) + len(runs[i].Verdict.Laws)
	}
	assert.Len(t, checks, want)
	for _, c := range checks {
		assert.NotEmpty(t, c.ID)
		assert.NotEmpty(t, c.Name)
		assert.Contains(t, []string{"SUCCESS", "FAILURE", "WARNING", "SKIPPED"}, c.Status)
		assert.Equal(t, c.Status == "FAILURE" || c.Status == "WARNING", c.ErrorMessage != "", "%s: %s %s", c.ID, c.Status, c.ErrorMessage)
		if c.Timestamp != "" {
			_, err := time.Parse(time.RFC3339, c.Timestamp)
			assert.NoError(t, err)
		}
	}
}

// TestLawsInChecks: an error fails, a warning warns, and what a scenario is about and could not be judged fails, too.
func TestLawsInChecks(t *testing.T) {
	t.Parallel()
	status := func(j verdict.Judged) map[string]string {
		var checks []suiteCheck
		require.NoError(t, json.Unmarshal([]byte(output(t, "conformance", j)), &checks))
		out := map[string]string{}
		for _, c := range checks {
			out[c.ID] = strings.TrimSpace(c.Status + " " + c.ErrorMessage)
			if strings.HasSuffix(c.ID, "graceful-first") {
				assert.Equal(t, "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown", c.SpecReferences[0].URL)
				assert.Equal(t, law.Of("L9").Says, c.Description)
			}
		}
		return out
	}
	naive := status(realRun(t, "storm-naive"))
	assert.True(t, strings.HasPrefix(naive["leakbench-l1-flat"], "FAILURE "), naive["leakbench-l1-flat"])
	assert.Equal(t, "SUCCESS", naive["leakbench-l8-bounded-shutdown"])
	exact := realRun(t, "storm-exact")
	assert.Equal(t, "SKIPPED", status(exact)["leakbench-l11-shared"])
	i := slices.IndexFunc(exact.Verdict.Laws, func(r verdict.LawResult) bool { return r.Law == "L11" })
	exact.Run.Header.Plan.Laws = append(slices.Clone(exact.Run.Header.Plan.Laws), "L11")
	assert.Equal(t, "FAILURE Not testable: "+exact.Verdict.Laws[i].Reason, status(exact)["leakbench-l11-shared"])
	exact.Verdict.Laws[i].Status = verdict.LawBroken
	exact.Verdict.Findings = append(exact.Verdict.Findings, verdict.Finding{Law: "L11", Severity: "warning", Title: "two of them"})
	assert.Equal(t, "WARNING two of them", status(exact)["leakbench-l11-shared"])
}
