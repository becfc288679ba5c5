package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeGraceful is L9: the end of stdin comes before any signal, a signal that
// can be caught before SIGKILL, and a well-behaved server gets to say bye.
func judgeGraceful(f *casefile) LawResult {
	r := LawResult{Expected: "each well-behaved server gets stdin EOF first"}
	if grace := f.Header.Limits.Grace; grace > 0 {
		r.Expected += ", and not killed before it had " + prose.Span(grace) + " to clean up"
	}
	judged, rude, unclear, untold := 0, 0, 0, 0
	var atOnce []*history.Server
	for _, s := range f.servers {
		if !f.endedByHost(s) {
			continue
		}
		judged++
		switch b := f.rudeness(s); {
		case b != nil && f.mayHaveHadTime(s, b):
			f.Excuse(b, f.firstAsked(s), s.Died)
		case b != nil:
			rude++
			f.Broken(b)
		case f.togetherAt(s) >= 0:
			atOnce = append(atOnce, s)
		case unclearOrder(s):
			unclear++
		case s.Silent() && f.TellsLoad():
			untold++
			// On another machine it would have seen that it was told.
			if asked := f.askedToEnd(s); asked >= 0 && len(s.Faults) == 0 && !f.WasStopped(s) && f.OnWatch(s.Died) {
				f.Excuse(f.killedUnasked(s, asked), asked, s.Died)
			}
		}
	}
	if f.Broke("L9") { // what a host does to one server it does to the others
		for _, s := range atOnce {
			rude++
			f.Broken(f.signalledAtOnce(s))
		}
	} else {
		unclear += len(atOnce)
	}
	r.Found = fmt.Sprintf("%s ended by the host, %d of them out of order", text.Count(judged, "server"), rude)
	switch {
	case judged == 0:
		r.Reason = "the host ended no well-behaved server"
	case unclear > 0 && rude == 0:
		r.Reason = fmt.Sprintf("for %s it is unclear whether stdin EOF or the signal came first", text.Count(unclear, "server"))
	case untold > 0 && rude == 0:
		r.Reason = fmt.Sprintf(
			"%s died without having read stdin EOF or caught a signal. They may have been asked without getting to it: "+
				"the machine was starved, or a fault kept %s from it", text.Count(untold, "server"), text.Choose(untold, "it", "them"))
	}
	return r
}

// unheeding says that a server could have seen what it was told, for longer than its grace: no fault kept it from
// that, and no want of processors did.
func (f *casefile) unheeding(s *history.Server, asked int64) bool {
	return len(s.Faults) == 0 && f.HadProcessors(asked, s.Died) && !f.WasStopped(s)
}

// endedByHost says that the host ended a server, in time or not, with which nothing was wrong. L3 has those that it
// should not have ended at all; what follows from the host's being killed is nobody's manners.
func (f *casefile) endedByHost(s *history.Server) bool {
	first, ok := facts.HarmTo(s)
	if !ok || s.Lost >= 0 || s.BrokenBy(first.T) || f.endedByBench(s) || f.endedOutside(s) || f.HostGoing(f.HostOf(s), first.T) {
		return false
	}
	if f.HarmedBy(facts.SessionOf(s), first.T) {
		return false
	}
	return s.Ready >= 0
}

// rudeness is how a server was ended out of order, or nil. A server on a busy machine may be slow to see what it was
// told: only what can't be put down to that is held against the host.
func (f *casefile) rudeness(s *history.Server) *breach.Breach {
	if signal, ok := facts.SignalFirst(s); ok {
		return f.rude(s, "signal-first", record.CauseOfSignal(signal.Text), signal.T,
			fmt.Sprintf("it caught %s at %s while its stdin was still open", prose.Plain(signal.Text), prose.Clock(signal.T)))
	}
	grace := int64(f.Header.Limits.Grace)
	// What the host did before it was asked it did by itself, as when an attempt ran out of time: since when is not known.
	if t, first := f.togetherAt(s), f.firstAsked(s); t >= first && first >= 0 && t-first < f.moment() {
		return f.signalledAtOnce(s)
	}
	asked := f.askedToEnd(s)
	if s.Bye >= 0 || asked < 0 || defiant(s) {
		return nil
	}
	if s.Died-asked >= grace && (grace <= 0 || !s.Silent() || !f.unheeding(s, asked)) && !f.cutLate(s, asked) {
		return nil
	}
	if s.Silent() {
		return f.killedUnasked(s, asked)
	}
	return f.rude(s, "cleanup-cut-short", record.CauseTooEarly, s.Died,
		fmt.Sprintf("it had been asked to exit and had begun its cleanup, and was killed before it had finished, %s", diedAfter(s, asked)))
}

func (f *casefile) killedUnasked(s *history.Server, asked int64) *breach.Breach {
	orSignal := ""
	if f.Signals() {
		orSignal = " or a signal it could catch"
	}
	return f.rude(s, "killed-unasked", record.CauseNoWord, s.Died,
		fmt.Sprintf("it was gone %s, without stdin EOF%s", diedAfter(s, asked), orSignal))
}

// diedAfter is the time from when the host was asked to end a server to the server's death. Where nobody had asked for it, the host
// had not begun when it still heard of the server.
func diedAfter(s *history.Server, asked int64) string {
	what := " after the host was asked to end it"
	if asked == s.Heard {
		what = " after its last message"
	}
	return prose.Span(s.Died-asked) + what
}

