// Package model is a judged run as every report shows it: its events folded into
// the lives of servers, hosts, steps and checkpoints.
package model

import (
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/words"
)

// never is a moment that did not come.
const Never = int64(-1)

// story is a run as the reports tell it: the events folded into spans.
type Run struct {
	*verdict.Judged
	Ordered     []verdict.Finding // what the page begins with first
	Header      *record.Header
	Lives       *history.History
	End         int64   // the last event
	Hosts       []*Host // the lives of the host
	Hello       *record.Hello
	HostExit    *record.Exit // of the latest life
	HostGone    int64        // likewise; never: it lived to the end of the run
	Steps       []*Step
	Checkpoints []*Checkpoint
	Samples     []sample
	Servers     []*Server // in order of birth
	ByID        map[string]*Server
	Others      []*OtherProcess
	firstBirth  map[string]int64 // of a label's session; see sessionRank
	bySession   map[string][]*history.Server
	changes     map[string][]history.SessionChange // by the session's name
}

type Step struct {
	record.Step
	From, To int64
	Skipped  bool
	open     bool // it never ended
}

type Checkpoint struct {
	record.Checkpoint
	From, To int64
}

// sample is what a census says of the host and of zombies.
type sample struct {
	T       int64
	Host    *record.Process
	Zombies int
	Rss     int64 // of all below the host, in bytes
	Fds     int   // likewise, of those that could be seen
}

// fate is a server with what became of it.
type Server struct {
	*history.Server
	N       int   // 1 is the first born
	Overdue int64 // since when it should have been gone; never: it should not
	Until   int64 // its death, or the end of the run
	Left    bool  // the bench had to kill it, or never saw it die
	Wronged bool  // it was ended by mistake
	Zombie  bool  // it died, but its parent did not wait for it in time
}

func New(j *verdict.Judged) *Run {
	run := j.Run
	if run == nil {
		run = &record.Run{}
	}
	header := run.Played()
	s := &Run{
		Judged: j, Header: &header, Lives: history.Of(run), HostGone: Never, ByID: map[string]*Server{},
		bySession: map[string][]*history.Server{}, changes: map[string][]history.SessionChange{},
	}
	swept := map[record.Identity]bool{}
	open := map[int]*Step{}
	for i := range run.Events {
		e := &run.Events[i]
		s.End = max(s.End, e.T)
		s.readHost(e)
		s.readStep(e, open)
		s.readCheckpoint(e)
		if e.Kind == record.Swept && e.Census != nil {
			for _, p := range e.Census.Processes {
				swept[p.Identity] = true
			}
		}
	}
	for _, st := range open {
		st.To = s.End
	}
	for _, c := range s.Checkpoints {
		if c.To < c.From {
			c.To = s.End
		}
	}
	s.readServers(swept)
	s.readOthers(run)
	s.Ordered = GravestFirst(j.Verdict.Findings)
	return s
}

func (s *Run) readHost(e *record.Event) {
	switch {
	case e.Kind == record.HostStarted && e.Process != nil:
		s.Hosts = append(s.Hosts, &Host{PID: e.Process.PID, From: e.T, To: Never})
		s.HostExit, s.HostGone = nil, Never
	case e.Kind == record.HostReady && e.Hello != nil:
		s.Hello = e.Hello
	case e.Kind == record.HostExited:
		s.HostExit, s.HostGone = e.Exit, e.T
		if n := len(s.Hosts); n > 0 {
			s.Hosts[n-1].To, s.Hosts[n-1].Exit = e.T, e.Exit
		}
	case e.Kind == record.CensusTaken && e.Census != nil:
		one := sample{T: e.T, Host: e.Census.Host}
		for _, p := range e.Census.Processes {
			if p.State == record.StateZombie {
				one.Zombies++
			}
			if e.Census.Host == nil || p.Identity != e.Census.Host.Identity {
				one.Rss += p.RSS
				one.Fds += max(p.FDs, 0)
			}
		}
		s.Samples = append(s.Samples, one)
	}
}

func (s *Run) readStep(e *record.Event, open map[int]*Step) {
	if e.Step == nil {
		return
	}
	switch e.Kind {
	case record.StepBegun:
		span := &Step{Step: *e.Step, From: e.T, To: e.T, open: true}
		open[e.Step.N] = span
		s.Steps = append(s.Steps, span)
	case record.StepEnded, record.StepSkipped:
		span := open[e.Step.N]
		if span == nil {
			span = &Step{From: e.T}
			s.Steps = append(s.Steps, span)
		}
		span.Step, span.To, span.Skipped, span.open = *e.Step, e.T, e.Kind == record.StepSkipped, false
		delete(open, e.Step.N)
	}
}

