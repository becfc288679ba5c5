// Package formats renders judged runs, and what a gate says of them, for programs and CI systems.
package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/known"
	"github.com/leakbench/leakbench/internal/judge/rows"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// Exit is how the bench ends: the exit code and why.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

type jsonRun struct {
	compare.Play
	verdict.Verdict
	Rows  []rows.Check `json:"rows,omitempty" jsonschema:"rows of the specification that the scenario covers"`
	Took  float64      `json:"took" jsonschema:"seconds"`
	Seed  uint64       `json:"seed"`
	Again []string     `json:"again" jsonschema:"the command that makes the same run again"`
	Dir   string       `json:"dir"`
	Page  string       `json:"page" jsonschema:"where its HTML report is, or empty"`
}

// WriteJSON writes one object for readers and programs, ended by a newline.
func WriteJSON(w io.Writer, what string, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the %s: %w", what, err)
	}
	_, err := w.Write(words.EscapeObscure(buf.Bytes()))
	return err
}

func toJSON(j *verdict.Judged) jsonRun {
	took := float64(model.Lasted(j)) / 1e9
	run := jsonRun{
		Play: compare.PlayOf(j), Verdict: j.Verdict, Rows: rows.Of(j.Run, j.History), Took: took, Again: []string{}, Dir: j.Dir, Page: j.Page,
	}
	if j.Run != nil {
		run.Seed, run.Again = j.Run.Header.Seed, words.List(j.Run.Header.Command)
	}
	run.Findings, run.Doubts = words.List(slices.Clone(j.Verdict.Findings)), words.List(j.Verdict.Doubts)
	for i := range run.Findings {
		f := &run.Findings[i]
		f.Values, f.Reports, f.Servers = words.List(f.Values), words.List(f.Reports), words.List(f.Servers)
	}
	run.Laws = words.List(slices.Clone(j.Verdict.Laws))
	for i := range run.Laws {
		run.Laws[i].Values = words.List(run.Laws[i].Values)
	}
	return run
}

// More is what several runs say together. What is nil is left out.
type More struct {
	Gate    *gate.Result
	Compare *compare.Result
	Repeats []compare.Repeat
	Replays []baseline.Replayed // one for each run
	// NotApplicable are the scenarios that were asked for, and that the host can't be played.
	NotApplicable []gate.NotApplicable
}

// Report is the JSON object: docs/schema/report.schema.json. Its fields are a promise to the programs that read it: new ones
// may be added, none is renamed or taken away. Lists are never null.
type Report struct {
	Outcome verdict.Outcome    `json:"outcome"` // the worst of the runs
	Exit    Exit               `json:"exit"`
	Runs    []jsonRun          `json:"runs"`
	Gate    *jsonGate          `json:"gate,omitempty" jsonschema:"what leakbench gate or merge answers"`
	Compare *jsonCompare       `json:"compare,omitempty" jsonschema:"leakbench compare, and a gate with a baseline: the runs beside earlier ones"`
	Repeats []jsonRepeat       `json:"repeats,omitempty" jsonschema:"leakbench run --repeat: how often each scenario leaked"`
	Replay  *baseline.Replayed `json:"replay,omitempty" jsonschema:"leakbench replay of one run: whether it ended alike"`
	// Replays has one entry for each run, in their order.
	Replays []baseline.Replayed `json:"replays,omitempty" jsonschema:"leakbench replay: for each of the runs, whether it ended alike"`
	// NotApplicable is empty where scenarios were named: one that is not applicable is refused then.
	NotApplicable []gate.NotApplicable `json:"not_applicable,omitempty" jsonschema:"the scenarios that do not apply to the host, and why"`
}

