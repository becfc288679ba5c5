package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/scenarios"
)

// Found is a finding, whatever server shows it.
type Found struct {
	Print    string          `json:"fingerprint"` // that of the first label
	Law      string          `json:"law"`
	Kind     string          `json:"kind"`
	Severity record.Severity `json:"severity"`
	Title    string          `json:"title"`
	Known    bool            `json:"known"`
	First    int             `json:"first"` // which scenario showed it first, from 1
	Count    int             `json:"count"` // how many did
	After    record.Duration `json:"after"` // when it was found
	// Like says that others of its law and kind were made small before it, and that it was left as it was found.
	Like bool `json:"like,omitempty"`

	small
	File    string   `json:"file"`
	Command []string `json:"command"`
	Dir     string   `json:"dir"` // of a run that shows it
	Page    string   `json:"page"`

	search
}

// small is how small its scenario has become.
type small struct {
	Again  int            `json:"again"` // how often its scenario was played again,
	Stable int            `json:"stable"`
	From   scenarios.Size `json:"from"`
	To     scenarios.Size `json:"to"`
	Tried  int            `json:"tried"` // how many smaller ones were played
	// Next is the command line that goes on where there was no time to make it as small as it can be.
	Next []string `json:"next,omitempty"`
}

// search is what playing it again needs.
type search struct {
	scenario *scenarios.Scenario
	seed     uint64
	sure     bool // its run left no doubt
	done     bool
}

// IsError says that the finding is more than a warning.
func (f *Found) IsError() bool { return f.Severity != record.SeverityWarning }

// same is the seed of each run that is to show it again.
func (f *Found) same(int) uint64 { return f.seed }

// alike says that another one is of the same law and kind.
func (f *Found) alike(o verdict.Finding) bool { return o.Law == f.Law && o.Kind == f.Kind }

func (f *Found) kind() string { return f.Law + " " + f.Kind }

// canonical is the label under which findings are compared.
const canonical = "alpha"

// note notes the findings of a run. news says that one of them was not there before.
func (e *explorer) note(n int, s *scenarios.Scenario, j *verdict.Judged) (prints []string, news bool) {
	for i := range j.Verdict.Findings {
		f := &j.Verdict.Findings[i]
		print := f.PrintOf(canonical)
		if slices.Contains(prints, print) { // two servers show the same
			continue
		}
		prints = append(prints, print)
		known := e.found[print]
		if known == nil {
			news = true
			known = &Found{
				Print: print, Law: f.Law, Kind: f.Kind, Severity: f.Severity, Title: f.Title, First: n + 1, After: e.elapsed(),
				small: small{From: s.Size(), To: s.Size()}, File: s.File, Command: j.Run.Header.Command, Dir: j.Dir, Page: e.page(j),
				Known:  e.prints[print] || e.prints[f.Fingerprint],
				search: search{scenario: s, seed: j.Run.Header.Seed, sure: len(j.Verdict.Doubts) == 0},
			}
			e.found[print] = known
			e.result.Findings = append(e.result.Findings, known)
			if !e.given {
				e.Note("%s %s: %s (scenario %d)\n", f.Law, f.Kind, f.Title, n+1)
			}
		}
		known.Count++
	}
	return prints, news
}

// page writes the report of a run that is kept, and says where it is. That there is none loses nothing but the page.
func (e *explorer) page(j *verdict.Judged) string {
	if j.Dir == "" {
		return ""
	}
	with := *e.Bench
	with.Page = play.Listed
	saved, err := with.Saved(j.Dir)
	if err != nil {
		return ""
	}
	return saved.Page
}

// named is the scenario with a name and a title in words.
func named(s *scenarios.Scenario, f *Found) (*scenarios.Scenario, error) {
	again := *s
	again.Name = strings.ToLower(fmt.Sprintf("%s-%s-%s", f.Law, f.Kind, f.Print))
	again.Title = text.Clip(fmt.Sprintf("%s (%s): %s", f.Kind, f.Law, inWords(s)), 97, "...")
	made, err := scenarios.Parse(s.File, []byte(again.Text()))
	if err != nil {
		return nil, fmt.Errorf("a scenario that was read before can't be read again: %w", err)
	}
	return made, nil
}

// inWords says what happens in a scenario.
func inWords(s *scenarios.Scenario) string {
	var parts []string
	for _, v := range s.Servers {
		for _, fault := range v.Script.Faults {
			parts = append(parts, fmt.Sprintf("%s on %s", fault.Do, fault.On))
		}
	}
	servers := strings.Join(parts, " and ")
	steps := strings.Join(lists.Map(s.Steps, stepWords), ", ")
	if servers == "" {
		return steps
	}
	return steps + "; a server with " + servers
}

func stepWords(s scenarios.Step) string {
	word := string(s.Op)
	switch {
	case s.Op == record.OpBreak:
		return fmt.Sprintf("break (%s)", s.With.Do)
	case s.Op == record.OpParallel:
		lanes := lists.Map(s.Lanes, func(lane []scenarios.Step) string { return strings.Join(lists.Map(lane, stepWords), " and ") })
		return "side by side: " + strings.Join(lanes, " | ")
	case s.Op == record.OpRepeat:
		return fmt.Sprintf("%d times (%s)", s.Count, strings.Join(lists.Map(s.Steps, stepWords), ", "))
	case s.Cancel:
		return "cancelled " + word
	}
	return word
}
