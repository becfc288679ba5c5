package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// Exit is how the bench ends: the exit code and why.
type Exit struct {
	Code   int    `json:"code"`
	Reason string `json:"reason"`
}

// The JSON object. Its fields are a promise to the programs that read it: new
// ones may be added, none is renamed or taken away. Lists are never null.
type jsonReport struct {
	Outcome verdict.Outcome `json:"outcome"` // the worst of the runs
	Exit    Exit            `json:"exit"`
	Runs    []jsonRun       `json:"runs"`
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

// JSON writes one JSON object on all runs, indented, ended by a newline. Any
// character that could steer a terminal is written as a \u escape, so the
// object can be printed and still holds the exact strings.
func JSON(w io.Writer, runs []verdict.Judged, exit Exit) error {
	out := jsonReport{Outcome: worst(runs), Exit: exit, Runs: []jsonRun{}}
	for i := range runs {
		out.Runs = append(out.Runs, toJSON(&runs[i]))
	}
	return writeJSON(w, "report", out)
}

// writeJSON writes one object for readers and programs, ended by a newline.
func writeJSON(w io.Writer, what string, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encoding the %s: %w", what, err)
	}
	_, err := w.Write(escapeObscure(buf.Bytes()))
	return err
}

func toJSON(j *verdict.Judged) jsonRun {
	v := &j.Verdict
	run := jsonRun{
		Outcome: v.Outcome, Spawned: v.Spawned, PeakLive: v.PeakLive, Left: v.Left,
		Findings: []jsonFinding{}, Doubts: list(v.Doubts), Dir: j.Dir,
		Laws: []jsonLaw{}, Took: float64(lasted(j)) / 1e9, Again: []string{}, Page: j.Page,
	}
	run.Scenario, run.Host = playOf(j)
	if j.Run != nil {
		run.Seed, run.Again = j.Run.Header.Seed, list(j.Run.Header.Command)
	}
	for _, l := range v.Laws {
		run.Laws = append(run.Laws, jsonLaw{l.Law, l.Name, l.Status, l.Expected, l.Found, list(l.Values), l.Reason})
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		run.Findings = append(run.Findings, jsonFinding{
			Law: f.Law, Kind: f.Kind, Label: f.Label, Severity: f.Severity, Count: f.Count, Fingerprint: f.Fingerprint,
			Title: f.Title, Expected: f.Expected, Found: f.Found, Values: list(f.Values), Why: f.Why, Fix: f.Fix,
			Reports: list(f.Reports), Checkpoint: f.Checkpoint, Servers: list(f.Servers),
		})
	}
	return run
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// worst is the outcome of all runs together. No run at all is no proof.
func worst(runs []verdict.Judged) verdict.Outcome {
	all := verdict.Clean
	if len(runs) == 0 {
		return verdict.Inconclusive
	}
	for i := range runs {
		switch runs[i].Verdict.Outcome {
		case verdict.Leak:
			return verdict.Leak
		case verdict.Clean:
		default:
			all = verdict.Inconclusive
		}
	}
	return all
}

// escapeObscure writes what encoding/json leaves raw, DEL, C1 and format
// characters, as \u escapes. In valid JSON those occur in strings only.
func escapeObscure(src []byte) []byte {
	var out bytes.Buffer
	for len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		switch {
		case r == 0x7f || r != utf8.RuneError && obscure(r):
			if r > 0xffff {
				hi, lo := (r-0x10000)>>10+0xd800, (r-0x10000)&0x3ff+0xdc00
				fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
			} else {
				fmt.Fprintf(&out, `\u%04x`, r)
			}
		default:
			out.Write(src[:n])
		}
		src = src[n:]
	}
	return out.Bytes()
}