// JSON writes one JSON object on all runs, indented, ended by a newline. Any character that could steer a terminal is
// written as a \u escape, so the object can be printed and still holds the exact strings.
func JSON(w io.Writer, runs []verdict.Judged, exit Exit, more More) error {
	out := Report{Outcome: model.Worst(runs), Exit: exit, Runs: []jsonRun{}, Replays: more.Replays, NotApplicable: more.NotApplicable}
	if len(more.Replays) == 1 {
		out.Replay = &more.Replays[0]
	}
	for i := range runs {
		out.Runs = append(out.Runs, toJSON(&runs[i]))
	}
	if more.Gate != nil {
		out.Gate, more.Compare = toJSONGate(more.Gate), more.Gate.Compared
	}
	if more.Compare != nil {
		out.Compare = toJSONCompare(more.Compare)
	}
	for i := range more.Repeats {
		out.Repeats = append(out.Repeats, toJSONRepeat(&more.Repeats[i]))
	}
	return WriteJSON(w, "report", out)
}

type jsonGate struct {
	Outcome  gate.Outcome   `json:"outcome" jsonschema:"pass, fail, inconclusive or host-failed"`
	Reason   string         `json:"reason"`
	Findings []jsonJudgment `json:"findings"`
	Known    []jsonEntry    `json:"known" jsonschema:"the list of known findings, compared with the runs"`
	Flaky    []gate.Flake   `json:"flaky" jsonschema:"scenarios whose tries or repeats do not agree"`
	Missing  []string       `json:"missing" jsonschema:"what should have been run and was not"`
	Retried  int            `json:"retried" jsonschema:"tries that were made again, and count no more"`
}

type jsonJudgment struct {
	State       string          `json:"state" jsonschema:"of a gate: new, unlisted, warning, listed, in the baseline or fixed; of a comparison: new, known, fixed, not run or undecided"`
	Scenario    string          `json:"scenario"`
	Host        string          `json:"host"`
	Law         string          `json:"law"`
	Kind        string          `json:"kind"`
	Severity    record.Severity `json:"severity"`
	Fingerprint string          `json:"fingerprint"`
	Title       string          `json:"title"`
	Base        compare.Seen    `json:"base" jsonschema:"in how many of the earlier runs"`
	Head        compare.Seen    `json:"head" jsonschema:"in how many of the runs"`
	Note        string          `json:"note,omitempty"`
	Listed      string          `json:"listed,omitempty" jsonschema:"the line of the list that has it: line 5"`
}

type jsonEntry struct {
	State   known.State `json:"state" jsonschema:"found, stale, expired, undecided, not run or not seen"`
	Finding string      `json:"finding"`
	Host    string      `json:"host,omitempty"`
	Reason  string      `json:"reason"`
	Expires string      `json:"expires" jsonschema:"the last day it is good for: 2030-01-31"`
	Line    int         `json:"line"`
	In      int         `json:"in" jsonschema:"how many runs showed it"`
}

func toJSONGate(r *gate.Result) *jsonGate {
	out := &jsonGate{
		Outcome: r.Outcome, Reason: r.Reason, Missing: words.List(r.Missing), Retried: r.Retried,
		Findings: []jsonJudgment{}, Known: toJSONEntries(r.Entries), Flaky: words.List(r.Flakes),
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		j := toJSONJudgment(string(f.Decision), &f.Finding)
		if f.Entry != nil {
			j.Listed = fmt.Sprintf("line %d", f.Entry.Line)
			if old := baseline.OldName(f); old != "" {
				j.Note = strings.TrimPrefix(j.Note+"; "+old, "; ")
			}
		}
		out.Findings = append(out.Findings, j)
	}
	return out
}

func toJSONEntries(all []known.Checked) []jsonEntry {
	out := []jsonEntry{}
	for i := range all {
		e := &all[i]
		out = append(out, jsonEntry{e.State, e.Finding(), e.Host, e.Reason, e.Expires.Format(time.DateOnly), e.Line, e.In})
	}
	return out
}

func toJSONJudgment(state string, f *compare.Finding) jsonJudgment {
	return jsonJudgment{
		State: state, Scenario: f.Scenario, Host: f.Host, Law: f.Law, Kind: f.Kind, Severity: f.Severity,
		Fingerprint: f.Fingerprint, Title: f.Title, Base: f.Base, Head: f.Head, Note: f.Note,
	}
}

