package formats

import (
	"bytes"
	"encoding/json"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/words"
)

// The parts of SARIF 2.1.0 that code scanning reads:
// https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		Results     []sarifResult     `json:"results"`
		Language    string            `json:"language"`
		Newlines    []string          `json:"newlineSequences"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		URI     string      `json:"informationUri"`
		Rules   []sarifRule `json:"rules"`
		Lang    string      `json:"language"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Name  string    `json:"name"`
		Short sarifText `json:"shortDescription"`
		Full  sarifText `json:"fullDescription"`
		Help  sarifText `json:"help"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifInvocation struct {
		Successful bool          `json:"executionSuccessful"` // false: some run could not be decided
		Notes      []sarifNotice `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotice struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifResult struct {
		RuleID    string            `json:"ruleId"`
		RuleIndex int               `json:"ruleIndex"`
		Level     string            `json:"level"`
		Message   sarifText         `json:"message"`
		Locations []sarifLocation   `json:"locations"`
		Prints    map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
	}
)

const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifAbout  = "https://github.com/leakbench/leakbench"
)

// SARIF writes one run of the tool, with a rule for each kind.
func SARIF(b *bytes.Buffer, runs []verdict.Judged) error {
	run := sarifRun{
		Tool:        sarifTool{sarifDriver{Name: "leakbench", URI: sarifAbout, Rules: []sarifRule{}, Lang: "en-US"}},
		Invocations: []sarifInvocation{{Successful: true}}, Results: []sarifResult{}, Language: "en-US", Newlines: []string{"\r\n", "\n"},
	}
	known, index := map[string]law.Kind{}, map[string]int{}
	for _, k := range law.Kinds() {
		known[k.ID] = k
	}
	for i := range runs {
		j := &runs[i]
		if j.Run != nil {
			run.Tool.Driver.Version = words.Clean(j.Run.Header.Tool.Version, words.MaxName)
		}
		for n := range j.Verdict.Findings {
			f := &j.Verdict.Findings[n]
			at, ok := index[f.Kind]
			if !ok {
				at = len(run.Tool.Driver.Rules)
				index[f.Kind] = at
				run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, newSarifRule(f, known[f.Kind]))
			}
			run.Results = append(run.Results, newSarifResult(j, f, at))
		}
		if j.Verdict.Outcome == verdict.Inconclusive {
			run.Invocations[0].Successful = false
			for _, d := range j.Verdict.Doubts {
				run.Invocations[0].Notes = append(run.Invocations[0].Notes,
					sarifNotice{"warning", sarifText{words.Clean(string(d.Code)+": "+d.Text, words.MaxText)}})
			}
		}
	}
	data, err := json.MarshalIndent(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, "", "  ")
	if err != nil {
		return err
	}
	b.Write(words.EscapeObscure(data))
	b.WriteByte('\n')
	return nil
}

func newSarifRule(f *verdict.Finding, k law.Kind) sarifRule {
	text := func(own, found string) sarifText {
		if own == "" {
			own = found
		}
		return sarifText{words.Clean(own, words.MaxText)}
	}
	return sarifRule{
		ID: words.Clean(f.Kind, words.MaxName), Name: words.Clean(f.Law+" "+f.Kind, words.MaxName),
		Short: text(k.Title, f.Title), Full: text(k.Why, f.Why), Help: text(k.Fix, f.Fix),
	}
}

func newSarifResult(j *verdict.Judged, f *verdict.Finding, rule int) sarifResult {
	level := "error"
	if !f.IsError() {
		level = "warning"
	}
	play := compare.PlayOf(j)
	return sarifResult{
		RuleID: words.Clean(f.Kind, words.MaxName), RuleIndex: rule, Level: level,
		Message: sarifText{words.CleanLines(f.Title+".\nExpected: "+f.Expected+"\nFound: "+f.Found+"\nWhy: "+f.Why+"\nFix: "+f.Fix, 2*words.MaxText)},
		Locations: []sarifLocation{{
			Physical: sarifPhysical{sarifArtifact{sarifURI(j)}, sarifRegion{1}},
			Logical:  []sarifLogical{{words.Clean(play.Host+"/"+play.Scenario+"/"+f.Label, 3*words.MaxName)}},
		}},
		Prints: map[string]string{"leakbench/v1": words.Clean(f.Fingerprint+":"+play.Scenario+":"+play.Host, 3*words.MaxName)},
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
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' || c == '/':
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