func (s *Run) readCheckpoint(e *record.Event) {
	if e.Checkpoint == nil {
		return
	}
	switch e.Kind {
	case record.CheckpointBegun:
		s.Checkpoints = append(s.Checkpoints, &Checkpoint{Checkpoint: *e.Checkpoint, From: e.T, To: Never})
	case record.CheckpointEnded:
		for _, c := range slices.Backward(s.Checkpoints) {
			if c.Name == e.Checkpoint.Name && c.To == Never {
				c.Checkpoint, c.To = *e.Checkpoint, e.T
				return
			}
		}
	}
}

func (s *Run) readServers(swept map[record.Identity]bool) {
	for _, srv := range s.Lives.Servers() {
		key := sessionKey(srv.Label, srv.Session)
		s.bySession[key] = append(s.bySession[key], srv)
	}
	for _, session := range s.Lives.Sessions() {
		s.changes[session.Name] = append(s.changes[session.Name], session.Changes...)
	}
	for _, srv := range s.Lives.Servers() {
		f := &Server{Server: srv, N: len(s.Servers) + 1, Overdue: Never, Until: s.End}
		switch {
		case srv.Died >= 0:
			f.Until = srv.Died
		case srv.Lost >= 0:
			f.Until = srv.Lost
		}
		f.Left = srv.Alive() || swept[srv.Birth.Identity]
		s.Servers = append(s.Servers, f)
		s.ByID[srv.ID] = f
	}
	for i := range s.Verdict.Findings {
		f := &s.Verdict.Findings[i]
		shows := law.Of(f.Law).Shows
		for _, id := range f.Servers {
			srv := s.ByID[id]
			switch {
			case srv == nil:
			case shows == law.Left:
				since := s.unwantedSince(srv, f.Checkpoint)
				if srv.Overdue == Never || since < srv.Overdue {
					srv.Overdue = since
				}
			case shows == law.Harmed:
				srv.Wronged = true
			case shows == law.Unreaped:
				srv.Zombie = true
			}
		}
	}
}

// unwantedSince is when a server that a finding calls left over stopped being
// wanted: its session got a newer server, or ended, or the host did. Where none
// of that is known, it is the checkpoint that found it.
func (s *Run) unwantedSince(f *Server, checkpoint string) int64 {
	since := s.End
	if gone := s.hostGoneFor(f); gone >= 0 {
		since = gone
	}
	for _, c := range s.Checkpoints {
		if c.Name == checkpoint {
			since = min(since, c.From)
			break
		}
	}
	if f.Session != "" {
		since = min(since, s.superseded(f, since), s.sessionEnded(f, since))
	}
	return max(since, f.Born)
}

func sessionKey(label, session string) string { return label + "\x00" + session }

func (s *Run) superseded(f *Server, since int64) int64 {
	for _, o := range s.bySession[sessionKey(f.Label, f.Session)] {
		if o.Launch > f.Launch {
			if o.Established >= 0 {
				return o.Established
			}
			return o.Born
		}
	}
	return since
}

func (s *Run) sessionEnded(f *Server, since int64) int64 {
	for _, c := range s.changes[f.Session] {
		if c.T > f.Born && c.State == record.SessionEnded {
			return c.T
		}
	}
	return since
}

// outcome says in a few words what became of a server.
func (s *Run) Outcome(f *Server) string {
	switch {
	case f.Left && s.hostGoneFor(f) >= 0:
		return "outlived the host"
	case f.Left:
		return "still running"
	case f.Wronged:
		return "ended by mistake"
	case f.Zombie:
		return "left as a zombie"
	case f.Overdue >= 0:
		return words.Span(f.Until-f.Overdue) + " too long"
	case f.Lost >= 0:
		return "lost from sight"
	case f.Bye >= 0:
		return "clean exit"
	case f.Broken >= 0:
		return "its fault: " + firstBreak(f)
	case f.Term >= 0:
		return "ended by SIGTERM"
	case f.EOF >= 0:
		return "ended on EOF"
	}
	return "killed"
}

func firstBreak(f *Server) string {
	for _, m := range f.Faults {
		if m.Breaks {
			return string(m.Do)
		}
	}
	return "fault"
}

// planned is a fault of the plan with how often it was seen.
type PlannedFault struct {
	record.PlanFault
	Fired int
}

func (s *Run) Faults() []PlannedFault {
	var out []PlannedFault
	for _, p := range s.Header.Plan.Faults {
		one := PlannedFault{PlanFault: p}
		for _, srv := range s.Lives.Servers() {
			if srv.Label != p.Label || p.Launch > 0 && srv.Launch != p.Launch || p.Launch == 0 && p.Every > 1 && srv.Launch%p.Every != 0 {
				continue
			}
			for _, m := range srv.Faults {
				if m.On == p.On && m.Do == p.Do {
					one.Fired++
				}
			}
		}
		out = append(out, one)
	}
	return out
}
