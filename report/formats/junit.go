package formats

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// The elements that every reader of JUnit XML knows. Each case says its state in a property besides: a failure of
// type "flaky" was broken in some of the repeats only, an error of type "inconclusive" could not be decided.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitSum
	Suites []junitSuite `xml:"testsuite"`
}

type junitSum struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
}

type junitSuite struct {
	junitSum
	Timestamp  string          `xml:"timestamp,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	Time       string          `xml:"time,attr"`
	Properties []junitProperty `xml:"properties>property"`
	Failure    *junitProblem   `xml:"failure"`
	Error      *junitProblem   `xml:"error"`
	Skipped    *junitProblem   `xml:"skipped"`
	Out        string          `xml:"system-out,omitempty"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes a suite for each play and a case for each law.
func JUnit(b *bytes.Buffer, runs []verdict.Judged) error {
	all := junitSuites{junitSum: junitSum{Name: "leakbench"}}
	var took int64
	for _, g := range model.ByPlay(runs) {
		s := newSuite(g)
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		took += playLasted(g)
		all.Suites = append(all.Suites, s)
	}
	all.Time = junitTime(took)
	b.WriteString(xml.Header)
	data, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	b.Write(bytes.ReplaceAll(data, []byte("##"), []byte("#&#35;"))) // "##[" is a command to some CI runners
	b.WriteByte('\n')
	return nil
}

func playLasted(g *model.Repeats) (ns int64) {
	for _, j := range g.Runs {
		ns += model.Lasted(&j)
	}
	return ns
}

func junitTime(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

func newSuite(g *model.Repeats) junitSuite {
	s := junitSuite{junitSum: junitSum{Name: words.Clean(g.String(), 2*words.MaxName), Time: junitTime(playLasted(g))}}
	if run := g.Runs[0].Run; run != nil {
		if !run.Header.Started.IsZero() {
			s.Timestamp = run.Header.Started.UTC().Format("2006-01-02T15:04:05")
		}
		s.Properties = []junitProperty{
			{"seed", strconv.FormatUint(run.Header.Seed, 10)},
			{"again", words.Clean(words.Shell(run.Header.Command), words.MaxText)},
			{"runs", strconv.Itoa(len(g.Runs))},
		}
	}
	class := "leakbench." + junitName(g.Host) + "." + junitName(g.What())
	s.Cases = append(s.Cases, decided(g, class))
	for _, id := range lawIDs(g) {
		s.Cases = append(s.Cases, lawOver(g, id).junit(class, len(g.Runs)))
	}
	for i := range s.Cases {
		s.Tests++
		switch c := &s.Cases[i]; {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// junitName keeps a name from adding a level to a class name.
func junitName(s string) string { return strings.ReplaceAll(words.Clean(s, words.MaxName), ".", "_") }

// decided is the case that fails where a run could not be decided.
func decided(g *model.Repeats, class string) junitCase {
	c := junitCase{Name: "could be decided", Class: class, Time: junitTime(playLasted(g)), Properties: junitState("decided")}
	var told strings.Builder
	n, open, first := 0, 0, ""
	for _, j := range g.Runs {
		if j.Verdict.Outcome == verdict.Inconclusive {
			open++
		}
		for _, d := range j.Verdict.Doubts {
			if first == "" {
				first = d.Text
			}
			if n++; n <= model.DoubtsOf {
				fmt.Fprintf(&told, "%s: %s\n", words.Clean(string(d.Code), words.MaxName), words.Clean(d.Text, words.MaxText))
			}
		}
	}
	if open == 0 {
		c.Out = told.String()
		return c
	}
	c.Properties = junitState("inconclusive")
	message := fmt.Sprintf("%d of %s could not be decided: %s", open, text.Count(len(g.Runs), "run"), first)
	c.Error = &junitProblem{Type: "inconclusive", Message: words.Clean(message, words.MaxText), Text: told.String()}
	return c
}

func junitState(state string) []junitProperty { return []junitProperty{{"state", state}} }

func (s lawState) junit(class string, runs int) junitCase {
	c := junitCase{Name: words.Clean(s.id+" "+s.name, words.MaxName), Class: class, Time: "0.000", Properties: junitState(s.state)}
	told := words.CleanLines(s.told(), 4*words.MaxText)
	message := words.Clean(s.result.Found, words.MaxText)
	if len(s.findings) > 0 {
		message = words.Clean(model.Gravest(s.findings).Title, words.MaxText)
	}
	switch s.state {
	case stateBroken:
		c.Failure = &junitProblem{Type: words.Clean(kindsOf(s.findings), words.MaxName), Message: message, Text: told}
	case stateFlaky:
		c.Failure = &junitProblem{
			Type:    stateFlaky,
			Message: fmt.Sprintf("broken in %d of %s: %s", s.broken, text.Count(runs, "run"), message), Text: told,
		}
	case stateNotJudged:
		c.Skipped = &junitProblem{Message: words.Clean(s.result.Reason, words.MaxText)}
	case stateWarning:
		c.Out = "warning: " + message + "\n" + told
	}
	return c
}

// kindsOf are the kinds of findings, each once.
func kindsOf(findings []verdict.Finding) string {
	var out []string
	for _, f := range findings {
		if !slices.Contains(out, f.Kind) {
			out = append(out, f.Kind)
		}
	}
	return strings.Join(out, " ")
}

// lawIDs are the laws that the runs were judged by, in the order of the first.
func lawIDs(g *model.Repeats) []string {
	var ids []string
	for _, j := range g.Runs {
		for _, l := range j.Verdict.Laws {
			if !slices.Contains(ids, l.Law) {
				ids = append(ids, l.Law)
			}
		}
	}
	return ids
}

// The states of a law over the repeats of a play. A law that some runs break
// and others keep is flaky: seen, so no pass, but not in each run.
const (
	stateKept      = "kept"
	stateBroken    = "broken"
	stateFlaky     = "flaky"
	stateWarning   = "warning" // broken, and the scenario says that this is no error
	stateNotJudged = "not judged"
)

// lawState is a law over all repeats of a play.
type lawState struct {
	id, name, state string
	broken, judged  int
	result          verdict.LawResult // of a run that shows the state
	findings        []verdict.Finding
}

func lawOver(g *model.Repeats, id string) lawState {
	s := lawState{id: id}
	errors := 0
	for _, j := range g.Runs {
		for _, l := range j.Verdict.Laws {
			if l.Law == id {
				s.take(l)
			}
		}
		for _, f := range j.Verdict.Findings {
			if f.Law == id {
				s.findings = append(s.findings, f)
				if f.IsError() {
					errors++
				}
			}
		}
	}
	s.state = s.stateWith(errors)
	return s
}

// take takes in how the law fared in one run. A breach is shown before what was kept, and that before what was not judged.
func (s *lawState) take(l verdict.LawResult) {
	if s.name == "" || l.Status == verdict.LawBroken || l.Status == verdict.LawKept && s.result.Status == verdict.LawNotJudged {
		s.name, s.result = l.Name, l
	}
	if l.Status != verdict.LawNotJudged {
		s.judged++
	}
	if l.Status == verdict.LawBroken {
		s.broken++
	}
}

func (s *lawState) stateWith(errors int) string {
	switch {
	case s.broken > 0 && errors == 0:
		return stateWarning
	case s.broken > 0 && s.broken < s.judged:
		return stateFlaky
	case s.broken > 0:
		return stateBroken
	case s.judged > 0:
		return stateKept
	}
	return stateNotJudged
}

// told is what the findings of a law say, each in a few lines.
func (s *lawState) told() string {
	text := ""
	for _, f := range s.findings {
		text += fmt.Sprintf("%s (%s, ×%d, fingerprint %s)\nexpected: %s\nfound:    %s\n", f.Title, f.Kind, f.Count, f.Fingerprint,
			f.Expected, f.Found)
		for _, v := range words.Some(f.Values, model.ValuesShown) {
			text += "  " + v + "\n"
		}
		text += "why: " + f.Why + "\nfix: " + f.Fix + "\n"
	}
	return text
}
