// Package scoreboard is the scoreboard: what each host came to in each scenario. It
// is a function of what was played; it plays nothing itself.
package scoreboard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// Status is a cell in one word.
type Status string

// The statuses. NotApplicable is never a pass: something that the scenario
// needs can't be asked of the host, and the cell says what and why.
const (
	Clean         Status = "clean"
	Leak          Status = "leak"
	Inconclusive  Status = "inconclusive"
	NotApplicable Status = "n.a."
	NotInstalled  Status = "not installed"
)

// Statuses are all of them, in the order in which they are counted.
var Statuses = []Status{Clean, Leak, Inconclusive, NotApplicable, NotInstalled}

// Board is what `leakbench score` found. Its JSON is what -o FILE.json writes.
type Board struct {
	Made      time.Time     `json:"made"`
	Tool      record.Tool   `json:"tool"`
	System    record.System `json:"system"`
	Command   []string      `json:"command"` // what makes it again
	Jobs      int           `json:"jobs"`    // runs side by side
	Scenarios []Scenario    `json:"scenarios"`
	Omitted   []string      `json:"omitted"` // built-in scenarios that were not asked for
	Hosts     []Host        `json:"hosts"`
	Cells     []Cell        `json:"cells"` // one for each scenario and host, scenario by scenario
}

// Scenario is a row.
type Scenario struct {
	Name  string       `json:"name"`
	Title string       `json:"title"`
	Level record.Level `json:"level,omitempty"`
}

// Host is a column.
type Host struct {
	ID      string `json:"id"` // what --host takes
	Name    string `json:"name"`
	Version string `json:"version"` // "" where neither its file nor its hello says it
	About   string `json:"about"`
	Missing string `json:"missing,omitempty"` // why it could not be played at all
	Install string `json:"install,omitempty"` // what brings it, with Missing
}

// Cell is a host in a scenario.
type Cell struct {
	Scenario string          `json:"scenario"`
	Host     string          `json:"host"` // Host.ID
	Status   Status          `json:"status"`
	Errors   []Broken        `json:"errors"`           // laws, in their order
	Warnings []Broken        `json:"warnings"`         // likewise
	Doubts   []record.Doubt  `json:"doubts"`           // of a run that was played
	Reason   string          `json:"reason,omitempty"` // of n.a. and not installed
	Again    bool            `json:"again"`            // it was inconclusive beside others, and this is what it came to alone
	Resumed  bool            `json:"resumed"`          // played by an earlier call
	Took     record.Duration `json:"took"`             // the run, by its own clock
	Seed     uint64          `json:"seed"`
	Command  []string        `json:"command,omitempty"` // what plays it again
	Run      string          `json:"run,omitempty"`     // its folder
	Page     string          `json:"page,omitempty"`    // its report
}

// Broken is a law that was broken, with the findings that say so.
type Broken struct {
	Law      string    `json:"law"`
	Findings []Finding `json:"findings"`
}

// Finding is a finding in short; the run's report has all of it.
type Finding struct {
	Kind        string `json:"kind"`
	Count       int    `json:"count"`
	Title       string `json:"title"`
	Fingerprint string `json:"fingerprint"`
}

// maxBoard is how many bytes of a scoreboard's file are read.
const maxBoard = 64 << 20

// Read reads a scoreboard that was written as JSON. Its strings are whoever's: the renderers take them for that.
func Read(name string, r io.Reader) (*Board, error) {
	var b Board
	d := json.NewDecoder(io.LimitReader(r, maxBoard))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil {
		return nil, fmt.Errorf("%s is not a scoreboard: %w", name, err)
	}
	if len(b.Hosts) == 0 || len(b.Scenarios) == 0 {
		return nil, fmt.Errorf("%s is not a scoreboard: it has no hosts or no scenarios", name)
	}
	return &b, nil
}

// Host is the host of that id, or nil.
func (b *Board) Host(id string) *Host {
	return find(b.Hosts, func(h Host) bool { return h.ID == id })
}

// Cell is the cell of a scenario and a host, or nil.
func (b *Board) Cell(scenario, host string) *Cell {
	return find(b.Cells, func(c Cell) bool { return c.Scenario == scenario && c.Host == host })
}

func find[T any](all []T, is func(T) bool) *T {
	if at := slices.IndexFunc(all, is); at >= 0 {
		return &all[at]
	}
	return nil
}

// Count is how many cells there are of each status, of one host, or of all where host is "".
func (b *Board) Count(host string) map[Status]int {
	n := map[Status]int{}
	for i := range b.Cells {
		if host == "" || b.Cells[i].Host == host {
			n[b.Cells[i].Status]++
		}
	}
	return n
}

// Of is the cell that a judged run makes: its status, laws, doubts and times. Who was played in what, and where that
// is kept, is the caller's to add. notApplicable is what the host's file says can't be asked of it, by op: a run file
// has only what the host says itself.
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
		if why := impatient(j); why != "" {
			c.Status, c.Reason = NotApplicable, why
		}
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

