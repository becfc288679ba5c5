package formats

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/rows"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/report/words"
)

// conformanceCheck is an entry of checks.json, as modelcontextprotocol/conformance writes it.
type conformanceCheck struct {
	ID           string                 `json:"id"`
	Name         string                 `json:"name"`
	Description  string                 `json:"description"`
	Status       rows.Status            `json:"status"`
	Timestamp    string                 `json:"timestamp"`
	References   []conformanceReference `json:"specReferences,omitempty"`
	Details      map[string]any         `json:"details"`
	ErrorMessage string                 `json:"errorMessage,omitempty"`
}

type conformanceReference struct {
	ID  string `json:"id"`
	URL string `json:"url"`
}

// lawReferences are the places of the specification that laws follow.
var lawReferences = map[string]conformanceReference{
	"L8":  {"MCP-Stdio-Shutdown", "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown"},
	"L9":  {"MCP-Stdio-Shutdown", "https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#shutdown"},
	"L11": {"MCP-Statelessness", "https://modelcontextprotocol.io/specification/2026-07-28/basic/index#statelessness"},
}

// Conformance writes the rows of the specification and the laws of each run in the shape of checks.json.
func Conformance(b *bytes.Buffer, runs []verdict.Judged) error {
	checks := []conformanceCheck{}
	for i := range runs {
		checks = append(checks, rowChecks(&runs[i])...)
		checks = append(checks, lawChecks(&runs[i])...)
	}
	var object bytes.Buffer
	if err := WriteJSON(&object, "checks", checks); err != nil {
		return err
	}
	b.Write(bytes.ReplaceAll(object.Bytes(), []byte("##"), []byte(`#\u0023`))) // "##[" is a command to some CI runners
	return nil
}

func rowChecks(j *verdict.Judged) (all []conformanceCheck) {
	for _, c := range rows.Of(j.Run, j.History) {
		check := newCheck(j, c.T)
		check.ID, check.Name, check.Description, check.Status = c.ID, c.Name, c.Description, c.Status
		check.References = []conformanceReference{{"SEP-2575", c.Spec}}
		check.Details["row"], check.Details["servers"] = c.Row, words.List(c.Servers)
		check.say(c.Message)
		all = append(all, check)
	}
	return all
}

func lawChecks(j *verdict.Judged) (all []conformanceCheck) {
	for _, r := range j.Verdict.Laws {
		l := law.Of(r.Law)
		check := newCheck(j, 0)
		name := strings.ReplaceAll(strings.ToLower(words.Clean(r.Law+" "+r.Name, words.MaxName)), " ", "-")
		check.ID, check.Name, check.Description = "leakbench-"+name, words.Clean(r.Law+" "+r.Name, words.MaxName), l.Says
		if at, known := lawReferences[r.Law]; known {
			check.References = []conformanceReference{at}
		}
		check.Details["expected"], check.Details["found"] = words.Clean(r.Expected, words.MaxText), words.Clean(r.Found, words.MaxText)
		status, message := lawStatus(j, r)
		check.Status = status
		check.say(message)
		all = append(all, check)
	}
	return all
}

// lawStatus is what came of a law, and why: what could not be decided fails where the scenario is about it.
func lawStatus(j *verdict.Judged, r verdict.LawResult) (status rows.Status, message string) {
	switch r.Status {
	case verdict.LawKept:
		return rows.Success, ""
	case verdict.LawBroken:
		status = rows.Warning
		var titles []string
		for i := range j.Verdict.Findings {
			f := &j.Verdict.Findings[i]
			if f.Law != r.Law {
				continue
			}
			titles = append(titles, f.Title)
			if f.IsError() {
				status = rows.Failure
			}
		}
		return status, cmp.Or(strings.Join(titles, "; "), "the law was broken")
	}
	if j.Run != nil && slices.Contains(j.Run.Header.Plan.Laws, r.Law) {
		return rows.Failure, rows.NotTestable + r.Reason
	}
	return rows.Skipped, r.Reason
}

// newCheck is one of a run, made clear so many nanoseconds after its start.
func newCheck(j *verdict.Judged, t int64) conformanceCheck {
	play := compare.PlayOf(j)
	c := conformanceCheck{Details: map[string]any{
		"scenario": words.Clean(play.Scenario, words.MaxName), "host": words.Clean(play.Host, words.MaxName),
		"outcome": words.Clean(string(j.Verdict.Outcome), words.MaxName),
	}}
	if j.Run != nil {
		c.Timestamp = j.Run.Header.Started.Add(time.Duration(t)).UTC().Format("2006-01-02T15:04:05.000Z")
		c.Details["seed"] = j.Run.Header.Seed
	}
	return c
}

// say has a message be the error of a check that is not well, and a detail of one that is.
func (c *conformanceCheck) say(message string) {
	switch message = words.Clean(message, words.MaxText); {
	case message == "":
	case c.Status == rows.Success || c.Status == rows.Skipped:
		c.Details["message"] = message
	default:
		c.ErrorMessage = message
	}
}
