package page

import (
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// processTable has the processes of a finding, each with what was seen of it.
type processTable struct {
	First, Rest processRows
	All         string `max:"300"` // what holds of all of them, said once
}

type processRows struct {
	Rows     []processRow
	Sessions bool // some have one
	Seen     bool // of some, something was seen that does not hold of all
}

type processRow struct {
	Name    string `max:"80"`
	Row     string // the id of its row in the list of servers, or ""
	PID     string `max:"12"`
	Session string `max:"80"`
	Seen    string `max:"300"`

	clauses []string
}

// newProcessTable makes a table of the values that are about a process, and of the servers without one. It returns the other values.
func newProcessTable(s *model.Run, f *verdict.Finding, servers, values []string, prefix string) (t processTable, others []string) {
	var rows []processRow
	for i, v := range values {
		if i >= len(f.Rows) || f.Rows[i] == nil {
			others = append(others, v)
			continue
		}
		row := f.Rows[i]
		rows = append(rows, processRow{Name: row.Name, PID: strconv.Itoa(row.PID), Session: row.Session, clauses: slices.Clone(row.Seen)})
	}
	for _, name := range servers {
		if !slices.ContainsFunc(rows, func(r processRow) bool { return r.Name == name }) {
			rows = append(rows, processRow{Name: name})
		}
	}
	common := commonClauses(rows)
	t.All = strings.Join(common, ", ")
	for i := range rows {
		r := &rows[i]
		if srv := s.ByID[r.Name]; srv != nil && slices.Contains(f.Servers, r.Name) {
			r.Row = anchor(prefix, srv)
		}
		r.Seen = strings.Join(slices.DeleteFunc(r.clauses, func(c string) bool { return slices.Contains(common, c) }), ", ")
		t.First.Sessions, t.First.Seen = t.First.Sessions || r.Session != "", t.First.Seen || r.Seen != ""
	}
	shown, _ := words.FirstOf(rows, model.ValuesShown)
	t.Rest = t.First
	t.First.Rows, t.Rest.Rows = shown, rows[len(shown):]
	return t, others
}

// commonClauses are what is said of each of several processes in the same words.
func commonClauses(rows []processRow) []string {
	if len(rows) < 2 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rows[0].clauses), func(c string) bool {
		return slices.ContainsFunc(rows, func(r processRow) bool { return !slices.Contains(r.clauses, c) })
	})
}
