package formats

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// githubMost is how many annotations of a kind GitHub shows of a step.
const githubMost = 10

// annotations are workflow commands. What GitHub would not show is said in the last one.
type annotations struct {
	out     *bytes.Buffer
	count   map[string]int // by level
	dropped int
}

func (a *annotations) say(level, place, title, text string) {
	if a.count[level]++; a.count[level] >= githubMost {
		a.dropped++
		return
	}
	fmt.Fprintf(a.out, "::%s %stitle=%s::%s\n", level, place, githubProperty(title), githubText(text))
}

// finding says what was found, and last by what name.
func (a *annotations) finding(level, title string, j *verdict.Judged, f *verdict.Finding, name string) {
	a.say(level, githubFile(j), title,
		fmt.Sprintf("%s\nexpected: %s\nfound: %s\nwhy: %s\nfix: %s\n%s", f.Title, f.Expected, f.Found, f.Why, f.Fix, name))
}

func (a *annotations) undecided(j *verdict.Judged) {
	a.say("warning", githubFile(j), compare.PlayOf(j).String()+": inconclusive", model.FirstDoubt(j))
}

// end says how many things were dropped.
func (a *annotations) end(what string) {
	if a.dropped > 0 {
		fmt.Fprintf(a.out, "::warning title=leakbench::%s not shown as annotations\n", text.Count(a.dropped, what))
	}
}

// GitHub writes one annotation for each finding, and one for each run that could not be decided.
func GitHub(b *bytes.Buffer, runs []verdict.Judged) {
	a := annotations{out: b, count: map[string]int{}}
	for i := range runs {
		j := &runs[i]
		findings := model.GravestFirst(j.Verdict.Findings)
		for k := range findings {
			f := &findings[k]
			level := "error"
			if !f.IsError() {
				level = "warning"
			}
			a.finding(level, fmt.Sprintf("%s: %s %s", compare.PlayOf(j), f.Law, f.Kind), j, f, "fingerprint: "+f.Fingerprint)
		}
		if j.Verdict.Outcome == verdict.Inconclusive {
			a.undecided(j)
		}
	}
	a.end("more finding")
}

// GateGitHub writes annotations for what has to be dealt with, and for nothing else: a stale entry at its line of the list.
func GateGitHub(b *bytes.Buffer, r *gate.Result, o baseline.GateOptions) {
	a := annotations{out: b, count: map[string]int{}}
	for _, f := range r.Failing() {
		as := "listed as: " + f.Name()
		if f.Expired != nil {
			as = "entry: " + baseline.ExpiredText(&f, o)
		}
		a.finding("error", fmt.Sprintf("%s: %s %s %s", f.Play, f.Decision, f.Law, f.Kind), f.Run, &f.Finding.Finding, as)
	}
	bad := r.Alone()
	for i := range bad {
		e := &bad[i]
		a.say("error", fmt.Sprintf("file=%s,line=%d,col=%d,", githubProperty(o.Known), e.Line, e.Column),
			string(e.State)+" known finding "+e.Finding(), e.Text())
	}
	level := "error"
	if r.Measures == gate.MeasuresWarn {
		level = "warning"
	}
	for _, m := range r.Slower() {
		row := baseline.MeasureRow(&m)
		a.say(level, "", row[0]+" has grown", fmt.Sprintf("before %s, now %s: %s %s", row[1], row[2], row[3], row[4]))
	}
	for _, j := range r.Unsure {
		a.undecided(j)
	}
	for _, m := range r.Missing {
		a.say("warning", "", "not run", m)
	}
	for _, f := range r.Flakes {
		a.say("warning", "", f.String()+": flaky", f.Text)
	}
	a.end("more thing")
}

// githubFile names the scenario's file where it is one of the repository: it has a folder, or the command names it as a file.
func githubFile(j *verdict.Judged) string {
	if j == nil || j.Run == nil {
		return ""
	}
	file := j.Run.Header.Scenario.File
	if !strings.ContainsAny(file, `/\`) && !slices.Contains(j.Run.Header.Command, file) {
		return "" // a built-in one
	}
	return "file=" + githubProperty(path.Clean(strings.ReplaceAll(file, `\`, "/"))) + ",line=1,"
}

var githubEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", "##", `#\#`)

// githubText is the message of a workflow command, as its runner decodes it:
// https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts
func githubText(s string) string { return githubEscapes.Replace(words.CleanLines(s, words.MaxText)) }

func githubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(githubEscapes.Replace(words.Clean(s, 2*words.MaxName)))
}
