package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sarifreader "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/baseline/baselinetest"
	"github.com/leakbench/leakbench/report/formats"
	reportmodel "github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/terminal"
)

// realRun is a committed run, judged.
func realRun(t testing.TB, name string) verdict.Judged {
	t.Helper()
	run, err := record.Read("../testdata/runs/" + name + ".jsonl")
	require.NoError(t, err)
	return verdict.NewJudged(run, "testdata/runs/"+name)
}

// watchedRun is a recorded watch of a running host.
func watchedRun(t testing.TB, name string) verdict.Judged {
	t.Helper()
	run, err := record.Read("../internal/judge/attach/testdata/" + name + ".jsonl")
	require.NoError(t, err)
	return verdict.NewJudged(run, "")
}

func allReal(t testing.TB) []verdict.Judged {
	var runs []verdict.Judged
	for _, name := range []string{"storm-naive", "storm-exact", "cron-reap-all", "crash-naive", "torn"} {
		runs = append(runs, realRun(t, name))
	}
	return runs
}

func output(t testing.TB, name string, runs ...verdict.Judged) string {
	t.Helper()
	r, ok := Find(name)
	require.True(t, ok, "there is no reporter %s", name)
	var b bytes.Buffer
	require.NoError(t, r.Write(&b, Subject{Runs: runs}, Options{Exit: formats.Exit{Code: 1, Reason: "3 runs with findings"}}))
	return b.String()
}

// reads says that the reader of a format takes an output for what it is.
var reads = map[string]func(t *testing.T, out string, runs []verdict.Judged){
	"junit": readJUnit, "json": readJSON, "sarif": readSARIF, "bench": readBench, "prom": readProm, "perfetto": readTrace,
	"github": readGitHub, "md": readMarkdown, "conformance": readConformance,
}

func TestOutputsOfRealRuns(t *testing.T) {
	t.Parallel()
	runs := allReal(t)
	for _, name := range ReporterNames() {
		if name == "html" || name == "text" {
			continue // they have their own
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, reads, name, "each output has its reader here")
			out := output(t, name, runs...)
			reads[name](t, out, runs)
			reads[name](t, output(t, name), nil)
			if name == "perfetto" { // long, and a function of what the page shows
				out = output(t, name, realRun(t, "crash-naive"))
			}
			golden(t, "outputs."+name, out)
		})
	}
}

// TestDocumentedOutputs: each output has its row in the documentation.
func TestDocumentedOutputs(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/understand/report.md")
	require.NoError(t, err)
	for _, name := range ReporterNames() {
		assert.Contains(t, string(doc), "| `"+name+"` |", "docs/understand/report.md lacks the row of an output")
	}
}

// TestWhatIsReadBeginsWithTheGravest: a page, a terminal, a summary and the few
// annotations that are shown begin with the same finding, that of the headline.
func TestWhatIsReadBeginsWithTheGravest(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{realRun(t, "storm-naive")}
	first := "10 superseded servers of flaky are still running (after close-stdout)"
	for _, name := range []string{"text", "md", "github", "html"} {
		var out strings.Builder
		r, _ := Find(name)
		require.NoError(t, r.Write(&out, Subject{Runs: runs}, Options{Text: terminal.Options{Width: 200}}))
		for _, other := range []string{"1 superseded server of flaky is still", "10 dead processes of flaky"} {
			assert.Less(t, strings.Index(out.String(), first), strings.Index(out.String(), other), name)
			assert.Contains(t, out.String(), first, name)
		}
	}
}

// TestOutputsOfHostileRuns: whatever a run says, its outputs are still read,
// as the same number of things.
func TestOutputsOfHostileRuns(t *testing.T) {
	t.Parallel()
	for _, field := range append(everyField(), "") {
		runs := poisoned(field)
		for name, read := range reads {
			if name == "sarif" && field != "" {
				continue // its schema takes a while
			}
			out := output(t, name, runs...)
			read(t, out, runs)
			if name == "github" { // commands on purpose, and readGitHub knows each
				out = githubCommand.ReplaceAllString(out, "")
			}
			harmlessText(t, "field "+field+", "+name, out)
		}
	}
}

func readJSON(t *testing.T, out string, runs []verdict.Judged) {
	c := validator.NewCompiler()
	schema, err := c.Compile("../docs/schema/report.schema.json")
	require.NoError(t, err)
	object, err := validator.UnmarshalJSON(strings.NewReader(out))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(object))
	assert.Len(t, object.(map[string]any)["runs"], len(runs))
}

