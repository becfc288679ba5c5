package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/baseline"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

const (
	valuesOf     = 200
	evidenceOpen = 6
	evidenceOf   = 60
	serversOf    = 60
	unseenOf     = 8
)

type findingView struct {
	verdict.Finding `max:"Kind=80 Label=80 Fingerprint=80 Values=300 Reports=120 Checkpoint=80"`

	ID         string
	About      string // where its kind is explained
	Class      string
	Status     *baseline.Status // nil where there is no baseline
	MoreValues []string         `max:"300"`
	Processes  processTable
	Traces     []traceView
	Timeline   string
	Index      int // among the findings of the run
	Open       bool
	Evidence   []evidenceRow
	MoreProof  []evidenceRow
	Proven     string
	Unseen     []string `max:"200"`
	Left       string
}

type evidenceRow struct {
	Name    string `max:"80"`
	PID     int
	Parent  string `max:"80"`
	State   string `max:"40"`
	Waits   string `max:"80"`
	FDs     [3]string
	Signals []string `max:"200"`
	RSS     string
	Handles string
	Age     string
	Args    string `max:"300"`
}

func newFinding(s *model.Run, f *verdict.Finding, id, prefix string) *findingView {
	v := &findingView{Finding: plain(f), ID: id, About: model.AboutKind(f.Kind), Class: "bad"}
	v.Reports = slices.Clone(f.Reports)
	if !f.IsError() {
		v.Class = "warn"
	}
	values, cut := words.FirstOf(f.Values, valuesOf)
	servers, cutServers := words.FirstOf(f.Servers, serversOf)
	v.Processes, values = newProcessTable(s, f, servers, values, prefix)
	shown, _ := words.FirstOf(values, model.ValuesShown)
	v.Values, v.MoreValues = slices.Clone(shown), slices.Clone(values[len(shown):])
	v.Traces = traces(s, f)
	proof, cutProof := words.FirstOf(f.Evidence, evidenceOf)
	for i := range proof {
		row := newEvidenceRow(s, &proof[i])
		if i < evidenceOpen {
			v.Evidence = append(v.Evidence, row)
		} else {
			v.MoreProof = append(v.MoreProof, row)
		}
	}
	v.Timeline = prefix + "timeline"
	v.Proven = text.Count(len(f.Evidence), "process")
	v.Unseen = unseen(f.Evidence)
	v.Left = leftOut(cut, cutServers, cutProof)
	return v
}

// plain is a finding without its lists, which a view would scrub for all.
func plain(f *verdict.Finding) verdict.Finding {
	one := *f
	one.Values, one.Reports, one.Servers, one.Evidence, one.At = nil, nil, nil, nil, nil
	return one
}

// unseen is what could not be read of the processes, each reason once.
func unseen(evidence []record.Evidence) []string {
	count := map[string]int{}
	var reasons []string
	for i := range evidence {
		for _, reason := range evidence[i].Unseen {
			if count[reason]++; count[reason] == 1 {
				reasons = append(reasons, reason)
			}
		}
	}
	head, _ := words.FirstOf(reasons, unseenOf)
	lines := make([]string, len(head))
	for i, reason := range head {
		lines[i] = fmt.Sprintf("%s: %s", text.Count(count[reason], "process"), reason)
	}
	return lines
}

func leftOut(values, servers, processes int) string {
	what := words.Counted(words.Things{N: values, Noun: "value"}, words.Things{N: servers, Noun: "server"},
		words.Things{N: processes, Noun: "process"})
	return known(what != "", "Not shown: "+what+"; the run file has them all.")
}

func processName(e *record.Evidence) string {
	return fmt.Sprintf("%s, pid %d", cmp.Or(e.Server, e.Comm), e.PID)
}

func newEvidenceRow(s *model.Run, e *record.Evidence) evidenceRow {
	row := evidenceRow{
		Name: cmp.Or(e.Server, e.Comm), PID: e.PID, State: stateName(e.State), Waits: e.Wchan,
		RSS: words.Size(e.RSS), Age: duration.Text(e.Age), Args: words.Shell(e.Args), Parent: parent(s, e),
	}
	if e.Syscall != "" {
		row.Waits = words.Join(e.Syscall, known(e.Wchan != "" && e.Wchan != "0", "("+e.Wchan+")"))
	}
	if e.FDs >= 0 {
		row.Handles = fmt.Sprint(e.FDs)
	}
	for i := range e.Descriptors {
		if d := &e.Descriptors[i]; d.FD >= 0 && d.FD < len(row.FDs) {
			row.FDs[d.FD] = words.Clean(strings.TrimPrefix(model.HeldBy(d), "held by "), 300)
		}
	}
	for _, g := range []struct {
		verb  string
		names []string
	}{{"pending", e.SigPending}, {"ignores", e.SigIgnored}, {"catches", e.SigCaught}} {
		if len(g.names) > 0 {
			row.Signals = append(row.Signals, g.verb+" "+shortSignals(g.names))
		}
	}
	if e.Job != "" {
		row.Signals = append(row.Signals, "in "+words.Clean(e.Job, words.MaxText/4))
	}
	return row
}

func parent(s *model.Run, e *record.Evidence) string {
	switch {
	case s.History.IsHost(e.PPID):
		return fmt.Sprintf("%s %d", s.Header.Host.Kind.Subject(), e.PPID)
	case e.PPID == 1:
		return "init"
	case e.Parent != "":
		return words.Clean(e.Parent, words.MaxText/4)
	}
	return fmt.Sprint(e.PPID)
}

func shortSignals(names []string) string {
	short := words.Some(names, 8)
	for i, n := range short {
		short[i] = strings.TrimPrefix(n, "SIG")
	}
	return strings.Join(short, " ")
}

var stateNames = map[record.State]string{
	record.StateRunning: "R running", record.StateSleeping: "S sleeping", record.StateBlocked: "D uninterruptible",
	record.StateZombie: "Z zombie", record.StateStopped: "T stopped", record.StateTraced: "t traced", record.StateIdle: "I idle",
}

func stateName(s record.State) string {
	return cmp.Or(stateNames[s], string(s))
}

// linkServers drops the links to servers that are not listed.
func (r *runView) linkServers() {
	drawn := map[string]bool{}
	for _, row := range r.Timeline.Servers {
		drawn[row.ID] = true
	}
	for _, f := range r.Findings {
		for _, rows := range [][]processRow{f.Processes.First.Rows, f.Processes.Rest.Rows} {
			for i := range rows {
				if !drawn[rows[i].Row] {
					rows[i].Row = ""
				}
			}
		}
	}
}
