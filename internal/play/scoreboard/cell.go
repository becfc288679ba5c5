package scoreboard

import (
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// Of is the cell that a judged run makes: its status, laws, doubts and times.
// Who was played in what, and where that is kept, is the caller's to add.
// notApplicable is what the host's file says can't be asked of it, by op: a run
// file has only what the host says itself.
func Of(j verdict.Judged, notApplicable map[string]string) Cell {
	c := Cell{Errors: []Broken{}, Warnings: []Broken{}, Doubts: []record.Doubt{}}
	c.Doubts = append(c.Doubts, j.Verdict.Doubts...)
	for _, f := range j.Verdict.Findings {
		if f.IsError() {
			c.Errors = add(c.Errors, f)
		} else {
			c.Warnings = add(c.Warnings, f)
		}
	}
	if j.Run != nil {
		c.Seed, c.Command = j.Run.Header.Seed, j.Run.Header.Command
		if n := len(j.Run.Events); n > 0 {
			c.Took = record.Duration(j.Run.Events[n-1].T)
		}
	}
	switch j.Verdict.Outcome {
	case verdict.Clean:
		c.Status = Clean
	case verdict.Leak:
		c.Status = Leak
	default:
		c.Status = Inconclusive
		if why := cannot(j, notApplicable); why != "" {
			c.Status, c.Reason = NotApplicable, why
		}
	}
	return c
}

// add files a finding under its law. Findings come in the order of the laws.
func add(all []Broken, f verdict.Finding) []Broken {
	at := slices.IndexFunc(all, func(b Broken) bool { return b.Law == f.Law })
	if at < 0 {
		all = append(all, Broken{Law: f.Law})
		at = len(all) - 1
	}
	all[at].Findings = append(all[at].Findings, Finding{Kind: f.Kind, Count: f.Count, Title: f.Title, Fingerprint: f.Fingerprint})
	return all
}

// follows are the codes of doubts that follow from a step that was not played:
// what the step was to bring about did not come about.
var follows = []record.DoubtCode{record.DoubtStepSkipped, record.DoubtNotFired, record.DoubtNotLaunched, record.DoubtNoCancel}

// cannot says what an inconclusive run's host can't do, or can't be asked to,
// where that accounts for each of its doubts; else "".
func cannot(j verdict.Judged, notApplicable map[string]string) string {
	for _, d := range j.Verdict.Doubts {
		if d.Code == record.DoubtNoPlace {
			return "this machine: " + d.Text
		}
	}
	if j.Run == nil {
		return ""
	}
	if slices.ContainsFunc(j.Verdict.Doubts, func(d record.Doubt) bool { return !slices.Contains(follows, d.Code) }) {
		return ""
	}
	if j.Run.Header.Host.Servers == record.Shared && len(j.Verdict.Doubts) > 0 && !skips(j.Run) {
		return "it has one server for all of its clients, and this needs more: " + j.Verdict.Doubts[0].Text
	}
	var reasons []string
	hello := Hello(j.Run)
	for _, e := range j.Run.Events {
		if e.Kind != record.StepSkipped || e.Step.Unasked {
			continue
		}
		if notApplicable[string(e.Step.Op)] == "" && !lacks(j.Run.Header.Host, hello, e.Step.Op) {
			return ""
		}
		if r := string(e.Step.Op) + ": " + e.Step.Error; !slices.Contains(reasons, r) {
			reasons = append(reasons, r)
		}
	}
	return strings.Join(reasons, "; ")
}

// ofDriver are the ops that a driver offers, or does not.
var ofDriver = []record.Op{record.OpOpen, record.OpCall, record.OpCancel, record.OpClose, record.OpForget, record.OpReload, record.OpTick, record.OpStop}

// lacks says that an op can't be asked of a host, by what it is and by its own
// words. A step may also be skipped for what went before: that is another
// matter.
func lacks(h record.Host, hello record.Hello, op record.Op) bool {
	switch {
	case h.Kind == record.KindCommand:
		return op != record.OpBreak
	case op == record.OpBreak:
		return h.Servers == record.PerRequest
	case hello.NotApplicable[string(op)] != "":
		return true
	}
	return slices.Contains(ofDriver, op) && !slices.Contains(hello.Ops, string(op))
}

// skips says that a step was skipped which was asked for.
func skips(run *record.Run) bool {
	return slices.ContainsFunc(run.Events, func(e record.Event) bool { return e.Kind == record.StepSkipped && !e.Step.Unasked })
}

// Hello is what the host of a run first said of itself.
func Hello(run *record.Run) record.Hello {
	for _, e := range run.Events {
		if e.Kind == record.HostReady && e.Hello != nil {
			return *e.Hello
		}
	}
	return record.Hello{}
}

// String is the cell as one line.
func (c Cell) String() string {
	words := []string{c.Scenario, "on", c.Host + ":", string(c.Status)}
	for _, b := range c.Errors {
		words = append(words, b.Law)
	}
	if c.Again {
		words = append(words, "(played again alone)")
	}
	return strings.Join(append(words, c.Took.D().Round(100*time.Millisecond).String()), " ")
}
