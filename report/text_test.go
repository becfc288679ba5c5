package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/terminal"
)

func text(t *testing.T, o terminal.Options, runs ...verdict.Judged) string {
	t.Helper()
	var b bytes.Buffer
	terminal.Text(&b, runs, o)
	return b.String()
}

func TestTextGolden(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{storm("naive", true, 20), storm("exact", false, 20), inconclusive()}
	golden(t, "text.txt", text(t, terminal.Options{}, runs...))
	golden(t, "text-narrow.txt", text(t, terminal.Options{Width: 60}, cron()))
	golden(t, "text-colour.txt", strings.ReplaceAll(text(t, terminal.Options{Color: true}, cron()), "\x1b", "^"))
	golden(t, "text-verbose.txt", text(t, terminal.Options{Verbose: true}, cron()))
}

func TestTextFitsItsWidth(t *testing.T) {
	t.Parallel()
	for _, width := range []int{50, 80, 100, 200} {
		for line := range strings.Lines(text(t, terminal.Options{Width: width, Verbose: true}, storm("naive", true, 20), cron(), inconclusive())) {
			assert.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), width, "%q", line)
		}
	}
}

func TestColourOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	plain := text(t, terminal.Options{}, cron())
	assert.NotContains(t, plain, "\x1b")
	coloured := text(t, terminal.Options{Color: true}, cron())
	assert.Contains(t, coloured, "\x1b[")
	assert.Equal(t, plain, ownColour.ReplaceAllString(coloured, ""), "colour changes nothing but colour")
}

func object(t *testing.T, exit formats.Exit, runs ...verdict.Judged) map[string]any {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, formats.JSON(&b, runs, exit, formats.More{}))
	assert.True(t, strings.HasSuffix(b.String(), "}\n"))
	var out map[string]any
	require.NoError(t, json.Unmarshal(b.Bytes(), &out))
	return out
}

func keys(m any) []string {
	var out []string
	for k := range m.(map[string]any) {
		out = append(out, k)
	}
	return out
}

func TestJSONShape(t *testing.T) {
	t.Parallel()
	out := object(t, formats.Exit{Code: 1, Reason: "1 run with findings"}, cron(), storm("exact", false, 2))
	assert.ElementsMatch(t, []string{"outcome", "exit", "runs"}, keys(out))
	assert.Equal(t, "leak", out["outcome"])
	assert.Equal(t, map[string]any{"code": 1.0, "reason": "1 run with findings"}, out["exit"])
	runs := out["runs"].([]any)
	require.Len(t, runs, 2)
	for _, r := range runs {
		assert.ElementsMatch(t, []string{"scenario", "host", "outcome", "spawned", "peak_live", "left", "findings", "doubts", "laws", "took", "seed", "again", "dir", "page"}, keys(r))
	}
	first := runs[0].(map[string]any)
	findings := first["findings"].([]any)
	require.Len(t, findings, 4)
	for _, f := range findings {
		assert.Subset(t, keys(f), []string{"law", "kind", "label", "count", "fingerprint", "why", "fix"})
		for _, name := range []string{"values", "servers", "reports"} {
			assert.IsType(t, []any{}, f.(map[string]any)[name], name)
		}
	}
	assert.Equal(t, "L1", findings[0].(map[string]any)["law"])
	assert.Equal(t, []any{map[string]any{"code": "ledger-lost", "text": "the connection of job#1 ended, but its process did not"}}, first["doubts"])
	assert.Equal(t, []any{}, runs[1].(map[string]any)["findings"], "an empty list, not null")
	assert.Equal(t, []any{}, runs[1].(map[string]any)["doubts"])
}

func TestOutcomeOfAllRuns(t *testing.T) {
	t.Parallel()
	good, doubt, bad := storm("exact", false, 1), inconclusive(), cron()
	for _, c := range []struct {
		want string
		runs []verdict.Judged
	}{
		{"inconclusive", nil},
		{"clean", []verdict.Judged{good, good}},
		{"inconclusive", []verdict.Judged{good, doubt}},
		{"leak", []verdict.Judged{doubt, bad, good}},
		{"inconclusive", []verdict.Judged{{Run: &record.Run{}, Verdict: verdict.Verdict{Outcome: "odd"}}}},
	} {
		out := object(t, formats.Exit{}, c.runs...)
		assert.Equal(t, c.want, out["outcome"])
		assert.IsType(t, []any{}, out["runs"])
	}
}
