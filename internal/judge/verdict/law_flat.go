package verdict

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeFlat is L1: at a checkpoint the live servers of a session are its newest ones, and no other.
func judgeFlat(f *casefile) LawResult {
	settle := prose.Span(f.Header.Limits.Settle)
	r := LawResult{Expected: "only the newest server of each open session alive, " + settle + " after a checkpoint begins"}
	if n := f.Header.Host.Profile.Resident + f.Header.Host.Profile.Spare; n > 0 {
		r.Expected += fmt.Sprintf("; up to %d of each label kept on purpose, as the host's profile declares", n)
	}
	extras, strays := map[string]bool{}, map[record.Identity]bool{}
	for _, cp := range f.Checkpoints {
		if cp.HostGone || cp.Settled == nil || !f.HostAlive(cp.SettledAt) {
			continue
		}
		r.Values = append(r.Values, fmt.Sprintf("%s: %d alive, %d of them should be gone", prose.Plain(cp.Name), len(cp.Alive), len(cp.Extra)))
		for _, s := range cp.Extra {
			if f.HostOf(s) == f.HostAt(cp.SettledAt) { // L2 has the others
				f.extraAt(cp, s, extras)
			}
		}
		f.judgeStrays(cp, strays)
	}
	f.judgeGhosts(extras)
	r.Found = "none at " + text.Count(len(r.Values), "checkpoint")
	if n := len(extras); n > 0 {
		r.Found = text.Count(n, "server") + " that should have been gone"
	} else if n := len(strays); n > 0 {
		r.Found = "no server, and " + text.Count(n, "other process") + " that should have been gone"
	}
	if len(r.Values) == 0 {
		r.Reason = "no checkpoint was completed while the host lived"
	}
	f.judgeRise(&r)
	return r
}

// extraAt reports a server that a checkpoint has found and that should have been gone, unless it was told of.
func (f *casefile) extraAt(cp *facts.Checkpoint, s *history.Server, told map[string]bool) {
	if f.isConnection(cp, s) {
		f.Explained[cp] = true
		return
	}
	if !told[s.ID] && f.vouched(cp, s) {
		told[s.ID] = true
		if b := f.flatBreach(cp, s); b.Kind == "late" {
			f.Late(b, breach.Took{From: cp.Begun, To: s.Died, Limit: f.Header.Limits.Settle.D()})
		} else {
			f.Broken(b)
		}
	}
	f.Explained[cp] = f.Explained[cp] || told[s.ID]
}

// vouched says that the census saw the server too, or can't be asked: without
// a subreaper, what the host orphans is not below the keeper.
func (f *casefile) vouched(cp *facts.Checkpoint, s *history.Server) bool {
	return !f.Header.Witness.Subreaper || cp.SettledRows.Alive(s.Birth.Identity) || cp.ConfirmRows.Alive(s.Birth.Identity)
}

func (f *casefile) flatBreach(cp *facts.Checkpoint, s *history.Server) *breach.Breach {
	b := &breach.Breach{
		Law: "L1", Label: s.Label, Server: s, Checkpoint: cp, Evidence: cp.EvidenceOn(s.Birth.Identity), At: []int64{s.Born, cp.SettledAt},
	}
	lost := f.loss(cp, s)
	b.Kind, b.Cause, b.When, b.Fix = lost.kind, lost.cause, lost.when, lost.fix
	b.Was = lost.was
	if kind, why := f.flatHold(cp, s, b.Evidence); kind != "" {
		if b.Was.Kind = kind; b.Was.Cause != "" {
			b.Was.Cause = b.Was.Cause.As(kind)
		}
		if row := cp.SettledRows[s.Birth.Identity]; kind == "shielded" && row != nil && f.WasEscaped(s, *row) {
			b.Was.Kind, b.Was.Cause = "escaped", b.Cause.As("escaped")
		}
		b.Kind, b.Cause, lost.head = kind, b.Cause.As(kind), prose.Paragraph(lost.head, why)
	}
	seen := f.seenFlat(b, cp, &lost.head)
	b.SawServer(s, s.Session, seen...)
	says, like := prose.Survivor(s, b.Evidence, cp.SettledAt, prose.Known{Signals: f.Signals()})
	b.Narrative, b.Like = prose.Paragraph(lost.head, says, f.describeLockout(s), f.control(s)), like
	return b
}

