// Package model is a judged run as every report shows it: its events folded into
// the lives of servers, hosts, steps and checkpoints.
package model

import (
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// Run is a run as the reports show it.
type Run struct {
	*verdict.Judged
	Ordered    []verdict.Finding // what the page begins with first
	Impact     Impact
	Header     *record.Header
	End        int64     // the last event
	Servers    []*Server // in order of birth
	ByID       map[string]*Server
	Others     []*OtherProcess
	firstBirth map[string]int64 // of a label's session; see SessionRank
}

// Server is a server with what became of it.
type Server struct {
	*history.Server
	verdict.State
	N     int   // 1 is the first born
	Until int64 // its death, or the end of the run
	Left  bool  // the bench had to kill it, or never saw it die
	Cut   bool  // the file ends while it lives: what became of it is not known
}

// New folds a judged run.
func New(j *verdict.Judged) *Run {
	run := j.Run
	if run == nil {
		run = &record.Run{}
	}
	header := run.Played()
	h := j.History
	s := &Run{
		Judged: j, Impact: ImpactOf(&j.Verdict), Header: &header, End: h.Last(),
		ByID: map[string]*Server{}, firstBirth: map[string]int64{},
	}
	found := verdict.StatesOf(h, j.Verdict.Findings)
	for _, srv := range h.Servers() {
		state, named := found[srv.ID]
		if !named {
			state.Overdue = history.Never
		}
		f := &Server{Server: srv, State: state, N: len(s.Servers) + 1, Until: s.End, Cut: srv.Alive() && run.Truncated != ""}
		f.Left = h.Outlasted(srv) && !f.Cut
		switch {
		case srv.Died >= 0:
			f.Until = srv.Died
		case srv.Lost >= 0:
			f.Until = srv.Lost
		}
		s.Servers = append(s.Servers, f)
		s.ByID[srv.ID] = f
		key := srv.Label + "\x00" + srv.Session
		if _, later := s.firstBirth[key]; !later {
			s.firstBirth[key] = srv.Born
		}
	}
	s.readOthers()
	s.Ordered = GravestFirst(j.Verdict.Findings)
	return s
}

// Ended is when something ended: at the end of the run, where it never did.
func (s *Run) Ended(t int64) int64 {
	if t < 0 {
		return s.End
	}
	return t
}

// Outcome says in a few words what became of a server.
func (s *Run) Outcome(f *Server) string {
	switch {
	case f.Left && s.History.HostOf(f.Server).Exited >= 0:
		return "outlived the host"
	case f.Left, f.Cut && f.Overdue >= 0:
		return "still running"
	case f.Harmed:
		return "ended by mistake"
	case f.Unreaped:
		return "left as a zombie"
	case f.Overdue >= 0:
		return duration.Text(f.Until-f.Overdue) + " too long"
	case f.Cut:
		return "running where the file ends"
	case f.Lost >= 0:
		return "lost from sight"
	}
	return ending(f)
}

// ending is how a server ended that went when it was to go.
func ending(f *Server) string {
	switch {
	case f.Bye >= 0:
		return "clean exit"
	case f.Broken >= 0:
		return "its fault: " + string(f.Break().Do)
	case f.Term >= 0:
		return "ended by SIGTERM"
	case f.EOF >= 0:
		return "exited on stdin EOF"
	}
	return "killed"
}
