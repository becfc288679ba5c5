package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// traceView is the way from the bench to a process that should not be there,
// or should: each station with what it is like, the suspect marked. Processes
// in the same grip share one.
type traceView struct {
	Count int
	Lines []traceLine
}

// traceLine is a station. Its state is one of four words.
type traceLine struct {
	Class   string // ok, gone, here, unknown
	Word    string
	Glyph   string
	Who     string `max:"160"`
	What    string `max:"300"`
	Why     string `max:"300"`
	Suspect bool
}

var traceLooks = map[string][2]string{
	"ok": {"✓", "ok"}, "gone": {"✗", "should be gone"}, "here": {"✗", "should be here"}, "unknown": {"?", "unknown"},
}

func station(class, who, what, why string) traceLine {
	look := traceLooks[class]
	return traceLine{Class: class, Glyph: look[0], Word: look[1], Who: who, What: what, Why: why}
}

// traces are those of a finding, the commonest first.
func (s *story) traces(f *verdict.Finding) []traceView {
	var out []traceView
	if f.Law == "L3" {
		if srv := s.firstServer(f); srv != nil {
			out = append(out, traceView{f.Count, s.traceVictim(srv)})
		}
		return out
	}
	gs, _ := firstOf(grips(f.Evidence), gripsOf)
	for _, g := range gs {
		out = append(out, traceView{g.count, s.traceGrip(g, f.Checkpoint)})
	}
	return out
}

func (s *story) firstServer(f *verdict.Finding) *fate {
	for _, id := range f.Servers {
		if srv := s.byServer[id]; srv != nil {
			return srv
		}
	}
	return nil
}

func (s *story) traceBench() traceLine {
	return station("ok", "leakbench", "plays "+s.header.Scenario.Name, "")
}

// traceHost is the host as it was at a moment.
func (s *story) traceHost(t int64) traceLine {
	who := "host " + s.header.Host.Name
	var h *hostSpan
	for _, one := range s.hosts {
		if h == nil || one.from <= t {
			h = one
		}
	}
	switch {
	case h == nil:
		return station("unknown", who, "it was not seen to start", "")
	case h.to >= 0 && h.to <= t:
		return station("ok", fmt.Sprintf("%s, pid %d", who, h.pid), fmt.Sprintf("gone since %s: %s", at(h.to), exitText(h.exit)), "")
	}
	return station("ok", fmt.Sprintf("%s, pid %d", who, h.pid), "alive", "")
}

// traceGrip leads to a survivor over who holds its stdin.
func (s *story) traceGrip(g *grip, checkpoint string) []traceLine {
	e := g.sample
	f := s.byServer[e.Server]
	when := s.seenAt(e, checkpoint)
	lines := []traceLine{s.traceBench(), s.traceHost(when), s.traceHold(g, f, when)}
	what := words(strings.Replace(waiting(e), "waits in read(", "blocked in read(", 1), ignores(e))
	if e.State == record.StateZombie {
		what = "dead, and nobody has waited for it"
	}
	last := station("gone", processName(e), strings.TrimSpace(what), s.whyGone(f))
	last.Suspect = g.holder == nil && e.State != record.StateZombie
	return append(lines, last)
}

func (s *story) traceHold(g *grip, f *fate, when int64) traceLine {
	e := g.sample
	if e.State == record.StateZombie {
		line := station("gone", s.parent(e), "its parent: has not reaped it", "")
		if !strings.HasPrefix(line.Who, "host") {
			line.Who = "pid " + line.Who
		}
		line.Suspect = true
		return line
	}
	if h := g.holder; h != nil {
		why := "as long as it is open, the server waits for its next request"
		if f != nil && f.EOF >= 0 && f.EOF <= when {
			why = "the server has read the end of its stdin all the same"
		}
		line := station("gone", fmt.Sprintf("%s, pid %d, fd %d", h.Role, h.PID, h.FD), fmt.Sprintf("holds %s of %s, its stdin", end(h.Mode, g.target()), g.target()), why)
		line.Suspect = true
		return line
	}
	if strings.Contains(g.held, "could not be seen") {
		return station("unknown", "its stdin", g.held, strings.Join(unseen([]record.Evidence{*e}), "; "))
	}
	return station("ok", "its stdin", g.held, "")
}