// TestReportSchemaIsFresh holds docs/schema/report.schema.json to the structs.
func TestReportSchemaIsFresh(t *testing.T) {
	t.Parallel()
	s, err := jsonschema.For[formats.Report](&jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[record.Duration](): {Type: "string", Description: "such as 1.5s"},
	}})
	require.NoError(t, err)
	open(s)
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "What leakbench --format json prints"
	data, err := json.MarshalIndent(s, "", "  ")
	require.NoError(t, err)
	const page = "../docs/schema/report.schema.json"
	if *update {
		require.NoError(t, os.WriteFile(page, append(data, '\n'), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.JSONEq(t, string(data), string(got), "stale: go test ./report -run TestReportSchemaIsFresh -update")
}

// open lets an object have more members than are known: later versions do.
func open(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.AdditionalProperties = nil
	for _, p := range s.Properties {
		open(p)
	}
	if n := len(s.Types); n > 0 && s.Types[n-1] != "number" { // lists and objects are never null
		s.Type, s.Types = s.Types[len(s.Types)-1], nil
	}
	open(s.Items)
}

// junitSuites is what readers of JUnit XML know.
type junitSuites struct {
	Failures int `xml:"failures,attr"`
	Errors   int `xml:"errors,attr"`
	Suites   []struct {
		Cases []struct {
			Name       string `xml:"name,attr"`
			Properties []struct {
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Failure *junitProblem `xml:"failure"`
			Error   *junitProblem `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type junitProblem struct {
	Type string `xml:"type,attr"`
}

// traceEvent is an event of the Trace Event Format.
type traceEvent struct {
	Phase    string `json:"ph"`
	TS, Dur  float64
	PID, TID int
	ID       string
}

func readJUnit(t *testing.T, out string, runs []verdict.Judged) {
	var all junitSuites
	require.NoError(t, xml.Unmarshal([]byte(out), &all))
	require.NoError(t, wellFormed(out))
	assert.Len(t, all.Suites, len(reportmodel.ByPlay(runs)))
	failed, undecided := 0, 0
	for _, s := range all.Suites {
		for _, c := range s.Cases {
			if c.Failure != nil {
				failed++
			}
			if c.Error != nil {
				undecided++
				assert.Equal(t, "inconclusive", c.Error.Type)
			}
		}
	}
	assert.Equal(t, all.Failures, failed)
	assert.Equal(t, all.Errors, undecided)
}

func wellFormed(s string) error {
	d := xml.NewDecoder(strings.NewReader(s))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A law that is broken in one of several runs of the same is a failure, and
// says that it is flaky.
func TestJUnitStates(t *testing.T) {
	t.Parallel()
	state := func(out, name string) string {
		var all junitSuites
		require.NoError(t, xml.Unmarshal([]byte(out), &all))
		for _, c := range all.Suites[0].Cases {
			if c.Name == name {
				return c.Properties[0].Value
			}
		}
		return ""
	}
	leak, clean := storm("naive", true, 2), storm("naive", false, 2)
	assert.Equal(t, "broken", state(output(t, "junit", leak), "L1 flat"))
	assert.Equal(t, "kept", state(output(t, "junit", clean), "L1 flat"))
	assert.Equal(t, "flaky", state(output(t, "junit", clean, leak), "L1 flat"))
	assert.Contains(t, output(t, "junit", clean, leak), `type="flaky" message="broken in 1 of 2 runs`)
	assert.Equal(t, "inconclusive", state(output(t, "junit", inconclusive()), "could be decided"))
	assert.Equal(t, "not judged", state(output(t, "junit", clean), "L5 handles flat"))
	for i := range leak.Verdict.Findings {
		leak.Verdict.Findings[i].Severity = record.SeverityWarning
	}
	assert.Equal(t, "warning", state(output(t, "junit", leak), "L1 flat"))
}

func readSARIF(t *testing.T, out string, runs []verdict.Judged) {
	report, err := sarifreader.FromString(out)
	require.NoError(t, err)
	require.NoError(t, report.Validate(), "against the schema of SARIF 2.1.0")
	findings := 0
	for i := range runs {
		findings += len(runs[i].Verdict.Findings)
	}
	require.Len(t, report.Runs, 1)
	assert.Len(t, report.Runs[0].Results, findings)
	for _, r := range report.Runs[0].Results {
		assert.Equal(t, *r.RuleID, *report.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID)
	}
}

func readBench(t *testing.T, out string, runs []verdict.Judged) {
	r := benchfmt.NewReader(strings.NewReader(out), "out")
	n := 0
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			require.NoError(t, rec)
		case *benchfmt.Result:
			found, ok := rec.Value("findings/run")
			assert.True(t, ok)
			assert.InDelta(t, len(runs[n].Verdict.Findings), found, 0)
			n++
		}
	}
	require.NoError(t, r.Err())
	assert.Equal(t, len(runs), n)
	if n > 0 {
		assert.Equal(t, "exact", r.Units().Get("leaked/run", "assume").Value)
	}
}

func readProm(t *testing.T, out string, runs []verdict.Judged) {
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(strings.NewReader(out))
	require.NoError(t, err)
	if len(runs) == 0 {
		return
	}
	assert.Len(t, families["leakbench_run_doubts"].GetMetric(), len(runs))
	seen := map[string]bool{}
	for _, line := range strings.Split(out, "\n") {
		if end := strings.LastIndex(line, "} "); end >= 0 && !strings.HasPrefix(line, "#") {
			assert.False(t, seen[line[:end]], "%s twice", line[:end])
			seen[line[:end]] = true
		}
	}
}

func readTrace(t *testing.T, out string, _ []verdict.Judged) {
	var trace struct{ TraceEvents []traceEvent }
	require.NoError(t, json.Unmarshal([]byte(out), &trace))
	open := map[string]int{}
	last := map[[2]int]float64{}
	for _, e := range trace.TraceEvents {
		switch e.Phase {
		case "b":
			open[e.ID]++
		case "e":
			open[e.ID]--
		case "X": // those of a thread follow each other
			at := [2]int{e.PID, e.TID}
			assert.GreaterOrEqual(t, e.TS+0.002, last[at])
			last[at] = e.TS + e.Dur
		}
	}
	for id, n := range open {
		assert.Zero(t, n, "slice %s", id)
	}
}

var githubCommand = regexp.MustCompile(`(?m)^::(error|warning) `)

var githubLine = regexp.MustCompile(`^::(error|warning) (file=[^:,]+,line=1,)?title=[^:,]*::[^\r\n]+$`)

func readGitHub(t *testing.T, out string, _ []verdict.Judged) {
	for _, line := range strings.Split(strings.TrimSuffix(out, "\n"), "\n") {
		if line != "" {
			assert.Regexp(t, githubLine, line)
		}
	}
}

var (
	markdownTag  = regexp.MustCompile(`</?[^>]*>|<`)
	markdownRest = regexp.MustCompile("(?m)[`\\[\\]]|://|@|^ *(---|===|>|\\d+\\.)")
)

func readMarkdown(t *testing.T, out string, _ []verdict.Judged) {
	for _, tag := range markdownTag.FindAllString(out, -1) {
		assert.Contains(t, []string{"<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"}, tag)
	}
	assert.Empty(t, markdownRest.FindString(out))
}

// Each object that a reporter says it renders is more to it than its runs.
func TestReportersRenderWhatTheySay(t *testing.T) {
	t.Parallel()
	runs := []verdict.Judged{realRun(t, "storm-naive")}
	answer := baselinetest.Against(runs, []verdict.Judged{realRun(t, "storm-exact")}, "")
	answer.Answer = true
	for _, r := range Reporters() {
		render := func(s Subject, o Options) string {
			var b bytes.Buffer
			require.NoError(t, r.Write(&b, s, o), r.Name)
			return b.String()
		}
		plain := render(Subject{Runs: runs}, Options{})
		for object, is := range map[Object]string{
			Gate:       render(Subject{Runs: runs, More: formats.More{Gate: answer.Result}}, Options{Baseline: answer}),
			Comparison: render(Subject{Runs: runs, More: formats.More{Compare: answer.Result.Compared}}, Options{Baseline: answer}),
			Scoreboard: render(Subject{Runs: runs, Board: sampleBoard()}, Options{}),
		} {
			assert.Equal(t, slices.Contains(r.Of, object), is != plain, "%s of a %s", r.Name, object)
		}
	}
}
