package formats

import (
	"bytes"
	"fmt"
	"io"

	"github.com/leakbench/leakbench/internal/judge/gate"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// GateGitHub writes annotations for what has to be dealt with, and for nothing
// else: a stale entry at its line of the list. The error is w's.
func GateGitHub(w io.Writer, r *gate.Result, o baseline.GateOptions) error {
	var b bytes.Buffer
	count, dropped := map[string]int{}, 0
	say := func(level, place, title, text string) {
		if count[level]++; count[level] >= githubMost {
			dropped++
			return
		}
		fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", level, place, words.GithubProperty(title), words.GithubText(text))
	}
	for _, f := range r.Failing() {
		place := ""
		if f.Run != nil {
			place = githubFile(f.Run)
		}
		say("error", place, fmt.Sprintf("%s on %s: %s %s %s", f.Scenario, f.Host, f.Fate, f.Law, f.Kind),
			fmt.Sprintf("%s\nexpected: %s\nfound: %s\nwhy: %s\nfix: %s\nlisted as: %s", f.Title, f.Expected, f.Found, f.Why, f.Fix, f.Name()))
	}
	bad := r.Bad()
	for i := range bad {
		e := &bad[i]
		say("error", fmt.Sprintf("file=%s,line=%d,col=%d,", words.GithubProperty(o.Known), e.Line, e.Column), string(e.State)+" known finding "+e.Finding(), e.Text())
	}
	level := "error"
	if r.Measures == gate.MeasuresWarn {
		level = "warning"
	}
	for _, m := range r.Slower() {
		row := baseline.MeasureRow(&m)
		say(level, "", row[0]+" has grown", fmt.Sprintf("before %s, now %s: %s %s", row[1], row[2], row[3], row[4]))
	}
	for _, j := range r.Unsure {
		scenario, host := model.PlayOf(j)
		text := "no reason is known"
		if len(j.Verdict.Doubts) > 0 {
			text = j.Verdict.Doubts[0].Text
		}
		say("warning", githubFile(j), fmt.Sprintf("%s on %s: inconclusive", scenario, host), text)
	}
	for _, m := range r.Missing {
		say("warning", "", "not run", m)
	}
	for _, f := range r.Flakes {
		say("warning", "", baseline.PlayText(f.Play)+": flaky", f.Text)
	}
	if dropped > 0 {
		fmt.Fprintf(&b, "::warning title=leakbench::%s not shown as annotations\n", words.Plural(dropped, "more thing"))
	}
	_, err := w.Write(b.Bytes())
	return err
}