func ignores(e *record.Evidence) string {
	var names []string
	for _, sig := range e.SigIgnored {
		if sig == "SIGTERM" || sig == "SIGINT" || sig == "SIGHUP" {
			names = append(names, sig)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "and ignores " + strings.Join(names, ", ")
}

// seenAt is when the evidence on a survivor was taken, at the checkpoint that a
// finding names.
func (s *story) seenAt(e *record.Evidence, checkpoint string) int64 {
	from, to := int64(0), s.end
	for _, c := range s.checkpoints {
		if c.Name == checkpoint {
			from, to = c.from, c.to
		}
	}
	if s.Run == nil {
		return to
	}
	for i := range s.Run.Events {
		ev := &s.Run.Events[i]
		if ev.T >= from && slices.ContainsFunc(ev.Evidence, func(o record.Evidence) bool { return o.Identity == e.Identity }) {
			return ev.T
		}
	}
	return to
}

func (s *story) whyGone(f *fate) string {
	if f == nil || f.overdue < 0 {
		return ""
	}
	return fmt.Sprintf("since %s: %s", at(f.overdue), s.outcome(f))
}

// traceVictim leads to a server that was ended while its session was live.
func (s *story) traceVictim(f *fate) []traceLine {
	lines := []traceLine{s.traceBench(), s.traceHost(f.until)}
	lines[1].Suspect = true
	what := "its session"
	if f.Session != "" {
		what = "session " + f.Session
	}
	lines = append(lines, station("ok", what, "open: nobody asked for its end", ""))
	var how []string
	for _, m := range f.Signals {
		how = append(how, fmt.Sprintf("caught %s at %s", m.Text, at(m.T)))
	}
	if f.EOF >= 0 {
		how = append(how, "read the end of its stdin at "+at(f.EOF))
	}
	if f.Died >= 0 {
		how = append(how, "dead since "+at(f.Died))
	}
	return append(lines, station("here", fmt.Sprintf("%s, pid %d", f.ID, f.Birth.PID), strings.Join(how, ", "), ""))
}

// blame says in a sentence whose fault it is, "" for a clean run.
func (s *story) blame() string {
	v := &s.Verdict
	switch {
	case v.Outcome == verdict.Inconclusive:
		return "Not decided: the bench has no proof either way."
	case len(v.Findings) == 0:
		return ""
	}
	f := &s.order[0]
	who := "The host " + s.header.Host.Name
	if n := len(s.hosts); n > 0 {
		who += fmt.Sprintf(" (pid %d)", s.hosts[n-1].pid)
	}
	gs := grips(f.Evidence)
	switch {
	case f.Law == "L3":
		if f.Count > 1 {
			return fmt.Sprintf("%s: it ended %d servers of live sessions.", who, f.Count)
		}
		return who + ": it ended a server of a live session."
	case f.Law == "L4":
		return fmt.Sprintf("%s: it has not waited for %s.", who, plural(f.Count, "dead child"))
	case len(gs) > 0 && gs[0].holder != nil && gs[0].holder.Role == record.RoleHost:
		return fmt.Sprintf("%s: it holds %s of their stdin and has not closed it.", who, end(gs[0].holder.Mode, gs[0].target()))
	case len(gs) > 0 && gs[0].holder != nil:
		return fmt.Sprintf("%s: it left them, and %s (pid %d) holds their stdin open.", who, gs[0].holder.Role, gs[0].holder.PID)
	case len(gs) > 0 && (f.Law == "L1" || f.Law == "L2"):
		return who + ": it did not end what does not end by itself."
	}
	return who + ": " + strings.TrimSuffix(f.Found, ".") + "."
}