// seenFlat says what was seen of a server that should have been gone. One that ended after all is late.
func (f *casefile) seenFlat(b *breach.Breach, cp *facts.Checkpoint, head *string) (seen []string) {
	s, until := b.Server, cp.WatchedUntil
	if s.Died >= 0 && s.Died <= until && b.Kind != "ghost" && cp.Watched() {
		if b.Was.Cause != "" {
			b.Was.Kind, b.Was.Cause = "late", b.Was.Cause.As(b.Was.Kind)
		}
		b.Kind, b.Cause, b.When = "late", b.Cause.As(b.Kind), b.Kind+", "+b.When
		seen = append(seen, "gone "+prose.Span(s.Died-cp.Begun)+" after the checkpoint began")
		b.At = append(b.At, s.Died)
	} else {
		seen = append(seen, "still running "+prose.Span(until-cp.Begun)+" after the checkpoint began")
		f.giveUp(b, cp, head)
		if s.Died >= 0 {
			seen = append(seen, "gone "+f.when(s.Died))
		}
	}
	if b.Evidence != nil && b.Evidence.RSS > 0 {
		seen = append(seen, prose.Mebibytes(b.Evidence.RSS))
	}
	return seen
}

// when is a moment, as far as it matters for a server that should have gone long ago.
func (f *casefile) when(t int64) string {
	if h := f.HostAt(t); h.Exited >= 0 && t > h.Exited+int64(1e8) {
		return prose.Span(t-h.Exited) + " after the host"
	}
	if !f.OnWatch(t) {
		return "only with the host"
	}
	return "at " + prose.Clock(t)
}

// flatHold says what else keeps a server that the host lost, or "".
func (f *casefile) flatHold(cp *facts.Checkpoint, s *history.Server, e *record.Evidence) (kind, why string) {
	if kind = f.Hold(s, e, cp.SettledAt); kind != "" {
		return kind, ""
	}
	if kind, why = f.OutlivedLauncher(cp, s); kind != "" {
		return kind, why
	}
	if toldToEnd(s, cp.SettledAt-f.Blur()) {
		return "not-escalated", ""
	}
	return "", ""
}

// loss is in which way the host lost a server that should be gone.
type loss struct {
	kind  string
	cause record.Cause
	when  string // the cause in a title
	head  string
	fix   string // where the kind's does not fit

	was breach.Was
}

// lostBy is a loss whose cause has its words in the catalogue.
func lostBy(kind string, cause record.Cause, values law.Values) loss {
	c := law.CauseOf(cause)
	return loss{kind: kind, cause: cause, when: c.Text, head: prose.Sentence(law.Fill(c.Narrative, 1, values))}
}

func (f *casefile) loss(cp *facts.Checkpoint, s *history.Server) loss {
	fault, next := breakingFault(s), f.successor(cp, s)
	if !facts.Established(s, cp.SettledAt) {
		return stranded(s, fault)
	}
	l := f.lossOf(cp, s, next, fault)
	if since := f.LaunchedInVain(s, 0); since >= 0 && !f.LaunchesAhead() {
		return f.inVain(s, since, l)
	}
	return l
}

// lossOf is the loss of an established server that was launched while its session was not over.
func (f *casefile) lossOf(cp *facts.Checkpoint, s, next *history.Server, fault *record.Fault) loss {
	if f.Header.Host.Servers == record.PerSession && s.Session == "" && len(s.Calls) == 0 {
		return f.unused(cp, s, next)
	}
	if next != nil && f.isDuplicate(s, next) {
		return probeFix(sideBySide(s, next, "and the host did not end "+prose.Plain(s.ID)), s, next)
	}
	if twin := f.twin(cp, s); twin != nil {
		return probeFix(sideBySide(twin, s, "and the host ended the other one alone"), s)
	}
	l, ended := f.endedFirst(s, next, fault)
	switch {
	case ended:
		return l
	case next == nil || !s.BrokenBy(next.Born) && f.TellsNothing():
		return f.abandonedBy(s, cp.SettledAt)
	case s.BrokenBy(next.Born):
		return loss{
			kind: "superseded", cause: record.CauseAfterFault(fault), when: "after " + prose.FaultName(fault),
			head: prose.Sentence(fmt.Sprintf(
				"The session of %s had ended by its fault (%s); %s took its place %s later, but the old process was dropped without being ended",
				prose.Plain(s.ID), prose.FaultName(fault), prose.Plain(next.ID), prose.Span(max(next.Born-s.Broken, 0)))),
		}
	}
	return lostBy("superseded", f.replacedBy(s, next), law.Values{"server": prose.Plain(s.ID), "next": prose.Plain(next.ID)})
}

