package doctor_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/doctor"
	"github.com/leakbench/leakbench/internal/record"
)

// found is a run in which these laws were broken, each by a kind.
func found(kinds ...string) *verdict.Judged {
	j := &verdict.Judged{}
	for _, k := range kinds {
		law, kind, _ := strings.Cut(k, " ")
		j.Verdict.Findings = append(j.Verdict.Findings, verdict.Finding{Law: law, Kind: kind})
	}
	return j
}

func doubtful(code record.DoubtCode) *verdict.Judged {
	return &verdict.Judged{Verdict: verdict.Verdict{Doubts: []record.Doubt{{Code: code, Text: "who knows"}}}}
}

// TestResults holds what a player hands back against what was expected.
func TestResults(t *testing.T) {
	t.Parallel()
	mutant := doctor.Case{Scenario: "storm", Host: "mutant-l4", Law: "L4", Kind: "zombie"}
	healthy := doctor.Case{Scenario: "storm", Host: doctor.Healthy}
	all := []struct {
		doctor.Case
		run *verdict.Judged
		err error
		ok  bool
	}{
		{healthy, found(), nil, true},
		{mutant, found("L4 zombie", "L4 zombie"), nil, true},
		{mutant, found(), nil, false},
		{mutant, found("L4 other"), nil, false},
		{mutant, found("L4 zombie", "L1 superseded"), nil, false},
		{healthy, doubtful("x"), nil, false},
		{healthy, doubtful(record.DoubtNoPlace), nil, false},
		{healthy, nil, errors.New("no luck"), false},
		{doctor.Case{Scenario: "no-such-scenario", Host: "no-such-host"}, nil, nil, false},
	}
	cases := make([]doctor.Case, len(all))
	for i, one := range all {
		cases[i] = one.Case
	}
	seen := 0
	results, err := doctor.Selftest(t.Context(), doctor.SelftestParams{
		Self: "self", Dir: "runs", Jobs: 3, OnResult: func(doctor.Result) { seen++ },
		Play: func(_ context.Context, c play.Cell) (*verdict.Judged, error) {
			for i, one := range all {
				if strings.HasPrefix(filepath.Base(c.Dir), "00"+string(rune('1'+i))) {
					return one.run, one.err
				}
			}
			return nil, errors.New("not a case: " + c.Dir)
		},
	}, cases)
	require.NoError(t, err)
	assert.Equal(t, len(all), seen)
	for i, one := range all {
		assert.Equal(t, one.ok, results[i].OK, "%+v", results[i])
		assert.Equal(t, one.Case, results[i].Case)
	}
	assert.Equal(t, "who knows", results[6].Skipped)
	assert.Contains(t, results[8].Error, "no-such-scenario")
	assert.Contains(t, results[8].Error, "no-such-host")
	bad, skipped := doctor.Count(results)
	assert.Equal(t, [2]int{6, 1}, [2]int{bad, skipped})
	assert.Equal(t, map[string]map[string]int{
		"L4":        {"L4": 3, "L1": 1, doctor.None: 1},
		doctor.None: {doctor.None: 1, doctor.Unclear: 3},
	}, doctor.Matrix(results), "what was skipped does not count")
}

func TestCutShort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	results, err := doctor.Selftest(ctx, doctor.SelftestParams{Self: "self", Play: func(context.Context, play.Cell) (*verdict.Judged, error) {
		cancel()
		return found(), nil
	}}, doctor.Cases())
	require.ErrorIs(t, err, context.Canceled)
	assert.Nil(t, results)
}

func TestCasesOfALaw(t *testing.T) {
	t.Parallel()
	assert.Equal(t, doctor.Cases(), doctor.CasesOf(""))
	sum := 0
	for _, row := range doctor.Rows() {
		cases := doctor.CasesOf(row)
		assert.NotEmpty(t, cases, row)
		sum += len(cases)
		for _, c := range cases {
			assert.Equal(t, row == doctor.None, c.Law == "")
		}
	}
	assert.Len(t, doctor.Cases(), sum, "each case is of one law")
}

