package report

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/leakbench/leakbench/internal/judge/scoreboard"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/formats"
	boards "github.com/leakbench/leakbench/report/scoreboard"
)

func sampleBoard() *scoreboard.Board {
	broken := func(law, kind string) []scoreboard.Broken {
		return []scoreboard.Broken{{Law: law, Findings: []scoreboard.Finding{{Kind: kind, Count: 1, Title: "1 " + kind + " server of app", Fingerprint: "f"}}}}
	}
	cell := func(scenario, host string, s scoreboard.Status) scoreboard.Cell {
		return scoreboard.Cell{Scenario: scenario, Host: host, Status: s, Page: ".leakbench/score/" + host + "/" + scenario + "/run/report.html", Took: record.Duration(time.Second)}
	}
	b := &scoreboard.Board{
		Made: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Tool: record.Tool{Version: "v1.0.0", Go: "go1.26"}, Jobs: 2,
		System: record.System{OS: "linux", Arch: "amd64", Kernel: "6.18", CPUs: 2}, Command: []string{"leakbench", "score"},
		Scenarios: []scoreboard.Scenario{{Name: "storm", Title: "A storm", Level: record.Orderly}, {Name: "cron", Title: "Cron", Level: record.Stubborn}}, Omitted: []string{"hang"},
		Hosts: []scoreboard.Host{
			{ID: "exact", Name: "exact", Version: "1", About: "the one"},
			{ID: "naive", Name: "naive", Version: "1", About: "the other"},
			{ID: "rmcp", Name: "rmcp", Version: "3", Missing: "it is not installed", Install: "leakbench hosts install rmcp"},
		},
		Cells: []scoreboard.Cell{
			cell("storm", "exact", scoreboard.Clean), cell("storm", "naive", scoreboard.Leak), cell("storm", "rmcp", scoreboard.NotInstalled),
			cell("cron", "exact", scoreboard.NotApplicable), cell("cron", "naive", scoreboard.Inconclusive), cell("cron", "rmcp", scoreboard.NotInstalled),
		},
	}
	b.Cells[0].Warnings, b.Cells[1].Errors = broken("L9", "signal-first"), broken("L1", "superseded")
	b.Cells[0].Again = true
	b.Cells[3].Reason = "tick: it has no jobs"
	b.Cells[4].Doubts = []record.Doubt{{Code: "ledger-lost", Text: "the ledger lost one"}}
	b.Cells[2].Page, b.Cells[5].Page = "", ""
	return b
}

func linked(page string) string { return page }

func TestScoreboardMarkdown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	boards.Markdown(&b, sampleBoard(), nil)
	for _, line := range []string{
		"3 hosts in 2 scenarios: 1 clean, 1 leak, 1 inconclusive, 1 n.a., 2 not installed**",
		"| | exact 1 | naive 1 | rmcp 3 |",
		"| <code>storm</code> | clean (L9) ↻ | **L1** | not inst. |",
		"| <code>cron</code> | n.a. | **?** | not inst. |",
		"- <code>cron</code>: n.a.\n  - tick: it has no jobs\n",
		"- <code>cron</code>: inconclusive\n  - unclear: the ledger lost one\n",
		"Not installed: <code>leakbench hosts install rmcp</code>",
		"- Not played: hang\n",
		"\nLevels: orderly 1/1\n", "\nLevels: orderly 0/1, stubborn 0/1\n", // what is not applicable counts on neither side
	} {
		assert.Contains(t, b.String(), line)
	}
	assert.NotContains(t, b.String(), "report.html")
	b.Reset()
	boards.Markdown(&b, sampleBoard(), linked)
	assert.Contains(t, b.String(), "| [**L1**](.leakbench/score/naive/storm/run/report.html) |")
}

func TestScoreboardJSONReadsBack(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	want := sampleBoard()
	want.Hosts[0].Name = "a\x1b[31m\u202eb"
	require.NoError(t, formats.WriteJSON(&b, "scoreboard", want))
	harmlessText(t, "json", b.String())
	var got scoreboard.Board
	require.NoError(t, json.Unmarshal(b.Bytes(), &got))
	assert.Equal(t, want.Hosts, got.Hosts)
	assert.Equal(t, want.Cells[3].Reason, got.Cells[3].Reason)
}

// Whatever a host file or a host wrote stays text, in each form.
func TestScoreboardIsHarmless(t *testing.T) {
	t.Parallel()
	plainBoard := sampleBoard()
	var plainPage bytes.Buffer
	require.NoError(t, boards.HTML(&plainPage, plainBoard, linked))
	hostile := sampleBoard()
	fields(reflect.ValueOf(hostile), "", func(path string, s reflect.Value) {
		if s.String() != "" && path != "Cell.Status" && path != "Cell.Scenario" && path != "Cell.Host" && path != "Scenario.Name" && path != "Host.ID" {
			s.SetString(s.String() + poison)
		}
	})
	for i := range hostile.Cells {
		hostile.Cells[i].Page = plainBoard.Cells[i].Page
	}
	var page, text, markdown bytes.Buffer
	require.NoError(t, boards.HTML(&page, hostile, linked))
	boards.Text(&text, hostile)
	boards.Markdown(&markdown, hostile, linked)
	assert.Contains(t, page.String(), "mark7q")
	assert.Equal(t, elements(t, plainPage.String()), elements(t, page.String()), "the poison has made or unmade elements")
	assert.NotContains(t, page.String(), "<script")
	harmlessText(t, "text", text.String())
	harmlessText(t, "markdown", markdown.String())
	assert.NotContains(t, markdown.String(), "<script")
	for _, r := range page.String() {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			require.Fail(t, "a raw control character", "%U", r)
		}
	}
}

func TestScoreboardLinksNothingElse(t *testing.T) {
	t.Parallel()
	for _, href := range []string{"javascript:alert(1)", "//elsewhere/\x1b", "a b", "a)[x](y", "https://x"} {
		b := sampleBoard()
		b.Cells[1].Page = href
		var page, markdown bytes.Buffer
		require.NoError(t, boards.HTML(&page, b, linked))
		boards.Markdown(&markdown, b, linked)
		assert.NotContains(t, page.String(), href)
		assert.NotContains(t, markdown.String(), href)
	}
}

// elements are the names of a page's elements, in order, with those of their
// attributes.
func elements(t *testing.T, page string) []string {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	var all []string
	walk(doc, func(n *html.Node) {
		if n.Type != html.ElementNode {
			return
		}
		name := n.Data
		for _, a := range n.Attr {
			name += " " + a.Key
		}
		all = append(all, name)
	})
	return all
}
