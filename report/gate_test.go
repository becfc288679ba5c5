package report

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/formats"
	"github.com/leakbench/leakbench/report/terminal"
)

// evil steers a terminal, a CI runner and a page, wherever it is let through.
const evil = "\x1b[31m\n::error::x\n##[group]<script>alert(1)</script>](http://evil.example) @everyone | `"

func evilRun(n int) verdict.Judged {
	run := &record.Run{Header: record.Header{Scenario: record.Scenario{Name: evil, File: "./" + evil}, Host: record.Host{Name: evil}, Command: []string{evil}}, Events: []record.Event{
		{T: int64(n), Kind: record.Ended, End: &record.End{Reason: "done"}},
	}}
	j := verdict.Judged{
		Run: run, History: history.Of(run), Dir: evil, Page: evil,
		Verdict: verdict.Verdict{Outcome: verdict.Leak, Doubts: []record.Doubt{{Code: evil, Text: evil}}},
	}
	for _, kind := range []string{"a", "b"} {
		j.Verdict.Findings = append(j.Verdict.Findings, verdict.Finding{
			Law: evil, Kind: evil, Label: evil, Severity: record.SeverityError, Count: n, Fingerprint: kind + evil,
			Title: evil, Expected: evil, Found: evil, Values: []string{evil}, Why: evil, Fix: evil,
		})
	}
	return j
}

func TestGateOutputsAreHarmless(t *testing.T) {
	t.Parallel()
	undecided := evilRun(1)
	undecided.Verdict.Outcome, undecided.Verdict.Findings = verdict.Inconclusive, nil
	r := gate.Decide(gate.Params{
		Attempts: append(gate.Fresh([]verdict.Judged{evilRun(1), undecided}), gate.Attempt{Judged: evilRun(2), Repeat: 2, Try: 2}),
		Base:     []verdict.Judged{evilRun(3)}, HasBase: true, Missing: []string{evil},
		Known: known.List{Entries: []known.Entry{{Scenario: evil, Reason: evil, Expires: time.Unix(0, 0)}}},
		Now:   time.Now(),
	})
	fresh := gate.Decide(gate.Params{Attempts: gate.Fresh([]verdict.Judged{evilRun(1)}), Now: time.Now()})
	o := baseline.GateOptions{Known: evil}
	rates, again := compare.Repeats(r.Runs), baseline.Replay(evilRun(1), undecided)
	for _, result := range []*gate.Result{&r, &fresh} {
		for name, render := range map[string]func(*bytes.Buffer) error{
			"text":   func(b *bytes.Buffer) error { baseline.Gate(b, result, o); return nil },
			"md":     func(b *bytes.Buffer) error { formats.GateMarkdown(b, result, o); return nil },
			"github": func(b *bytes.Buffer) error { formats.GateGitHub(b, result, o); return nil },
			"json": func(b *bytes.Buffer) error {
				return formats.JSON(b, result.Runs, formats.Exit{}, formats.More{Gate: result, Repeats: rates, Replays: []baseline.Replayed{again, again}})
			},
			"compare": func(b *bytes.Buffer) error {
				c := compare.Runs([]verdict.Judged{evilRun(1)}, []verdict.Judged{evilRun(2)}, compare.Params{})
				baseline.Comparison(b, &c, terminal.Options{Verbose: true})
				return nil
			},
			"repeats":  func(b *bytes.Buffer) error { baseline.Repeats(b, rates, terminal.Options{}); return nil },
			"replay":   func(b *bytes.Buffer) error { baseline.ReplayText(b, evil, &again, terminal.Options{}); return nil },
			"known":    func(b *bytes.Buffer) error { baseline.Known(b, evil, result.Entries, terminal.Options{}); return nil },
			"knownall": func(b *bytes.Buffer) error { return formats.KnownJSON(b, result.Entries) },
		} {
			var b bytes.Buffer
			require.NoError(t, render(&b), name)
			harmlessOutput(t, name, b.String())
		}
	}
}

func harmlessOutput(t *testing.T, name, text string) {
	t.Helper()
	assert.NotContains(t, text, "\x1b", name)
	switch name {
	case "json", "knownall":
		assert.True(t, json.Valid([]byte(text)), name)
		return
	case "md":
		for _, bad := range []string{"<script", "](http", "@everyone"} {
			assert.NotContains(t, text, bad)
		}
		return
	}
	assert.NotContains(t, text, "##[", name)
	for line := range strings.Lines(text) {
		if name == "github" {
			assert.Regexp(t, `^::(error|warning) ([a-z]+=[^:,]*,?)*::`, line)
			continue
		}
		assert.False(t, strings.HasPrefix(strings.TrimSpace(line), "::"), "%s: %q", name, line)
	}
}

// TestMoreIsWhatTheSchemaSays: what several runs say together, with what has no
// number in JSON.
func TestMoreIsWhatTheSchemaSays(t *testing.T) {
	t.Parallel()
	schema, err := validator.NewCompiler().Compile("../docs/schema/report.schema.json")
	require.NoError(t, err)
	play := compare.Play{Scenario: "s", Host: "h"}
	c := compare.Result{Measures: []compare.Measure{{Play: play, Name: "stop", Unit: "ms", Change: compare.Worse, Delta: math.Inf(1)}}}
	for _, more := range []formats.More{{}, {Compare: &c}, {Compare: &compare.Result{}}, {Gate: &gate.Result{}}, {Gate: &gate.Result{Compared: &c}}, {Repeats: []compare.Repeat{{}}}} {
		var b bytes.Buffer
		require.NoError(t, formats.JSON(&b, nil, formats.Exit{}, more))
		object, err := validator.UnmarshalJSON(&b)
		require.NoError(t, err)
		require.NoError(t, schema.Validate(object))
		m := object.(map[string]any)
		assert.Equal(t, more.Gate != nil, m["gate"] != nil)
		assert.Equal(t, more.Repeats != nil, m["repeats"] != nil)
		assert.Equal(t, more.Compare != nil || more.Gate != nil && more.Gate.Compared != nil, m["compare"] != nil)
	}
	replayed := baseline.Replay(evilRun(1), evilRun(2))
	var b bytes.Buffer
	require.NoError(t, formats.JSON(&b, nil, formats.Exit{}, formats.More{Replays: []baseline.Replayed{replayed}}))
	object, err := validator.UnmarshalJSON(&b)
	require.NoError(t, err)
	require.NoError(t, schema.Validate(object))
}