func TestWords(t *testing.T) {
	t.Parallel()
	results := []doctor.Result{
		{Case: doctor.Case{Scenario: "storm", Host: "exact"}, OK: true},
		{Case: doctor.Case{Scenario: "storm", Host: "mutant-l4", Law: "L4", Kind: "zombie"}, Laws: []string{"L1"}, Kinds: []string{"superseded"}},
		{Case: doctor.Case{Scenario: "cron", Host: "exact"}, Doubts: []record.Doubt{{Code: "x", Text: "who knows"}}},
		{Case: doctor.Case{Scenario: "hang", Host: "exact"}, Error: "no luck"},
	}
	var out strings.Builder
	require.NoError(t, doctor.WriteResults(&out, results, 0))
	assert.Contains(t, out.String(), "4 runs in 0 s, 1 as expected, 3 not\n")
	assert.Contains(t, out.String(), "  L4     .   1 ")
	for i, want := range []string{
		"✓ exact            storm     no law broken",
		"✗ mutant-l4        storm     L4 zombie; found: L1 superseded",
		"✗ exact            cron      no law broken; found: no law broken; unclear: who knows",
		"✗ exact            hang      no law broken; found: no law broken; failed: no luck",
	} {
		assert.Equal(t, want, results[i].String())
	}
	skipped := doctor.Result{Case: doctor.Case{Scenario: "pid-1", Host: "exact"}, Skipped: "no namespace"}
	assert.Equal(t, "- exact            pid-1     no law broken; skipped: no namespace", skipped.String())
	out.Reset()
	require.NoError(t, doctor.WriteResults(&out, []doctor.Result{results[0], skipped}, 1400*time.Millisecond))
	assert.Contains(t, out.String(), "\n1 run in 1.4 s, 1 as expected, 0 not; 1 skipped, which says nothing for or against\n")
}

// TestWhatWindowsDoesNotSee: L5 is skipped there where the host's handles were not counted. Any other law that was not judged, and L5
// where they were or elsewhere, is a bench gone blind.
func TestWhatWindowsDoesNotSee(t *testing.T) {
	t.Parallel()
	const why = "too few looks"
	for _, one := range []struct {
		law, os string
		status  verdict.LawStatus
		fds     int
		finds   []string
		skipped string
	}{
		{"L5", record.Windows, verdict.LawNotJudged, -1, nil, "L5 was not judged: " + why},
		{"L5", record.Windows, verdict.LawNotJudged, -1, []string{"L1 superseded"}, ""},
		{"L5", record.Windows, verdict.LawNotJudged, 40, nil, ""},
		{"L5", record.Windows, verdict.LawKept, -1, nil, ""},
		{"L5", "linux", verdict.LawNotJudged, -1, nil, ""},
		{"L1", record.Windows, verdict.LawNotJudged, -1, nil, ""},
		{"L3", record.Windows, verdict.LawNotJudged, -1, nil, ""},
	} {
		j := found(one.finds...)
		census := &record.Census{Cycle: &record.Cycle{N: 1}, Host: &record.Process{FDs: one.fds}}
		j.Run = &record.Run{
			Header: record.Header{System: record.System{OS: one.os}}, Events: []record.Event{{Kind: record.CensusTaken, Census: census}},
		}
		j.Verdict.Laws = []verdict.LawResult{{Law: one.law, Status: one.status, Reason: why}}
		play := func(context.Context, play.Cell) (*verdict.Judged, error) { return j, nil }
		c := doctor.Case{Scenario: "storm", Host: "mutant-l5", Law: one.law, Kind: "wanted"}
		results, err := doctor.Selftest(t.Context(), doctor.SelftestParams{Self: "self", Dir: "runs", Jobs: 1, Play: play}, []doctor.Case{c})
		require.NoError(t, err)
		assert.Equal(t, one.skipped, results[0].Skipped, "%+v", one)
		bad, _ := doctor.Count(results)
		assert.Equal(t, one.skipped == "", bad == 1, "%+v", one)
	}
}

// TestBeyondTheMachine: what can't be played on a machine says nothing, for or against.
func TestBeyondTheMachine(t *testing.T) {
	t.Parallel()
	for _, code := range []record.DoubtCode{record.DoubtNoPlace, record.DoubtNoLimit} {
		play := func(context.Context, play.Cell) (*verdict.Judged, error) { return doubtful(code), nil }
		cases := []doctor.Case{{Scenario: "nofile", Host: doctor.Healthy}}
		results, err := doctor.Selftest(t.Context(), doctor.SelftestParams{Self: "self", Dir: "runs", Jobs: 1, Play: play}, cases)
		require.NoError(t, err)
		assert.Equal(t, "who knows", results[0].Skipped)
	}
}