// replacedBy is why the host launched another server for a session.
func (f *casefile) replacedBy(s, next *history.Server) record.Cause {
	return cmp.Or(f.OpenedAnew(s, next), record.CauseReconnect)
}

// endedFirst is the loss of a server whose session was over before next took its place.
func (f *casefile) endedFirst(s, next *history.Server, fault *record.Fault) (l loss, ended bool) {
	until := f.EndedBefore(s, next)
	if until < 0 {
		return loss{}, false
	}
	l = f.abandonedBy(s, until)
	l.was = breach.Was{Kind: "superseded", Cause: f.replacedBy(s, next)}
	if !s.BrokenBy(next.Born) {
		return l, true
	}
	l.was.Cause = record.CauseAfterFault(fault)
	// A server that refuses a list works on: its session ends when the host gives the open up, and not by the fault.
	return l, l.cause == record.CauseOpenFailed && fault.Do == "reject"
}

// unused is the loss of a server that no client of a gateway has used: nothing is known of a connection that another replaced, or of
// which it is a second.
func (f *casefile) unused(cp *facts.Checkpoint, s, next *history.Server) loss {
	l := f.abandonedBy(s, cp.SettledAt)
	l.fix = fmt.Sprintf(
		"No client has called %s. End a server that no client uses, also one that was launched for a client which has gone, or that "+
			"a newer one has replaced. If the host keeps servers ready for the next client on purpose, declare how many: spare: 1.",
		prose.Plain(s.ID))
	switch {
	case next != nil && f.isDuplicate(s, next):
		l.was = breach.Was{Kind: "duplicate", Cause: record.CauseSideBySide}
	case next != nil:
		l.was = breach.Was{Kind: "superseded", Cause: f.replacedBy(s, next)}
	}
	return l
}

// abandonedBy is the loss of a server whose session had ended by t.
func (f *casefile) abandonedBy(s *history.Server, t int64) loss {
	cause, refused := f.HowEnded(s, t)
	values := law.Values{"session": prose.Plain(s.Session), "server": prose.Plain(s.ID)}
	if refused != nil {
		values["took"], values["error"] = prose.Span(f.took(refused)), prose.Quote(refused.Error)
	}
	l := lostBy("abandoned", cause, values)
	unreached := len(s.Calls) == 0
	switch {
	case cause == record.CauseOpenFailed:
		kind := law.KindOf("init-stranded")
		l.fix = kind.FixOn(f.Header.System.OS)
	case cause == record.CauseCallTimedOut && unreached, cause == record.CauseCallCancelled && unreached:
		l.head = fmt.Sprintf("Session %s was cut off (%s), and the host did not end %s, which no call had reached.",
			values["session"], l.when, values["server"])
	}
	return l
}

func stranded(s *history.Server, fault *record.Fault) loss {
	l := loss{kind: "init-stranded", cause: record.CauseNoFault, when: law.CauseOf(record.CauseNoFault).Text}
	what := "never finished a handshake"
	switch {
	case fault != nil:
		l.cause, l.when = record.CauseOfFault(fault), prose.FaultName(fault)
		what = "never finished the handshake (its fault: " + prose.FaultName(fault) + ")"
	case s.Inits == 0:
		what = "was launched and never asked to initialize"
	}
	l.head = prose.Sentence(fmt.Sprintf("%s %s, and the host did not end its process when the connect was over", prose.Plain(s.ID), what))
	return l
}

func sideBySide(a, b *history.Server, and string) loss {
	return lostBy("duplicate", record.CauseSideBySide,
		law.Values{"server": prose.Plain(a.ID), "next": prose.Plain(b.ID), "gap": prose.Span(b.Born - a.Born), "and": and})
}

