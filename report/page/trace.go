package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// traceView is the way from the bench to a process that should not be there, or should: each station with what it is
// like, the suspect marked. Processes in the same hold share one.
type traceView struct {
	Count int
	Lines []traceLine
}

// traceLine is a station.
type traceLine struct {
	Class   string // ok, bad, unknown
	Word    string
	Glyph   string
	Who     string `max:"160"`
	What    string `max:"300"`
	Why     string `max:"300"`
	Suspect bool
}

// The words of a station.
const (
	traceOK        = "ok"
	traceUnknown   = "unknown"
	traceGone      = "should be gone"
	traceHere      = "should be here"
	traceClosed    = "should be closed"
	traceReaped    = "should be reaped"
	traceUnreaping = "should reap it"
)

func station(word, who, what, why string) traceLine {
	line := traceLine{Class: "bad", Glyph: "✗", Word: word, Who: who, What: what, Why: why}
	switch word {
	case traceOK:
		line.Class, line.Glyph = "ok", "✓"
	case traceUnknown:
		line.Class, line.Glyph = "unknown", "?"
	}
	return line
}

// traces are those of a finding, the commonest first.
func traces(s *model.Run, f *verdict.Finding) []traceView {
	var out []traceView
	if law.Of(f.Law).Shows == law.Harmed {
		if i := slices.IndexFunc(f.Servers, func(id string) bool { return s.ByID[id] != nil }); i >= 0 {
			out = append(out, traceView{f.Count, traceVictim(s, s.ByID[f.Servers[i]])})
		}
		return out
	}
	gs, _ := words.FirstOf(model.StdinHolds(f), model.HoldsOf)
	for _, g := range gs {
		out = append(out, traceView{g.Count, traceSurvivor(s, g, f.Checkpoint)})
	}
	return out
}

func traceBench(s *model.Run) traceLine {
	if s.Header.Host.Kind == record.KindAttached {
		return station(traceOK, "leakbench", "watches the host", "")
	}
	return station(traceOK, "leakbench", "plays "+s.Header.Scenario.String(), "")
}

// traceHost is the host as it was at a moment.
func traceHost(s *model.Run, t int64) traceLine {
	who := s.Header.Host.Kind.Subject() + " " + s.Header.Host.Name
	h := s.History.HostAt(t)
	switch {
	case h.Started == history.Never:
		return station(traceUnknown, who, "leakbench did not see it start", "")
	case h.Exited >= 0 && h.Exited <= t && s.Verdict.Watched != nil:
		return station(traceOK, fmt.Sprintf("%s, pid %d", who, h.PID),
			fmt.Sprintf("gone since %s; nobody but its parent knows how", words.At(h.Exited)), "")
	case h.Exited >= 0 && h.Exited <= t:
		return station(traceOK, fmt.Sprintf("%s, pid %d", who, h.PID), fmt.Sprintf("gone since %s: %s", words.At(h.Exited), model.HostEnd(h)), "")
	}
	return station(traceOK, fmt.Sprintf("%s, pid %d", who, h.PID), "alive", "")
}

// traceSurvivor leads to a survivor over who holds its stdin.
func traceSurvivor(s *model.Run, g *model.StdinHold, checkpoint string) []traceLine {
	e := g.Process
	f := s.ByID[e.Server]
	when := seenAt(s, e, checkpoint)
	lines := []traceLine{traceBench(s), traceHost(s, when), traceHold(s, g, f, when)}
	what, word := words.Join(strings.Replace(g.Waits, "waits in read(", "blocked in read(", 1), ignores(e)), traceGone
	if e.State == record.StateZombie {
		what, word = "dead, a zombie", traceReaped
	}
	last := station(word, processName(e), strings.TrimSpace(what), whyGone(s, f))
	if isServer(s) { // nobody else has to end it
		last.Suspect = true
		return append(lines[:1], append(lines[2:], last)...)
	}
	if (g.Holder == nil || g.Holder.Role != record.RoleHost) && e.State != record.StateZombie {
		lines[1].Suspect = true // the server does what its scenario says: whoever launched it has to end it
	}
	return append(lines, last)
}