type jsonCompare struct {
	Base     int            `json:"base" jsonschema:"how many earlier runs"`
	Head     int            `json:"head" jsonschema:"how many runs"`
	Findings []jsonJudgment `json:"findings"`
	Counts   []jsonCount    `json:"counts"`
	Measures []jsonMeasure  `json:"measures"`
	Tests    int            `json:"tests" jsonschema:"how many were made, which the p are corrected for"`
	Need     int            `json:"need" jsonschema:"how many runs a side needs to show anything"`
	Notes    []string       `json:"notes"`
}

type jsonCount struct {
	compare.Count
	Delta int `json:"delta"`
}

type jsonMeasure struct {
	compare.Play
	Name   string         `json:"name"`
	Unit   compare.Unit   `json:"unit"`
	Base   []float64      `json:"base" jsonschema:"one for each earlier run"`
	Head   []float64      `json:"head" jsonschema:"one for each run"`
	Change compare.Change `json:"change" jsonschema:"worse, better, same or untested"`
	P      float64        `json:"p" jsonschema:"of the Mann-Whitney test, two-sided"`
	Holm   float64        `json:"p_holm" jsonschema:"p, corrected for all tests together"`
	Delta  *float64       `json:"delta" jsonschema:"of the medians, 0.25 is a quarter more; null: from 0"`
	Effect float64        `json:"effect" jsonschema:"Vargha and Delaney's A: of all pairs, in how many the later run is larger"`
	Within bool           `json:"within_tolerance" jsonschema:"shown to differ, and by no more than the tolerance"`
}

func toJSONCompare(r *compare.Result) *jsonCompare {
	out := &jsonCompare{
		Base: r.Base, Head: r.Head, Tests: r.Tests, Need: r.Need, Notes: words.List(r.Notes),
		Findings: []jsonJudgment{}, Counts: []jsonCount{}, Measures: []jsonMeasure{},
	}
	for i := range r.Findings {
		out.Findings = append(out.Findings, toJSONJudgment(string(r.Findings[i].State), &r.Findings[i]))
	}
	for _, c := range r.Counts {
		out.Counts = append(out.Counts, jsonCount{c, c.Delta()})
	}
	for _, m := range r.Measures {
		j := jsonMeasure{m.Play, m.Name, m.Unit, words.List(m.Base), words.List(m.Head), m.Change, m.P, m.Holm, &m.Delta, m.Effect, m.Within}
		if math.IsInf(m.Delta, 0) {
			j.Delta = nil
		}
		out.Measures = append(out.Measures, j)
	}
	return out
}

type jsonRepeat struct {
	compare.Play
	Leak         compare.Rate     `json:"leak"`
	Inconclusive int              `json:"inconclusive"`
	Flaky        bool             `json:"flaky"`
	Findings     []jsonRepeatable `json:"findings"`
}

type jsonRepeatable struct {
	Law         string       `json:"law"`
	Kind        string       `json:"kind"`
	Fingerprint string       `json:"fingerprint"`
	Rate        compare.Rate `json:"rate"`
}

func toJSONRepeat(r *compare.Repeat) jsonRepeat {
	out := jsonRepeat{Play: r.Play, Leak: r.Leak, Inconclusive: r.Inconclusive, Flaky: r.Flaky(), Findings: []jsonRepeatable{}}
	for i := range r.Findings {
		f := &r.Findings[i]
		out.Findings = append(out.Findings, jsonRepeatable{f.Law, f.Kind, f.Fingerprint, f.Rate})
	}
	return out
}

// KnownJSON writes a list of known findings, and what became of each entry, as one object.
func KnownJSON(w io.Writer, all []known.Checked) error {
	return WriteJSON(w, "list", map[string]any{"known": toJSONEntries(all)})
}
