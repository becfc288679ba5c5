package formats

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// githubMost is how many annotations of a kind GitHub shows of a step.
const githubMost = 10

// GitHub writes one annotation for each finding, and one for each run that
// could not be decided. What GitHub would not show is said in the last one.
func GitHub(b *bytes.Buffer, runs []verdict.Judged) error {
	count, dropped := map[string]int{}, 0
	say := func(level string, j *verdict.Judged, title, text string) {
		if count[level]++; count[level] >= githubMost {
			dropped++
			return
		}
		fmt.Fprintf(b, "::%s %stitle=%s::%s\n", level, githubFile(j), words.GithubProperty(title), words.GithubText(text))
	}
	for i := range runs {
		j := &runs[i]
		scenario, host := model.PlayOf(j)
		findings := model.GravestFirst(j.Verdict.Findings)
		for k := range findings {
			f := &findings[k]
			level := "error"
			if !f.IsError() {
				level = "warning"
			}
			say(level, j, fmt.Sprintf("%s on %s: %s %s", scenario, host, f.Law, f.Kind),
				fmt.Sprintf("%s\nexpected: %s\nfound: %s\nwhy: %s\nfix: %s\nfingerprint: %s", f.Title, f.Expected, f.Found, f.Why, f.Fix, f.Fingerprint))
		}
		if j.Verdict.Outcome == verdict.Inconclusive {
			text := "no reason is known"
			if len(j.Verdict.Doubts) > 0 {
				text = j.Verdict.Doubts[0].Text
			}
			say("warning", j, fmt.Sprintf("%s on %s: inconclusive", scenario, host), text)
		}
	}
	if dropped > 0 {
		fmt.Fprintf(b, "::warning title=leakbench::%s not shown as annotations\n", words.Plural(dropped, "more finding"))
	}
	return nil
}

// githubFile names the scenario's file where it is one of the repository: it has
// a folder, or the command names it as a file.
func githubFile(j *verdict.Judged) string {
	if j.Run == nil {
		return ""
	}
	file := j.Run.Header.Scenario.File
	if !strings.ContainsAny(file, `/\`) && !slices.Contains(j.Run.Header.Command, file) {
		return "" // a built-in one
	}
	return "file=" + words.GithubProperty(path.Clean(strings.ReplaceAll(file, `\`, "/"))) + ",line=1,"
}
