package server

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeAnswers is S1.
func (x *exam) judgeAnswers() {
	end := x.first()
	answered := 0
	for i, s := range x.Steps() {
		if method(s) == "" || s.Ended < 0 || s.Expect == record.ExpectAny || end != nil && s.Begun > end.Begun {
			continue
		}
		switch {
		case s.OK, !x.early() && x.isAnswer(i):
			answered++
		case !x.early(): // else it is told below
			x.unanswered(s)
		}
	}
	if x.early() && answered > 0 {
		x.broken(&breach.Breach{
			Kind: "died", Cause: exitCause(x.host.Exit), At: []int64{x.host.Exited}, Narrative: words(x.host),
			Value: fmt.Sprintf("%s %s after its start, while its stdin was open",
				prose.Capital(exitWords(x.host.Exit)), prose.Span(x.host.Exited-x.host.Started)),
		})
	}
	x.Found["S1"] = text.Count(answered, "request") + " answered"
	if answered == 0 {
		x.unjudged("S1", "no request was answered")
	}
}

// unanswered takes in a request that got no answer, or a handshake that was refused.
func (x *exam) unanswered(s *history.Step) {
	b := &breach.Breach{
		Kind: "silent", Cause: record.CauseOfRequest(method(s)), At: []int64{s.Begun},
		Value: fmt.Sprintf("%s: no answer within %s", method(s), prose.Span(s.Ended-s.Begun)),
		Took:  breach.Took{From: s.Begun, To: s.Ended}, // no limit: a server that answers needs almost none of it
	}
	switch s.Detail {
	case record.DetailRefused:
		b.Kind, b.Value, b.Took = "refused", string(method(s))+": "+prose.Quote(s.Error), breach.Took{}
	case record.DetailClosed:
		b.Value = fmt.Sprintf("%s: it closed its stdout and went on running", method(s))
	}
	if b.Kind == "refused" || x.End() != nil { // else the file ends before it could say that the server had exited
		x.broken(b)
	}
}

func exitCause(e record.Exit) record.Cause {
	if e.Signal != "" {
		return record.CauseOfSignal(e.Signal)
	}
	return record.CauseOfExit(e.Code)
}

// isAnswer says that a request was refused, which is an answer. A handshake must not be, unless it is followed by one of the other era.
func (x *exam) isAnswer(i int) bool {
	s := x.Steps()[i]
	return s.Detail == record.DetailRefused && (s.Op != record.OpInitialize || x.tookOver(i))
}

// tookOver says that a handshake which was refused was followed by one of the other era.
func (x *exam) tookOver(i int) bool {
	later := x.Steps()[i+1:]
	return len(later) > 0 && later[0].Op == record.OpInitialize
}

// behindShell says that the bench had put a shell in front of the server.
func (x *exam) behindShell() bool {
	return x.step(record.OpTerm, record.DetailShell) != nil
}

// judgeEOF is S2.
func (x *exam) judgeEOF() {
	eof := x.step(record.OpEOF, "")
	if eof == nil || x.first() != eof && !x.behindShell() {
		x.unjudged("S2", "stdin was not closed, or not before anything else")
		return
	}
	f, seen := x.fateAfter("S2", eof)
	if !seen {
		return
	}
	if x.unsureStart(eof) {
		x.unjudged("S2", fmt.Sprintf("%s: whether stdin EOF ended it is not known", exitWords(x.host.Exit)))
		return
	}
	kind, cause := x.eofKind(eof)
	x.ended("S2", f, "stdin EOF")
	switch load, spins := f.spins(); {
	case x.isLate(f):
		x.broken(x.lateBreach("eof-late", cause, f, eof.Begun, "stdin EOF"))
	case f.isOver(), !f.root && !x.behindShell():
	case spins:
		x.broken(busy(x.stays("eof-spin", cause, f, "stdin EOF"), load))
	case f.root || x.serverLeft(f):
		x.broken(x.stays(kind, cause, f, "stdin EOF"))
	}
}

// fateAfter is what had become of the server at the checkpoint after a step that asked it to end. Where nothing shows that, the law
// is not judged.
func (x *exam) fateAfter(law string, s *history.Step) (f fate, seen bool) {
	cp := x.after(s)
	if cp == nil || x.early() {
		x.unjudged(law, "the server was not seen to the end")
		return fate{}, false
	}
	return x.fateAt(cp), true
}

// isLate says that the process which was started was gone when the watch ended, and not in time.
func (x *exam) isLate(f fate) bool { return f.late && find(f.Settled, x.host.Identity) != nil }

