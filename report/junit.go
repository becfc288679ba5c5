package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
)

// The elements that every reader of JUnit XML knows. Each case says its state
// in a property besides: a failure of type "flaky" was broken in some of the
// repeats only, an error of type "inconclusive" could not be decided.
type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr"`
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

func junit(b *bytes.Buffer, runs []verdict.Judged) error {
	all := junitSuites{Name: "leakbench"}
	var took int64
	for _, g := range byPlay(runs) {
		s := g.suite()
		all.Tests, all.Failures, all.Errors, all.Skipped = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
		took += g.lasted()
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

func (g *repeats) lasted() (ns int64) {
	for _, j := range g.runs {
		ns += lasted(j)
	}
	return ns
}

func junitTime(ns int64) string { return strconv.FormatFloat(float64(ns)/1e9, 'f', 3, 64) }

func (g *repeats) suite() junitSuite {
	s := junitSuite{Name: clean(g.scenario+" on "+g.host, 2*maxName), Time: junitTime(g.lasted())}
	if run := g.runs[0].Run; run != nil {
		if !run.Header.Started.IsZero() {
			s.Timestamp = run.Header.Started.UTC().Format("2006-01-02T15:04:05")
		}
		s.Properties = []junitProperty{
			{"seed", strconv.FormatUint(run.Header.Seed, 10)},
			{"again", clean(shell(run.Header.Command), maxText)},
			{"runs", strconv.Itoa(len(g.runs))},
		}
	}
	class := "leakbench." + junitName(g.host) + "." + junitName(g.scenario)
	s.Cases = append(s.Cases, g.decided(class))
	for _, id := range g.lawIDs() {
		s.Cases = append(s.Cases, g.law(id).junit(class, len(g.runs)))
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
func junitName(s string) string { return strings.ReplaceAll(clean(s, maxName), ".", "_") }

// decided is the case that fails where a run could not be decided.
func (g *repeats) decided(class string) junitCase {
	c := junitCase{Name: "could be decided", Class: class, Time: junitTime(g.lasted()), Properties: junitState("decided")}
	var text strings.Builder
	n, first := 0, ""
	for _, j := range g.runs {
		for _, d := range j.Verdict.Doubts {
			if first == "" {
				first = d.Text
			}
			if n++; n <= doubtsOf {
				fmt.Fprintf(&text, "%s: %s\n", clean(d.Code, maxName), clean(d.Text, maxText))
			}
		}
	}
	switch {
	case g.inconclusive() > 0:
		c.Properties = junitState("inconclusive")
		c.Error = &junitProblem{Type: "inconclusive", Message: clean(fmt.Sprintf("%d of %s could not be decided: %s", g.inconclusive(), plural(len(g.runs), "run"), first), maxText), Text: text.String()}
	default:
		c.Out = text.String()
	}
	return c
}

func (g *repeats) inconclusive() (n int) {
	for _, j := range g.runs {
		if j.Verdict.Outcome == verdict.Inconclusive {
			n++
		}
	}
	return n
}

func junitState(state string) []junitProperty { return []junitProperty{{"state", state}} }

func (s lawState) junit(class string, runs int) junitCase {
	c := junitCase{Name: clean(s.id+" "+s.name, maxName), Class: class, Time: "0.000", Properties: junitState(s.state)}
	text := cleanLines(s.told(), 4*maxText)
	message := clean(s.result.Found, maxText)
	if len(s.findings) > 0 {
		message = clean(gravestOf(s.findings).Title, maxText)
	}
	switch s.state {
	case stateBroken:
		c.Failure = &junitProblem{Type: clean(kindsOf(s.findings), maxName), Message: message, Text: text}
	case stateFlaky:
		c.Failure = &junitProblem{Type: stateFlaky, Message: fmt.Sprintf("broken in %d of %s: %s", s.broken, plural(runs, "run"), message), Text: text}
	case stateNotJudged:
		c.Skipped = &junitProblem{Message: clean(s.result.Reason, maxText)}
	case stateWarning:
		c.Out = "warning: " + message + "\n" + text
	}
	return c
}

func gravestOf(findings []*verdict.Finding) *verdict.Finding {
	list := make([]verdict.Finding, len(findings))
	for i, f := range findings {
		list[i] = *f
	}
	return gravest(list)
}

// kindsOf are the kinds of findings, each once.
func kindsOf(findings []*verdict.Finding) string {
	var out []string
	seen := map[string]bool{}
	for _, f := range findings {
		if !seen[f.Kind] {
			seen[f.Kind] = true
			out = append(out, f.Kind)
		}
	}
	return strings.Join(out, " ")
}
