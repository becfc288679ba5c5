package formats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/report/words"
)

// object is a JSON object whose members keep their order: name, value, name, value. The members written here are
// those of SARIF 2.1.0 that code scanning reads:
// https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
type object []any

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i := 0; i < len(o); i += 2 {
		value, err := json.Marshal(o[i+1])
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(fmt.Appendf(b, "%q:", o[i]), value...)
	}
	return append(b, '}'), nil
}

const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifAbout  = "https://github.com/leakbench/leakbench"
)

// SARIF writes one run of the tool, with a rule for each kind.
func SARIF(b *bytes.Buffer, runs []verdict.Judged) error {
	rules, results, notes := []object{}, []object{}, []object{}
	known, index := map[string]law.Kind{}, map[string]int{}
	for _, k := range law.Kinds() {
		known[k.ID] = k
	}
	version, decided := "", true
	for i := range runs {
		j := &runs[i]
		if j.Run != nil {
			version = words.Clean(j.Run.Header.Tool.Version, words.MaxName)
		}
		for n := range j.Verdict.Findings {
			f := &j.Verdict.Findings[n]
			at, ok := index[f.Kind]
			if !ok {
				at = len(rules)
				index[f.Kind] = at
				rules = append(rules, sarifRule(f, known[f.Kind]))
			}
			results = append(results, sarifResult(j, f, at))
		}
		if j.Verdict.Outcome == verdict.Inconclusive {
			decided = false
			for _, d := range j.Verdict.Doubts {
				notes = append(notes, object{"level", "warning", "message", sarifText(string(d.Code) + ": " + d.Text)})
			}
		}
	}
	driver := object{"name", "leakbench"}
	if version != "" {
		driver = append(driver, "version", version)
	}
	driver = append(driver, "informationUri", sarifAbout, "rules", rules, "language", "en-US")
	invocation := object{"executionSuccessful", decided}
	if len(notes) > 0 {
		invocation = append(invocation, "toolExecutionNotifications", notes)
	}
	data, err := json.MarshalIndent(object{"$schema", sarifSchema, "version", "2.1.0", "runs", []object{{
		"tool",
		object{"driver", driver},
		"invocations",
		[]object{invocation},
		"results", results,
		"language", "en-US", "newlineSequences",
		[]string{"\r\n", "\n"},
	}}}, "", "  ")
	if err != nil {
		return err
	}
	b.Write(words.EscapeObscure(data))
	b.WriteByte('\n')
	return nil
}

func sarifText(s string) object { return object{"text", words.Clean(s, words.MaxText)} }

func sarifRule(f *verdict.Finding, k law.Kind) object {
	return object{
		"id", words.Clean(f.Kind, words.MaxName), "name", words.Clean(f.Law+" "+f.Kind, words.MaxName),
		"shortDescription", sarifText(cmp.Or(k.Title, f.Title)),
		"fullDescription", sarifText(cmp.Or(k.Why, f.Why)), "help", sarifText(cmp.Or(k.Fix, f.Fix)),
	}
}

func sarifResult(j *verdict.Judged, f *verdict.Finding, rule int) object {
	level := "error"
	if !f.IsError() {
		level = "warning"
	}
	play := compare.PlayOf(j)
	text := f.Title + ".\nExpected: " + f.Expected + "\nFound: " + f.Found + "\nWhy: " + f.Why + "\nFix: " + f.Fix
	return object{
		"ruleId", words.Clean(f.Kind, words.MaxName), "ruleIndex", rule, "level", level,
		"message",
		object{"text", words.CleanLines(text, 2*words.MaxText)},
		"locations",
		[]object{{
			"physicalLocation",
			object{"artifactLocation", object{"uri", sarifURI(j)}, "region", object{"startLine", 1}},
			"logicalLocations",
			[]object{{"fullyQualifiedName", words.Clean(play.Host+"/"+play.Scenario+"/"+f.Label, 3*words.MaxName)}},
		}},
		"partialFingerprints",
		object{"leakbench/v1", words.Clean(f.Fingerprint+":"+play.Scenario+":"+play.Host, 3*words.MaxName)},
	}
}

// sarifURI is the scenario's file as a relative URI. Code scanning asks for a
// file; a built-in scenario is named as it is in the repository of the bench.
func sarifURI(j *verdict.Judged) string {
	file := "scenario.yaml"
	if j.Run != nil && j.Run.Header.Scenario.File != "" {
		file = j.Run.Header.Scenario.File
	}
	var out []byte
	for _, c := range []byte(words.Clean(file, words.MaxText/4)) {
		switch {
		case words.IsPlain(rune(c)), c == '/':
			out = append(out, c)
		case c == '\\':
			out = append(out, '/')
		default:
			const hexDigits = "0123456789ABCDEF"
			out = append(out, '%', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return string(out)
}