// busy adds to what stays how busy it is.
func busy(b *breach.Breach, load float64) *breach.Breach {
	b.Value += fmt.Sprintf(", with %.0f %% of a processor", 100*load)
	return b
}

// unsureStart says that a server which was never asked anything exited with an error: it may have ended by itself.
func (x *exam) unsureStart(eof *history.Step) bool {
	return x.step(record.OpInitialize, "") == nil && x.host.Exited >= eof.Begun && (x.host.Exit.Code != 0 && x.host.Exit.Signal == "")
}

// serverLeft says that what the shell had started is there.
func (x *exam) serverLeft(f fate) bool {
	return slices.ContainsFunc(f.rest, func(p record.Process) bool { return x.isShells(p.Identity) })
}

// isShells says that a process was seen as the child of the shell that was started.
func (x *exam) isShells(id record.Identity) bool {
	for _, look := range x.Censuses() {
		if p := find(look.Census, id); p != nil && p.PPID == x.host.PID && look.Host != nil {
			return true
		}
	}
	return false
}

// eofKind is how the server was when its stdin was closed.
func (x *exam) eofKind(eof *history.Step) (kind string, cause record.Cause) {
	switch under := x.underWay(eof.Begun); {
	case x.behindShell():
		return "eof-ignored-orphaned", record.CauseLauncherGone
	case x.step(record.OpInitialize, "") == nil:
		return "eof-ignored-at-start", record.CauseBeforeInitialize
	case under != nil:
		return "eof-ignored-in-call", record.CauseOfRequest(method(under))
	}
	return "eof-ignored", record.CauseIdle
}

// underWay is the request that was unanswered at a time, or nil.
func (x *exam) underWay(t int64) *history.Step {
	for _, s := range x.Steps() {
		if method(s) != "" && s.Begun <= t && (s.Ended < 0 || s.Ended > t) {
			return s
		}
	}
	return nil
}

// judgeTerm is S3.
func (x *exam) judgeTerm() {
	term := x.step(record.OpTerm, "")
	if term == nil || x.behindShell() {
		x.unjudged("S3", "SIGTERM was not sent to the server")
		return
	}
	f, seen := x.fateAfter("S3", term)
	if !seen {
		return
	}
	x.ended("S3", f, "SIGTERM")
	direct := x.after(x.step(record.OpTerm, record.DetailServer)) // where it was sent to the server itself, behind its launcher
	if x.step(record.OpEOF, "") == nil && direct == nil && !f.gone && !f.late {
		x.unjudged("S3", "the server was not seen to the end")
		return
	}
	if x.isLate(f) {
		x.broken(x.lateBreach("term-late", record.CauseIdle, f, term.Begun, "SIGTERM"))
		return
	}
	if !f.isOver() && (f.root || x.servesAfter(term)) {
		x.outlasts(term, f, direct)
	}
}

// outlasts says of a server that is there after SIGTERM whether it did not heed it, or its launcher has not passed it on.
func (x *exam) outlasts(term *history.Step, f fate, direct *facts.Checkpoint) {
	switch {
	case f.root && direct == nil, direct != nil && !direct.Quiet:
		x.broken(x.withEOF(x.stays("term-ignored", record.CauseIdle, f, "SIGTERM"), term))
	default:
		b := x.stays("term-not-forwarded", record.CauseIdle, f, "SIGTERM to its launcher")
		if direct != nil {
			b.Narrative = "It exited when SIGTERM was sent to itself."
		}
		x.broken(b)
	}
}

// servesAfter says that something answered a ping after SIGTERM: a server behind a launcher that has gone.
func (x *exam) servesAfter(term *history.Step) bool {
	ping := x.step(record.OpPing, "")
	return term != nil && ping != nil && ping.OK && ping.Begun > term.Begun
}

// withEOF adds whether stdin EOF ended a server that did not react to something else.
func (x *exam) withEOF(b *breach.Breach, asked *history.Step) *breach.Breach {
	eof := x.step(record.OpEOF, "")
	cp := x.after(eof)
	if cp == nil || eof.Begun < asked.Begun {
		return b
	}
	says := "Stdin EOF, later, did not end it either."
	if cp.Quiet {
		says = fmt.Sprintf("Stdin EOF, later, ended it within %s.", prose.Span(cp.Waited))
	}
	b.Narrative = prose.Paragraph(b.Narrative, says)
	return b
}

