package server

import (
	"fmt"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
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
		case s.OK:
			answered++
		case x.host.Exited >= 0 && x.early():
			// told below
		case s.Detail == record.DetailRefused && s.Op == record.OpInitialize && !x.tookOver(i):
			x.broken(&breach.Breach{
				Kind: "refused", Cause: record.CauseOfRequest(method(s)), At: []int64{s.Begun},
				Value: string(method(s)) + ": " + prose.Quote(s.Error),
			})
		case s.Detail == record.DetailRefused:
			answered++ // an error is an answer
		case x.End() != nil: // else the file ends before it could say that the server had exited
			b := &breach.Breach{
				Kind: "silent", Cause: record.CauseOfRequest(method(s)), At: []int64{s.Begun},
				Value: fmt.Sprintf("%s: no answer within %s", method(s), prose.Span(s.Ended-s.Begun)),
			}
			if s.Detail == record.DetailClosed {
				b.Value = fmt.Sprintf("%s: it closed its stdout and went on running", method(s))
			}
			x.broken(b)
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

func exitCause(e record.Exit) record.Cause {
	if e.Signal != "" {
		return record.CauseOfSignal(e.Signal)
	}
	return record.CauseOfExit(e.Code)
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
	cp := x.after(eof)
	if cp == nil || x.early() {
		x.unjudged("S2", "the server was not seen to the end")
		return
	}
	if x.unsureStart(eof) {
		x.unjudged("S2", fmt.Sprintf("%s: whether stdin EOF ended it is not known", exitWords(x.host.Exit)))
		return
	}
	kind, cause := x.eofKind(eof)
	f := x.fateAt(cp)
	x.ended("S2", f, "stdin EOF")
	switch load, spins := f.spins(); {
	case f.late && find(f.Settled, x.host.Identity) != nil:
		x.broken(x.lateBreach("eof-late", cause, f, eof.Begun, "stdin EOF"))
	case !f.root && !x.behindShell() || f.gone || f.Confirm == nil:
	case spins:
		b := x.stays("eof-spin", cause, f, "stdin EOF")
		b.Value += fmt.Sprintf(", with %.0f %% of a processor", 100*load)
		x.broken(b)
	case f.root || x.serverLeft(f):
		x.broken(x.stays(kind, cause, f, "stdin EOF"))
	}
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
	cp := x.after(term)
	switch {
	case term == nil || x.behindShell():
		x.unjudged("S3", "SIGTERM was not sent to the server")
		return
	case cp == nil || x.early():
		x.unjudged("S3", "the server was not seen to the end")
		return
	}
	f := x.fateAt(cp)
	x.ended("S3", f, "SIGTERM")
	direct := x.step(record.OpTerm, record.DetailServer)
	ping := x.step(record.OpPing, "")
	serves := ping != nil && ping.OK && ping.Begun > term.Begun
	after := x.after(direct)
	if x.step(record.OpEOF, "") == nil && (direct == nil || after == nil) && !f.gone && !f.late {
		x.unjudged("S3", "the server was not seen to the end")
		return
	}
	switch {
	case f.late && find(f.Settled, x.host.Identity) != nil:
		x.broken(x.lateBreach("term-late", record.CauseIdle, f, term.Begun, "SIGTERM"))
	case f.gone || f.Confirm == nil:
	case f.root && (direct == nil || after == nil || !after.Quiet), !f.root && serves && after != nil && !after.Quiet:
		x.broken(x.withEOF(x.stays("term-ignored", record.CauseIdle, f, "SIGTERM"), term))
	case f.root || serves:
		b := x.stays("term-not-forwarded", record.CauseIdle, f, "SIGTERM to its launcher")
		if after != nil && after.Quiet {
			b.Narrative = "It exited when SIGTERM was sent to itself."
		}
		x.broken(b)
	}
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
	cp := x.after(broke)
	switch {
	case broke == nil:
		x.unjudged("S4", "stdout was not broken")
		return
	case cp == nil || x.early():
		x.unjudged("S4", "the server was not seen to the end")
		return
	}
	f := x.fateAt(cp)
	x.ended("S4", f, "its stdout broke")
	last := x.after(x.step(record.OpEOF, ""))
	switch load, spins := f.spins(); {
	case f.late && find(f.Settled, x.host.Identity) != nil:
		x.broken(x.lateBreach("epipe-late", record.CauseIdle, f, broke.Begun, "its stdout broke"))
	case f.gone || f.Confirm == nil || !f.root:
	case spins:
		b := x.stays("epipe-spin", record.CauseIdle, f, "its stdout broke")
		b.Value += fmt.Sprintf(", with %.0f %% of a processor", 100*load)
		x.broken(x.withEOF(b, broke))
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
	serves := term != nil && ping != nil && ping.OK && ping.Begun > term.Begun // behind a launcher that has gone
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
