package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// sameMoment is how near to each other two launches by a host whose sessions
// are unknown must be to count as made for one connection.
const sameMoment = 2 * time.Second

// judgeFlat is L1: at a checkpoint the live servers of a session are its
// newest ones, and no other.
func judgeFlat(f *facts) LawResult {
	r := LawResult{Expected: "no server but the newest of each open session, " + within(f.header.Limits.Settle) + " after a checkpoint begins"}
	if n := f.header.Host.Profile.Resident; n > 0 {
		r.Expected += fmt.Sprintf("; up to %d of each label kept on purpose, as the host's profile says", n)
	}
	extras := map[string]bool{}
	for _, cp := range f.checkpoints {
		if cp.HostGone || cp.settled == nil || !f.hostAlive(cp.settledAt) {
			continue
		}
		r.Values = append(r.Values, fmt.Sprintf("%s: %d alive, %d of them should be gone", plain(cp.Name), len(cp.alive), len(cp.extra)))
		for _, s := range cp.extra {
			if f.hostOf(s) != f.hostAt(cp.settledAt) {
				continue // L2 has it
			}
			if !extras[s.ID] && f.vouched(cp, s) {
				extras[s.ID] = true
				f.breaches = append(f.breaches, f.flatBreach(cp, s))
			}
			cp.explained = cp.explained || extras[s.ID]
		}
	}
	r.Found = "none at " + count(len(r.Values), "checkpoint")
	if n := len(extras); n > 0 {
		r.Found = count(n, "server") + " that should have been gone"
	}
	if len(r.Values) == 0 {
		r.Reason = "no checkpoint was completed while the host lived"
	}
	return r
}

// vouched says that the census saw the server too, or can't be asked: without
// a subreaper, what the host orphans is not below the keeper.
func (f *facts) vouched(cp *checkpoint, s *history.Server) bool {
	return !f.header.Witness.Subreaper || cp.settledRows.alive(s.Birth.Identity) || cp.confirmRows.alive(s.Birth.Identity)
}

func (f *facts) flatBreach(cp *checkpoint, s *history.Server) *breach {
	b := &breach{law: "L1", label: s.Label, server: s, cp: cp, evidence: cp.evidenceOn(s.Birth.Identity), at: []int64{s.Born, cp.settledAt}}
	var head string
	b.kind, b.cause, b.when, head = f.flatKind(cp, s)
	if kind, why := f.flatHold(cp, s, b.evidence); kind != "" {
		b.kind, b.cause, head = kind, b.cause.As(kind), paragraph(head, why)
	}
	name := process(s, s.Birth.Identity, "")
	if s.Session != "" {
		name += " of session " + plain(s.Session)
	}
	until := f.watchedUntil(cp)
	if s.Died >= 0 && s.Died <= until {
		b.kind, b.cause, b.when = "late", b.cause.As(b.kind), b.kind+", "+b.when
		b.value = fmt.Sprintf("%s: gone %s after the checkpoint began", name, span(s.Died-cp.begun))
		b.at = append(b.at, s.Died)
	} else {
		b.value = fmt.Sprintf("%s: still running %s after the checkpoint began", name, span(until-cp.begun))
		if s.Died >= 0 {
			b.value += ", gone " + f.when(s.Died)
		}
	}
	if b.evidence != nil && b.evidence.RSS > 0 {
		b.value += ", " + mebibytes(b.evidence.RSS)
	}
	text, like := survivor(s, b.evidence, cp.settledAt)
	b.story, b.like = paragraph(head, text, f.tellLockedOut(s), f.control(s)), like
	return b
}