// probeFix has another advice where one of the servers is a probe: it was asked
// for its list or its era, has answered, and got no call.
func probeFix(l loss, servers ...*history.Server) loss {
	for _, s := range servers {
		if len(s.Calls) == 0 && s.LastRPC.Phase == record.PhaseAnswered && s.LastRPC.Method != record.MethodInitialize {
			l.fix = fmt.Sprintf(
				"%s was asked %s, answered, and was asked nothing more, so it was probably a probe. "+
					"End a probe as soon as it has answered, with the same steps as any server, and wait for its exit; "+
					"or ask the session's own server.", prose.Plain(s.ID), prose.Plain(s.LastRPC.Method))
		}
	}
	return l
}

// twin is an older server that was launched for the same connection as s, and that the host had for as long as the connection was
// to last: the one that it knew of, and ended, or nil. That s is there is then not the fault of how the connection ended.
func (f *casefile) twin(cp *facts.Checkpoint, s *history.Server) *history.Server {
	over := cp.SettledAt
	for _, c := range f.Changes(s) {
		if c.T > s.Born && c.State != record.SessionOpen {
			over = min(over, c.T)
		}
	}
	for _, other := range f.servers {
		if other == s {
			break
		}
		same := other.Session != "" && other.SharesSession(s)
		if same && !history.By(other.Died, over-1) && facts.Established(other, over) && (f.isDuplicate(other, s) || history.Rivals(other, s)) {
			return other
		}
	}
	return nil
}

// successor is the next server that the host launched for the same session by the time of the checkpoint, or nil.
// Where sessions are unknown, a label is one.
func (f *casefile) successor(cp *facts.Checkpoint, s *history.Server) *history.Server {
	younger := false
	for _, other := range f.servers {
		if younger && other.SharesSession(s) && other.Born <= cp.SettledAt {
			return other
		}
		younger = younger || other == s
	}
	return nil
}

// isDuplicate says that both were launched for one connection, with nothing wrong with the first.
func (f *casefile) isDuplicate(s, next *history.Server) bool {
	if s.BrokenBy(next.Born) {
		return false
	}
	if s.Session == "" {
		return next.Born-s.Born < int64(history.SameMoment) && !f.TellsNothing()
	}
	return f.OpenedAnew(s, next) == ""
}

// inFirst is how many of a group were seen at the checkpoint that saw the first of them.
func inFirst(group []*breach.Breach) (n int) {
	for _, b := range group {
		if b.Checkpoint == group[0].Checkpoint {
			n++
		}
	}
	return n
}

func describeFlat(f *casefile, group []*breach.Breach, d *description) {
	b := group[0]
	switch b.Kind {
	case "process-growth":
		return
	case "ghost":
		describeGhosts(f, group, d)
		return
	}
	alive, slowest := 0, int64(0)
	for _, s := range b.Checkpoint.Alive {
		if s.Label == b.Label {
			alive++
		}
	}
	for _, x := range group {
		if x.Server != nil {
			slowest = max(slowest, x.Server.Died-x.Checkpoint.Begun)
		}
	}
	d.values["alive"], d.values["seen"] = strconv.Itoa(alive), strconv.Itoa(inFirst(group))
	d.values["slowest"], d.values["wanted"] = prose.Span(slowest), f.wantedOf(b.Checkpoint, b.Label)
}

// wantedOf is how many servers of a label a checkpoint wants.
func (f *casefile) wantedOf(cp *facts.Checkpoint, label string) string {
	want, most := 0, ""
	for _, w := range cp.Wants {
		if w.Label == label {
			want += max(w.Live, 0)
			if w.AtMost {
				most = "at most "
			}
		}
	}
	if want == 0 {
		return "no server"
	}
	return most + text.Count(want, "server")
}

// breakingFault is the fault that made it useless, or nil.
func breakingFault(s *history.Server) *record.Fault {
	if mark := s.Break(); mark != nil {
		return &mark.Fault
	}
	return nil
}

// toldToEnd says that a server had been told to end by t, in a way that it saw.
func toldToEnd(s *history.Server, t int64) bool {
	return history.By(s.EOF, t) || signalled(s, t)
}

// signalled says that a server had caught a signal by t.
func signalled(s *history.Server, t int64) bool {
	return len(s.Signals) > 0 && s.Signals[0].T <= t
}

// control compares a survivor with its control. s may be nil.
func (f *casefile) control(s *history.Server) string {
	if s == nil {
		return ""
	}
	return prose.Control(s, f.Controls()[s.Label])
}
