// Package formats renders judged runs, and what a gate says of them, for programs
// and CI systems.
package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// Exit is how the bench ends: the exit code and why.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

type jsonRun struct {
	Scenario string          `json:"scenario"`
	Host     string          `json:"host"`
	Outcome  verdict.Outcome `json:"outcome"`
	Spawned  int             `json:"spawned"`
	PeakLive int             `json:"peak_live"`
	Left     int             `json:"left"`
	Findings []jsonFinding   `json:"findings"`
	Doubts   []record.Doubt  `json:"doubts"`
	Laws     []jsonLaw       `json:"laws"`
	Took     float64         `json:"took" jsonschema:"seconds"`
	Seed     uint64          `json:"seed"`
	Again    []string        `json:"again" jsonschema:"the command that plays the same again"`
	Dir      string          `json:"dir"`
	Page     string          `json:"page" jsonschema:"where its HTML report is, or empty"`
}

type jsonLaw struct {
	Law      string            `json:"law"`
	Name     string            `json:"name"`
	Status   verdict.LawStatus `json:"status"`
	Expected string            `json:"expected"`
	Found    string            `json:"found"`
	Values   []string          `json:"values"`
	Reason   string            `json:"reason" jsonschema:"why it was not judged"`
}

type jsonFinding struct {
	Law         string          `json:"law"`
	Kind        string          `json:"kind"`
	Label       string          `json:"label"`
	Severity    record.Severity `json:"severity"`
	Count       int             `json:"count"`
	Fingerprint string          `json:"fingerprint"`
	Title       string          `json:"title"`
	Expected    string          `json:"expected"`
	Found       string          `json:"found"`
	Values      []string        `json:"values"`
	Why         string          `json:"why"`
	Fix         string          `json:"fix"`
	Reports     []string        `json:"reports"`
	Checkpoint  string          `json:"checkpoint"`
	Servers     []string        `json:"servers"`
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
	v := &j.Verdict
	run := jsonRun{
		Outcome: v.Outcome, Spawned: v.Spawned, PeakLive: v.PeakLive, Left: v.Left,
		Findings: []jsonFinding{}, Doubts: words.List(v.Doubts), Dir: j.Dir,
		Laws: []jsonLaw{}, Took: float64(model.Lasted(j)) / 1e9, Again: []string{}, Page: j.Page,
	}
	play := compare.PlayOf(j)
	run.Scenario, run.Host = play.Scenario, play.Host
	if j.Run != nil {
		run.Seed, run.Again = j.Run.Header.Seed, words.List(j.Run.Header.Command)
	}
	for _, l := range v.Laws {
		run.Laws = append(run.Laws, jsonLaw{l.Law, l.Name, l.Status, l.Expected, l.Found, words.List(l.Values), l.Reason})
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		run.Findings = append(run.Findings, jsonFinding{
			Law: f.Law, Kind: f.Kind, Label: f.Label, Severity: f.Severity, Count: f.Count, Fingerprint: f.Fingerprint,
			Title: f.Title, Expected: f.Expected, Found: f.Found, Values: words.List(f.Values), Why: f.Why, Fix: f.Fix,
			Reports: words.List(f.Reports), Checkpoint: f.Checkpoint, Servers: words.List(f.Servers),
		})
	}
	return run
}