// mayHaveHadTime says that a server which was killed in its cleanup need not have been killed too soon. What it was given is
// bounded by the clock: it can't have been told before the host was first asked to end it, and it was gone when its death was
// told. However starved a machine is, that only makes it less. But of a host that was asked several times it is not known which
// time it was that it did so, and a host that is late with its kill has given more than it meant to.
func (f *casefile) mayHaveHadTime(s *history.Server, b *breach.Breach) bool {
	grace, first, asked := int64(f.Header.Limits.Grace), f.firstAsked(s), f.askedToEnd(s)
	if b.Kind != "cleanup-cut-short" || s.Died-first < grace {
		return false
	}
	return f.cutLate(s, asked) || f.Slowdown(asked, s.Died) > 1
}

// cutLate says that a server which had begun its cleanup was killed after its grace, by no more than the machine may have taken
// from the host, or the server: what they would have done on another one is not known.
func (f *casefile) cutLate(s *history.Server, asked int64) bool {
	grace := f.Header.Limits.Grace.D()
	return grace > 0 && !s.Silent() && s.Died-asked >= int64(grace) && f.MayBeTheMachines(asked, s.Died, grace)
}

// moment is how soon after the end of stdin a signal leaves no time to read it: a part of the time that a cleanup is to have.
func (f *casefile) moment() int64 { return int64(f.Header.Limits.Grace) / 4 }

// togetherAt is when the server caught a signal at the moment at which its stdin
// ended, or never. The server may have been slow to see either.
func (f *casefile) togetherAt(s *history.Server) int64 {
	if f.moment() <= 0 || len(s.Signals) == 0 || s.Signals[0].Stdin != record.StdinClosed {
		return never
	}
	if first := s.Signals[0]; s.EOF < 0 || first.T-s.EOF < f.moment()+f.Excused(s.EOF, first.T) {
		return first.T
	}
	return never
}

// firstAsked is when the host was first asked for anything that may end the
// server, or never. It can't have begun earlier, however busy the machine is.
func (f *casefile) firstAsked(s *history.Server) int64 {
	var before record.SessionState
	for _, c := range f.Changes(s) {
		switch {
		case c.T <= s.Born:
		case c.State == record.SessionEnding, c.State == record.SessionOpening:
			return c.T
		case c.State == record.SessionEnded && before != record.SessionEnding:
			return s.Heard
		}
		before = c.State
	}
	return f.HostOf(s).AskedAt
}

func (f *casefile) signalledAtOnce(s *history.Server) *breach.Breach {
	signal := s.Signals[0]
	what := fmt.Sprintf("it caught %s at %s, at the moment of stdin EOF", prose.Plain(signal.Text), prose.Clock(signal.T))
	if s.EOF >= 0 && signal.T > s.EOF {
		what = fmt.Sprintf("it caught %s at %s, %s after stdin EOF", prose.Plain(signal.Text), prose.Clock(signal.T), prose.Span(signal.T-s.EOF))
	}
	return f.rude(s, "signal-first", record.CauseOfSignal(signal.Text), signal.T, what+": no time to exit by itself")
}

// unclearOrder says that a signal was caught before the end of stdin was read,
// by a server that could not ask the kernel which of them came first.
func unclearOrder(s *history.Server) bool {
	return len(s.Signals) > 0 && s.Signals[0].Stdin == "" && (s.EOF < 0 || s.EOF > s.Signals[0].T)
}

// defiant says that the server's script has it ignore what it is told: it has no cleanup to be cut short.
func defiant(s *history.Server) bool {
	return prose.Ignores(s, record.OnEOF) || prose.Ignores(s, record.OnTerm)
}

// askedToEnd is when the host was last asked for something that ended the server, or never. The host can't have begun to end it
// for that any earlier, so that it bounds the time the server was given. That a session has ended is what the host says when it
// is done; where nobody had asked for it (a job, an open that failed), the host had not begun when it still heard of its client.
func (f *casefile) askedToEnd(s *history.Server) int64 {
	asked := never
	var before record.SessionState
	for _, c := range f.Changes(s) {
		late, byItself := c.T > s.Died, c.State == record.SessionEnded && before != record.SessionEnding
		switch {
		case c.T <= s.Born, late && (before != record.SessionOpening || !byItself || c.Cut):
		case byItself:
			asked = max(asked, s.Heard)
		case c.State == record.SessionEnding, c.State == record.SessionOpening:
			asked = c.T
		}
		if before = c.State; late {
			break
		}
	}
	if h := f.HostOf(s); h.AskedAt <= s.Died {
		asked = max(asked, h.AskedAt)
	}
	return asked
}

func (f *casefile) rude(s *history.Server, kind string, cause record.Cause, at int64, what string) *breach.Breach {
	b := &breach.Breach{
		Law: "L9", Kind: kind, Label: s.Label, Cause: cause, Server: s, At: []int64{at}, Like: kind + string(cause),
		Narrative: prose.Sentence(prose.Process(s, s.Birth.Identity, "") + " was healthy: " + what),
	}
	b.SawServer(s, "", what)
	return b
}

func describeGraceful(f *casefile, _ []*breach.Breach, d *description) {
	d.values["grace"], d.values["ladder"] = prose.Span(f.Header.Limits.Grace), law.LadderOn(f.Header.System.OS)
}