// impatient says that a clean run waited for the host's own time limits, and it has none; else "".
func impatient(j verdict.Judged) (why string) {
	if j.Run == nil || j.Run.Header.Limits.Patience == 0 {
		return ""
	}
	for _, s := range j.History.Steps() {
		switch {
		case s.Patience == 0:
		case !s.Skipped:
			return ""
		default:
			why = s.Error
		}
	}
	return why
}

// gravity orders the statuses of cells: the higher, the worse.
var gravity = map[Status]int{Clean: 1, NotApplicable: 2, Inconclusive: 3, Leak: 4}

// Add takes in another part of the same scenario, played on the same host. It says whether that part is the worse one:
// then the run and the report are its.
func (c *Cell) Add(part Cell) (worse bool) {
	c.Errors, c.Warnings = join(c.Errors, part.Errors), join(c.Warnings, part.Warnings)
	c.Doubts, c.Took = append(c.Doubts, part.Doubts...), c.Took+part.Took
	if worse = gravity[part.Status] > gravity[c.Status]; worse {
		c.Status, c.Reason, c.Run, c.Page, c.Seed, c.Command = part.Status, part.Reason, part.Run, part.Page, part.Seed, part.Command
	}
	return worse
}

// join puts the findings of two parts together, law by law.
func join(a, b []Broken) []Broken {
	for _, more := range b {
		if i := slices.IndexFunc(a, func(x Broken) bool { return x.Law == more.Law }); i >= 0 {
			a[i].Findings = append(a[i].Findings, more.Findings...)
		} else {
			a = append(a, more)
		}
	}
	slices.SortStableFunc(a, func(x, y Broken) int { return cmp.Or(cmp.Compare(len(x.Law), len(y.Law)), cmp.Compare(x.Law, y.Law)) })
	return a
}

// add files a finding under its law. Findings come in the order of the laws.
func add(all []Broken, f verdict.Finding) []Broken {
	if len(all) == 0 || all[len(all)-1].Law != f.Law {
		all = append(all, Broken{Law: f.Law})
	}
	last := &all[len(all)-1]
	last.Findings = append(last.Findings, Finding{Kind: f.Kind, Count: f.Count, Title: f.Title, Fingerprint: f.Fingerprint})
	return all
}

// follows are the codes of doubts that follow from a step that was not played:
// what the step was to bring about did not come about.
var follows = []record.DoubtCode{
	record.DoubtStepSkipped, record.DoubtNotFired, record.DoubtNotLaunched, record.DoubtNoCancel, record.DoubtNotJudged, record.DoubtNotPlayed,
}

// cannot says what an inconclusive run's host can't do, or can't be asked to,
// where that accounts for each of its doubts; else "".
func cannot(j verdict.Judged, notApplicable map[string]string) string {
	noPlace := func(d record.Doubt) bool { return d.Code == record.DoubtNoPlace }
	if i := slices.IndexFunc(j.Verdict.Doubts, noPlace); i >= 0 {
		return "this machine: " + j.Verdict.Doubts[i].Text
	}
	if j.Run == nil || slices.ContainsFunc(j.Verdict.Doubts, func(d record.Doubt) bool { return !slices.Contains(follows, d.Code) }) {
		return ""
	}
	h := j.History
	otherwise := func(s *history.Step) bool { return !s.Skipped || s.Unasked }
	skipped := slices.DeleteFunc(slices.Clone(h.Steps()), otherwise)
	if j.Run.Header.Host.Servers == record.Shared && len(j.Verdict.Doubts) > 0 && len(skipped) == 0 {
		return "it has one server for all of its clients, and this needs more: " + j.Verdict.Doubts[0].Text
	}
	var hello record.Hello
	if said := h.Hello(); said != nil {
		hello = *said
	}
	var reasons []string
	for _, s := range skipped {
		if notApplicable[string(s.Op)] == "" && !lacks(j.Run.Header.Host, hello, s.Op) {
			return ""
		}
		if r := string(s.Op) + ": " + s.Error; !slices.Contains(reasons, r) {
			reasons = append(reasons, r)
		}
	}
	return strings.Join(reasons, "; ")
}

// ofDriver are the ops that a driver offers, or does not.
var ofDriver = []record.Op{
	record.OpOpen, record.OpCall, record.OpList, record.OpCancel, record.OpClose, record.OpForget, record.OpReload, record.OpTick,
	record.OpStop,
}

// lacks says that an op can't be asked of a host, by what it is and by its own words. A step may also be skipped for
// what went before: that is another matter.
func lacks(h record.Host, hello record.Hello, op record.Op) bool {
	switch {
	case h.Kind == record.KindCommand:
		return op != record.OpBreak
	case op == record.OpBreak:
		return h.Servers == record.PerRequest || hello.PerRequest()
	case hello.NotApplicable[string(op)] != "":
		return true
	}
	return slices.Contains(ofDriver, op) && !slices.Contains(hello.Ops, string(op))
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
	return strings.Join(append(words, duration.Text(c.Took)), " ")
}