// judgeBrokenStdout is S4.
func (x *exam) judgeBrokenStdout() {
	broke := x.step(record.OpHangUp, "")
	if broke == nil {
		x.unjudged("S4", "stdout was not broken")
		return
	}
	f, seen := x.fateAfter("S4", broke)
	if !seen {
		return
	}
	x.ended("S4", f, "its stdout broke")
	last := x.after(x.step(record.OpEOF, ""))
	switch load, spins := f.spins(); {
	case x.isLate(f):
		x.broken(x.lateBreach("epipe-late", record.CauseIdle, f, broke.Begun, "its stdout broke"))
	case f.isOver(), !f.root:
	case spins:
		x.broken(x.withEOF(busy(x.stays("epipe-spin", record.CauseIdle, f, "its stdout broke"), load), broke))
	case last != nil && !last.Quiet && x.fateAt(last).root:
		x.broken(x.withEOF(x.stays("epipe-stuck", record.CauseIdle, f, "its stdout broke"), broke))
	case last == nil:
		x.unjudged("S4", "the server was not seen to the end")
	default:
		x.broken(x.withEOF(x.stays("epipe-ignored", record.CauseIdle, f, "its stdout broke"), broke))
	}
}

// judgeLeft is S5: what is left once the server itself is gone, and what it has not waited for.
func (x *exam) judgeLeft() {
	x.judgeZombies()
	x.judgeHelpers()
	if dead := x.unsureZombie(); dead != nil {
		x.unjudged("S5",
			fmt.Sprintf("%s was a zombie when the server was asked to end, so it is not known whether the server would have reaped it",
				prose.Process(nil, dead.Identity, dead.Comm)))
	}
}

// judgeHelpers is S5 of what was running when the server had ended.
func (x *exam) judgeHelpers() {
	if !x.Header.Witness.Subreaper {
		x.unjudged("S5", "orphans of the server are not reparented to the bench here")
		return
	}
	f, there := x.withoutServer()
	if !there {
		x.unjudged("S5", "the server itself had not ended")
		return
	}
	x.Found["S5"] = fmt.Sprintf("nothing left of %s", text.Count(x.Seen, "process"))
	since := max(x.host.Exited, f.Begun)
	for i := range f.rest {
		p := &f.rest[i]
		kind := "helper-left"
		if p.SID != x.host.SID && x.host.SID != 0 {
			kind = "helper-escaped"
		}
		b := &breach.Breach{
			Kind: kind, Cause: record.CauseIdle.Of(p.Comm).As(kind), Comm: p.Comm,
			Checkpoint: f.Checkpoint, At: []int64{f.Begun}, Evidence: f.EvidenceOn(p.Identity),
			Value: fmt.Sprintf("%s was still running %s after the server", prose.Process(nil, p.Identity, p.Comm), prose.Span(f.ConfirmAt-since)),
		}
		b.Narrative = x.lookOf(b.Evidence)
		x.broken(b)
	}
	if left := live(f.Settled); f.late && len(left) > 0 && find(f.Settled, x.host.Identity) == nil {
		x.broken(&breach.Breach{
			Kind: "helper-late", Cause: record.CauseIdle.Of(left[0].Comm).As("helper-late"), Comm: left[0].Comm, Checkpoint: f.Checkpoint,
			At: []int64{since}, Took: breach.Took{From: since, To: f.Ended, Limit: x.Header.Limits.Settle.D()},
			Value: fmt.Sprintf("%s was gone %s after the server", prose.Process(nil, left[0].Identity, left[0].Comm), prose.Span(f.Ended-since)),
		})
	}
}

// withoutServer is the first completed checkpoint at which the server itself was gone: what is left there are its helpers.
func (x *exam) withoutServer() (fate, bool) {
	term, ping := x.step(record.OpTerm, ""), x.step(record.OpPing, "")
	serves := x.servesAfter(term)
	for _, cp := range x.Checkpoints {
		f := x.fateAt(cp)
		asked := ping != nil && ping.Ended >= 0 // whether what is left serves
		orphaned := term != nil && !f.gone && (!asked || serves && (x.serverLeft(f) || ping.Begun > cp.Begun))
		if cp.Ended >= 0 && cp.Settled != nil && !f.root && !orphaned {
			return f, true
		}
	}
	return fate{}, false
}

// judgeStdout is S6.
func (x *exam) judgeStdout() {
	x.Found["S6"] = "no other line"
	for i := range x.Events() {
		if e := &x.Events()[i]; e.Kind == record.WroteStdout {
			x.broken(&breach.Breach{Kind: "stdout-noise", At: []int64{e.T}, Value: prose.Clock(e.T) + ": " + prose.Quote(e.Text)})
		}
	}
	if !slices.ContainsFunc(x.Steps(), func(s *history.Step) bool { return s.Op == record.OpInitialize && s.OK }) {
		x.unjudged("S6", "it has written nothing to stdout")
	}
}