// when is a moment, as far as it matters for a server that should have gone
// long ago.
func (f *facts) when(t int64) string {
	if !f.onWatch(t) {
		return "only with the host"
	}
	return "at " + clock(t)
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// flatHold says what else keeps a server that the host lost, or "".
func (f *facts) flatHold(cp *checkpoint, s *history.Server, e *record.Evidence) (kind, why string) {
	if kind = f.hold(s, e, cp.settledAt); kind != "" {
		return kind, ""
	}
	if kind, why = f.shieldFlat(cp, s); kind != "" {
		return kind, why
	}
	if told(s, cp.settledAt-f.blur()) {
		return "not-escalated", ""
	}
	return "", ""
}

// flatKind says in which way the host lost a server that should be gone.
func (f *facts) flatKind(cp *checkpoint, s *history.Server) (kind string, cause record.Cause, when, head string) {
	fault := breakingFault(s)
	next := f.successor(cp, s)
	if !established(s, cp.settledAt) {
		cause, when := strandedCause(fault)
		return "init-stranded", cause, when, strandedHead(s, fault)
	}
	if next != nil && f.isDuplicate(s, next) {
		return "duplicate", record.CauseSideBySide, sideBySide, tellTwins(s, next, "and the host kept both")
	}
	if twin := f.twin(cp, s); twin != nil {
		return "duplicate", record.CauseSideBySide, sideBySide, tellTwins(twin, s, "and the host ended the other one alone")
	}
	if next == nil {
		phase := f.phase(s, cp.settledAt)
		return "abandoned", phase.cause, phase.says, phase.tell(s)
	}
	cause, when = record.CauseReconnect, "reconnect"
	if f.openingWhy(s, next) == "reload" {
		cause, when = record.CauseReload, "reload"
	}
	head = fmt.Sprintf("The %s put %s in the place of %s, whose connection was dropped and not ended", when, plain(next.ID), plain(s.ID))
	if f.brokenBefore(s, next) {
		cause, when = record.CauseAfterFault(fault), "after "+faultName(fault)
		head = fmt.Sprintf("The session of %s had ended by its fault (%s); %s took its place %s later, and the old process was dropped and not ended",
			plain(s.ID), faultName(fault), plain(next.ID), span(max(next.Born-s.Broken, 0)))
	}
	return "superseded", cause, when, sentence(head)
}

func strandedCause(fault *record.Fault) (cause record.Cause, says string) {
	if fault == nil {
		return record.CauseNoFault, "no fault"
	}
	return record.CauseOfFault(fault), faultName(fault)
}

func strandedHead(s *history.Server, fault *record.Fault) string {
	what := "never finished a handshake"
	switch {
	case fault != nil:
		what = "never finished its handshake (its fault: " + faultName(fault) + ")"
	case s.Inits == 0:
		what = "was launched and never asked to initialize"
	}
	return sentence(fmt.Sprintf("%s %s, and the host gave it up without ending its process", plain(s.ID), what))
}

const sideBySide = "launched side by side"

func tellTwins(a, b *history.Server, and string) string {
	return sentence(fmt.Sprintf("%s and %s were launched %s apart for the same connection, nothing was wrong with either, %s",
		plain(a.ID), plain(b.ID), span(b.Born-a.Born), and))
}

// twin is an older server that was launched for the same connection as s, and
// that the host had for as long as the connection was to last: the one that it
// knew of, and ended, or nil. That s is there is then not the fault of how the
// connection ended.
func (f *facts) twin(cp *checkpoint, s *history.Server) *history.Server {
	over := cp.settledAt
	for _, c := range f.changes(s) {
		if c.T > s.Born && c.State != record.SessionOpen {
			over = min(over, c.T)
		}
	}
	for _, other := range f.servers {
		if other == s {
			break
		}
		same := other.Session != "" && other.Label == s.Label && other.Session == s.Session
		if same && (other.Died == history.Never || other.Died >= over) && established(other, over) && (f.isDuplicate(other, s) || history.Rivals(other, s)) {
			return other
		}
	}
	return nil
}

// successor is the next server that the host launched for the same session by
// the time of the checkpoint, or nil. Where sessions are unknown, a label is
// one.
func (f *facts) successor(cp *checkpoint, s *history.Server) *history.Server {
	younger := false
	for _, other := range f.servers {
		if younger && other.Label == s.Label && other.Session == s.Session && other.Born <= cp.settledAt {
			return other
		}
		younger = younger || other == s
	}
	return nil
}

// isDuplicate says that both were launched for one connection, with nothing
// wrong with the first.
func (f *facts) isDuplicate(s, next *history.Server) bool {
	if f.brokenBefore(s, next) {
		return false
	}
	if s.Session == "" {
		return next.Born-s.Born < int64(sameMoment)
	}
	return f.openingWhy(s, next) == ""
}

// openingWhy is why the session was opened anew between two births: "reload",
// "reconnect", or "" where it was not.
func (f *facts) openingWhy(s, next *history.Server) string {
	why := ""
	for _, c := range f.changes(s) {
		if c.State == record.SessionOpening && c.T > s.Born && c.T <= next.Born {
			why = "reconnect"
			if c.Why == record.WhyReload {
				return "reload"
			}
		}
	}
	return why
}

// changes are those of a server's session.
func (f *facts) changes(s *history.Server) []history.SessionChange {
	if session := f.sessions[sessionKey{s.Label, s.Session}]; session != nil {
		return session.Changes
	}
	return nil
}

// phase is how a session had ended that has left its server behind.
type phase struct {
	cause        record.Cause
	says, head   string
	took, failed string // of a close that failed
}

var (
	phaseUnknown   = phase{cause: record.CauseSessionUnknown, says: "session unknown", head: "SERVER is more than the host was asked to keep"}
	phaseCancelled = phase{cause: record.CauseCallCancelled, says: "call cancelled", head: "Session SESSION was cancelled while its call was in SERVER, and the host dropped the connection without ending the server"}
	phaseCut       = phase{cause: record.CauseCallTimedOut, says: "call timed out", head: "The call of session SESSION ran out of time in SERVER, and the host dropped the connection without ending the server"}
	phaseFailed    = phase{cause: record.CauseOpenFailed, says: "open failed", head: "Session SESSION could not be opened, and the host left SERVER behind"}
	phaseClosed    = phase{cause: record.CauseSessionClosed, says: "session closed", head: "Session SESSION was closed, the host said that it was done, and SERVER is still there"}
	phaseForgotten = phase{cause: record.CauseSessionForgotten, says: "session forgotten", head: "Session SESSION was over without a close, the host let go of the client, and SERVER is still there"}
	phaseDone      = phase{cause: record.CauseJobDone, says: "job done", head: "The job of session SESSION was done, and SERVER is still there"}
	phaseUnclosed  = phase{cause: record.CauseCloseFailed, says: "close failed", head: "Session SESSION was to be closed, the close failed after TOOK (ERROR), and SERVER is still there"}
	phaseOpen      = phase{cause: record.CauseSessionOpen, says: "session not ended", head: "Session SESSION has not ended, and SERVER is more than it needs"}
)

func (p phase) tell(s *history.Server) string {
	return sentence(strings.NewReplacer("SESSION", plain(s.Session), "SERVER", plain(s.ID), "TOOK", p.took, "ERROR", p.failed).Replace(p.head))
}

func (f *facts) phase(s *history.Server, t int64) phase {
	changes := slices.DeleteFunc(slices.Clone(f.changes(s)), func(c history.SessionChange) bool { return c.T > t })
	if len(changes) == 0 {
		return phaseUnknown
	}
	last := changes[len(changes)-1]
	cancelled := slices.ContainsFunc(changes, func(c history.SessionChange) bool { return c.Why == record.WhyCancel && c.T >= s.Born })
	switch {
	case cancelled:
		return phaseCancelled
	case last.State != record.SessionEnded && last.State != record.SessionEnding:
		return phaseOpen
	case last.Cut:
		return phaseCut
	case last.Why == record.WhyClose:
		return f.phaseOfClose(s, t)
	case last.Why == record.WhyForget:
		return phaseForgotten
	case last.Why == record.WhyTick:
		return phaseDone
	}
	return phaseFailed
}

// phaseOfClose tells a session that the host called closed from one of which
// it said that it could not close it, or nothing at all.
func (f *facts) phaseOfClose(s *history.Server, t int64) phase {
	for _, st := range slices.Backward(f.steps) {
		if st.Op != record.OpClose || st.Session != s.Session || st.begun > t {
			continue
		}
		if !st.failed() {
			break
		}
		p := phaseUnclosed
		p.took, p.failed = within(f.took(st)), quote(st.Error)
		return p
	}
	return phaseClosed
}

// inFirst is how many of a group were seen at the checkpoint that saw the
// first of them.
func inFirst(group []*breach) (n int) {
	for _, b := range group {
		if b.cp == group[0].cp {
			n++
		}
	}
	return n
}

var flatWords = map[string]string{
	"abandoned": "abandoned", "superseded": "superseded", "init-stranded": "never initialized", "duplicate": "duplicate", "late": "late",
	"not-escalated": "told to end and not killed", "pipe-blocked": "blocked in a write", "eof-withheld": "with a stdin that is held open by a copy", "stopped": "stopped",
	"shielded": "behind a launcher that is gone", "escaped": "in a session of its own",
}

// wordIsPart are the kinds whose word goes before the noun.
var wordIsPart = map[string]bool{"abandoned": true, "superseded": true, "duplicate": true}

var flatTitles = map[string]string{
	"abandoned":     "%s of %s %s still running (%s)",
	"superseded":    "%s of %s %s still running (%s)",
	"init-stranded": "%s of %s that never finished the handshake %s still running (%s)",
	"duplicate":     "%s of %s %s still running (%s)",
	"not-escalated": "%s of %s that had been told to end %s still running (%s)",
	"pipe-blocked":  "%s of %s, blocked in a write that nobody reads, %s still running (%s)",
	"eof-withheld":  "%s of %s, whose stdin an inherited copy holds open, %s still running (%s)",
	"stopped":       "%s of %s, stopped by a signal, %s still there (%s)",
	"shielded":      "%s of %s %s still running behind a launcher that is gone (%s)",
	"escaped":       "%s of %s %s still running in a session of its own (%s)",
}

func tellFlat(f *facts, group []*breach) telling {
	b, n := group[0], len(group)
	word := flatWords[b.kind]
	noun := strings.TrimSpace(word + " server")
	if !wordIsPart[b.kind] {
		noun = "server"
	}
	t := telling{expected: f.flatExpected(b.cp, b.label)}
	alive := 0
	for _, s := range b.cp.alive {
		if s.Label == b.label {
			alive++
		}
	}
	t.found = fmt.Sprintf("%d alive, %d of them %s", alive, inFirst(group), word)
	if b.kind == "late" {
		slowest := int64(0)
		for _, x := range group {
			slowest = max(slowest, x.server.Died-x.cp.begun)
		}
		t.title = fmt.Sprintf("%s of %s went late (%s): up to %s, %s allowed", count(n, noun), plain(b.label), plain(b.when), span(slowest), within(f.header.Limits.Settle))
		t.found += fmt.Sprintf(", gone after up to %s", span(slowest))
		return t
	}
	t.title = fmt.Sprintf(flatTitles[b.kind], count(n, noun), plain(b.label), verb(n, "is", "are"), plain(b.when))
	return t
}

func (f *facts) flatExpected(cp *checkpoint, label string) string {
	want, most := 0, ""
	for _, w := range cp.Wants {
		if w.Label == label {
			want += max(w.Live, 0)
			if w.AtMost {
				most = "at most "
			}
		}
	}
	wanted := count(want, "server")
	if want == 0 {
		wanted, most = "no server", ""
	}
	return fmt.Sprintf("%s%s of %s alive at checkpoint %q, within %s", most, wanted, plain(label), plain(cp.Name), within(f.header.Limits.Settle))
}