func traceHold(s *model.Run, g *model.StdinHold, f *model.Server, when int64) traceLine {
	e := g.Process
	if e.State == record.StateZombie {
		line := station(traceUnreaping, parent(s, e), "its parent: has not waited for it", "")
		if !s.History.IsHost(e.PPID) {
			line.Who = "pid " + line.Who
		}
		line.Suspect = true
		return line
	}
	if h := g.Holder; h != nil {
		why := "as long as it is open, the server waits for its next request"
		if f != nil && history.By(f.EOF, when) {
			why = "the server has read stdin EOF anyway"
		}
		line := station(traceClosed, fmt.Sprintf("%s, pid %d, %s", h.Role, h.PID, h.At()),
			fmt.Sprintf("holds %s of %s, its stdin", model.PipeEnd(h.Mode, g.Target()), g.Target()), why)
		line.Suspect = h.Role == record.RoleHost
		return line
	}
	if strings.Contains(g.Held, "could not be seen") {
		return station(traceUnknown, "its stdin", g.Held, strings.Join(unseen([]record.Evidence{*e}), "; "))
	}
	return station(traceOK, "its stdin", g.Held, "")
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

// seenAt is when the evidence on a survivor was taken, at the checkpoint that a finding names.
func seenAt(s *model.Run, e *record.Evidence, checkpoint string) int64 {
	from, to := int64(0), s.End
	if s.Verdict.Watched != nil { // it is judged by what the last look shows
		return to
	}
	for _, c := range s.History.Checkpoints() {
		if c.Name == checkpoint {
			from, to = c.Begun, s.Ended(c.Ended)
		}
	}
	if at := s.History.EvidenceAt(e.Identity, from); at != history.Never {
		return at
	}
	return to
}

func whyGone(s *model.Run, f *model.Server) string {
	if f == nil || f.Overdue < 0 {
		return ""
	}
	return fmt.Sprintf("since %s: %s", words.At(f.Overdue), s.Outcome(f))
}

// traceVictim leads to a server that was ended while its session was live.
func traceVictim(s *model.Run, f *model.Server) []traceLine {
	lines := []traceLine{traceBench(s), traceHost(s, f.Until)}
	lines[1].Suspect = true
	what := "its session"
	if f.Session != "" {
		what = "session " + f.Session
	}
	lines = append(lines, station(traceOK, what, "open: nobody asked to end it", ""))
	var how []string
	for _, m := range f.Signals {
		how = append(how, fmt.Sprintf("caught %s at %s", m.Text, words.At(m.T)))
	}
	if f.EOF >= 0 {
		how = append(how, "read stdin EOF at "+words.At(f.EOF))
	}
	if f.Died >= 0 {
		how = append(how, "dead since "+words.At(f.Died))
	}
	return append(lines, station(traceHere, fmt.Sprintf("%s, pid %d", f.ID, f.Birth.PID), strings.Join(how, ", "), ""))
}

// blame says in a sentence whose fault it is, "" for a clean run.
func blame(s *model.Run) string {
	v := &s.Verdict
	switch {
	case v.Outcome == verdict.Inconclusive:
		return "Undecided: leakbench has no proof either way."
	case len(v.Findings) == 0:
		return ""
	}
	f := &s.Ordered[0]
	who := "The " + s.Header.Host.Kind.Subject() + " " + s.Header.Host.Name
	if h := s.History.Host(); h.Started != history.Never {
		who += fmt.Sprintf(" (pid %d)", h.PID)
	}
	did := strings.TrimSuffix(f.Found, ".")
	switch shows := law.Of(f.Law).Shows; {
	case f.Kind == "term-not-forwarded":
		who = "The launcher in front of " + s.Header.Host.Name
	case isServer(s):
	case shows == law.Harmed && f.Count > 1:
		did = fmt.Sprintf("it ended %d servers of live sessions", f.Count)
	case shows == law.Harmed:
		did = "it ended a server of a live session"
	case shows == law.Unreaped:
		did = "it has not waited for " + text.Count(f.Count, "dead child")
	default:
		did = cmp.Or(heldOpen(f, shows), did)
	}
	return who + ": " + did + "."
}

// heldOpen says who holds open the stdin of what is left, "" where that is not known.
func heldOpen(f *verdict.Finding, shows law.Subject) string {
	gs := model.StdinHolds(f)
	if len(gs) == 0 {
		return ""
	}
	switch h := gs[0].Holder; {
	case h != nil && h.Role == record.RoleHost:
		return fmt.Sprintf("it holds %s of their stdin and has not closed it", model.PipeEnd(h.Mode, gs[0].Target()))
	case h != nil:
		return fmt.Sprintf("it left them, and %s (pid %d) holds their stdin open", h.Role, h.PID)
	case shows == law.Left:
		return "it did not end servers that do not exit by themselves"
	}
	return ""
}
