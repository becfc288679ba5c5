package prose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// Control compares a survivor with its control: what the same server does when nobody interferes. It says nothing
// where the survivor had other faults, but of those that keep it from reading.
func Control(s *history.Server, c record.Control) string {
	for i := range s.Faults {
		// It does not see the end of its stdin, whatever it did in its control.
		if fault := &s.Faults[i].Fault; fault.Do == record.DoStopReading || fault.Do == record.DoSpin {
			return fmt.Sprintf("It no longer reads its stdin, as scripted (%s): it has to be killed.", FaultName(fault))
		}
	}
	own := slices.ContainsFunc(s.Faults, func(m history.FaultMark) bool { return endsOf(m.Fault) })
	switch {
	case !c.Answered || !c.SawEOF || c.Exited && own:
		return ""
	case c.Exited:
		return fmt.Sprintf("Without the host, the same server exits %s after stdin EOF.", Span(c.After))
	}
	var faults []string
	for i := range c.Faults {
		if endsOf(c.Faults[i]) {
			faults = append(faults, FaultName(&c.Faults[i]))
		}
	}
	if len(faults) == 0 {
		return ""
	}
	return fmt.Sprintf("Without the host, too, it was still running %s after stdin EOF, as scripted (%s): it has to be killed.",
		Span(c.After), strings.Join(faults, ", "))
}

// endsOf says that a fault is about how the server ends.
func endsOf(f record.Fault) bool {
	return f.On == record.OnEOF || f.On == record.OnTerm || f.On == record.OnExit
}

// HostEnd says how a life of the host ended, which may be the only one.
func HostEnd(h *history.Host, alone bool) string {
	name, exit := "the host", fmt.Sprintf("exited with status %d", h.Exit.Code)
	if !alone {
		name = fmt.Sprintf("life %d of the host", h.N)
	}
	if h.Exit.Signal != "" {
		exit = "was ended by " + Plain(h.Exit.Signal)
	}
	switch {
	case h.Exited < 0:
		return name + " has ended"
	case h.AskedOp == record.OpKill, h.AskedBy == "SIGKILL":
		return name + " was killed at " + Clock(h.AskedAt)
	case h.AskedAt >= 0 && h.Exit.Signal == "SIGKILL":
		return name + " did not exit when asked and was killed by leakbench at " + Clock(h.Exited)
	case h.AskedOp == record.OpTerm:
		return fmt.Sprintf("%s got %s at %s and %s after %s", name, askedBy(h), Clock(h.AskedAt), exit, Span(h.Exited-h.AskedAt))
	case h.AskedOp == record.OpStop && h.AskedBy != "":
		return fmt.Sprintf("%s was asked to stop by %s at %s and %s after %s", name, askedBy(h), Clock(h.AskedAt), exit, Span(h.Exited-h.AskedAt))
	case h.AskedOp == record.OpStop:
		return fmt.Sprintf("%s was asked to stop at %s and %s after %s", name, Clock(h.AskedAt), exit, Span(h.Exited-h.AskedAt))
	}
	return fmt.Sprintf("%s %s at %s without being asked to", name, exit, Clock(h.Exited))
}

// askedBy names what has asked a host to end.
func askedBy(h *history.Host) string { return Plain(cmp.Or(h.AskedBy, "SIGTERM")) }

// Ladder is how a server was ended, with the times since the step began.
func Ladder(s *history.Server, begun int64) string {
	type rung struct {
		t     int64
		words string
	}
	var rungs []rung
	add := func(t int64, words string) {
		if t >= begun {
			rungs = append(rungs, rung{t, fmt.Sprintf("%s after %s", words, Span(t-begun))})
		}
	}
	add(s.EOF, "read stdin EOF")
	for _, m := range s.Signals {
		add(m.T, "caught "+Plain(m.Text))
	}
	add(s.Died, "was gone")
	slices.SortStableFunc(rungs, func(a, b rung) int { return int(min(max(a.t-b.t, -1), 1)) })
	var all []string
	for _, r := range rungs {
		all = append(all, r.words)
	}
	if s.Died < 0 {
		all = append(all, "was still running at the end of the file")
	}
	words := List(all)
	if s.EOF < 0 && len(s.Signals) == 0 {
		words += ", without having seen a request to exit"
	}
	return words
}

// StepName is a step for a sentence: "close of session s1".
func StepName(s *history.Step) string {
	name := Plain(s.Op)
	if s.Detail != "" && s.Op == record.OpCall {
		name += " of " + Plain(s.Detail)
	}
	switch {
	case s.Session != "":
		return name + " of session " + Plain(s.Session)
	case s.Label != "":
		return name + " of " + Plain(s.Label)
	}
	return name
}
