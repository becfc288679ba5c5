package doubts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// doubtSteps says which steps did not do what the scenario needs, where no law says why.
func (f *search) doubtSteps() {
	f.doubtSkipped()
	f.doubtUnplayed()
	f.doubtUnseenCalls()
	f.doubtCrossedCalls()
	for _, s := range f.Steps() {
		if s.Ended < 0 || s.Skipped {
			continue
		}
		switch {
		case s.Uncut && !f.accounted(s):
			f.doubt(record.DoubtNoCancel, "%s ended before it could be cancelled%s", prose.StepName(s), with(s.Answer))
		case s.MustWork() && !s.OK && !f.accounted(s):
			f.doubt(record.DoubtStepFailed, "%s failed, and no law says why: %s%s", prose.StepName(s), prose.Quote(s.Error), f.faultDuring(s))
		case s.Expect == record.ExpectFail && s.OK:
			f.doubt(record.DoubtStepFailed,
				"%s succeeded%s, although the scenario relies on its failure. If an answer is right here, write expect: any in the scenario",
				prose.StepName(s), with(s.Answer))
		}
	}
}

// with quotes the answer to a step; "" where the file has none.
func with(answer string) string {
	if answer == "" {
		return ""
	}
	return " with: " + prose.Quote(answer)
}

// doubtSkipped says what the host can't do, or can't be asked to. That it has no time limit of its own is neither: the step was played.
func (f *search) doubtSkipped() {
	type skip struct {
		op  record.Op
		why string
	}
	skipped := slices.DeleteFunc(slices.Clone(f.Steps()), func(s *history.Step) bool {
		return !s.Skipped || s.Unasked || s.Patience > 0 || s.NotPlayed
	})
	keys, groups := lists.GroupBy(skipped, func(s *history.Step) skip { return skip{s.Op, s.Error} })
	for _, key := range keys {
		n := len(groups[key])
		f.doubt(record.DoubtStepSkipped, "%s %q %s skipped: %s",
			text.Count(n, "step"), prose.Plain(key.op), text.Choose(n, "was", "were"), prose.Quote(key.why))
	}
}

// doubtUnplayed says which calls the driver had no way to make: what the host does by itself in a call was not seen.
func (f *search) doubtUnplayed() {
	left := slices.DeleteFunc(slices.Clone(f.Steps()), func(s *history.Step) bool { return !s.Skipped || !s.NotPlayed })
	keys, groups := lists.GroupBy(left, func(s *history.Step) string { return s.Error })
	for _, why := range keys {
		f.doubt(record.DoubtCallNotPlayed, "%s (%s left out)", text.Clip(text.Printable(why), maxWhy, "…"), text.Count(len(groups[why]), "call"))
	}
}

// maxWhy caps the sentence of a driver that says why it makes no call.
const maxWhy = 300

// doubtUnseenCalls compares the two sides of a session's calls: what the host says was answered, its servers must have received.
func (f *search) doubtUnseenCalls() {
	if f.Header.Host.Kind == record.KindOneshot {
		return // what its command calls is its own business
	}
	var answered []facts.SessionKey
	for _, s := range f.Steps() {
		key := facts.KeyOf(s)
		switch {
		case s.Op != record.OpCall && s.Op != record.OpJob, s.Ended < 0, s.Skipped, !s.OK, s.Expect == record.ExpectFail:
		case s.Op == record.OpJob && s.Detail == record.DetailProbe:
			f.doubtUnseenProbe(key)
		default:
			answered = append(answered, key)
		}
	}
	keys, groups := lists.GroupBy(answered, func(key facts.SessionKey) facts.SessionKey { return key })
	for _, key := range keys {
		n := len(groups[key])
		if received, known := f.CallsReceived(key); known && received < n {
			f.doubt(record.DoubtCallNotSeen, "the host says that %s of session %s %s answered, but its servers received %d",
				text.Count(n, "call"), prose.Plain(key.Name), text.Choose(n, "was", "were"), received)
		}
	}
}

// doubtCrossedCalls compares whose each call was with whose server has received it.
func (f *search) doubtCrossedCalls() {
	if f.Header.Host.SessionsUnknown() {
		return
	}
	whose := map[string]*history.Step{}
	for _, s := range f.Steps() {
		whose[strconv.Itoa(s.N)] = s
	}
	for _, srv := range f.servers {
		for _, c := range srv.Calls {
			if s := whose[c.Nonce]; s != nil && srv.Session != "" && (s.Session != srv.Session || s.Label != srv.Label) {
				f.doubt(record.DoubtCrossedCall, "%s was received by %s, which is a server of session %s",
					prose.StepName(s), prose.Plain(srv.ID), prose.Plain(srv.Session))
			}
		}
	}
}

// doubtUnseenProbe asks for a handshake where a host says that it has looked at
// a server: which requests it sends is its own business.
func (f *search) doubtUnseenProbe(key facts.SessionKey) {
	for _, srv := range f.servers {
		if srv.Label == key.Label && (srv.Lost >= 0 || srv.Session == key.Name && srv.Established >= 0 || len(srv.CallsFor(key.Name)) > 0) {
			return
		}
	}
	f.doubt(record.DoubtCallNotSeen, "the host says that it has checked %s for session %s, but no server of it saw a handshake",
		prose.Plain(key.Label), prose.Plain(key.Name))
}

// accounted says that a law, or the host's end, accounts for a failed step.
func (f *search) accounted(s *history.Step) bool {
	if f.Blamed[s.N] {
		return true
	}
	if h := f.HostAt(s.Begun); h.AskedAt >= 0 && s.Ended >= h.AskedAt && !s.Op.EndsHost() && s.Op != record.OpStart {
		return true
	}
	if f.HarmedBy(facts.KeyOf(s), f.NotedBy(s.Ended)) || f.neverOpened(s) {
		return true
	}
	return f.harmedDuring(s) || len(f.Harmed) > 0 && f.signalledDuring(s)
}

// harmedDuring says that a session was harmed while a step went on. A reload, or a tick, is about several sessions; and of two that a
// sweep has hit, one may have been at a point where its harm can't be told from the host's own doing.
func (f *search) harmedDuring(s *history.Step) bool {
	for key, t := range f.Harmed {
		if (s.Session == "" || key.Label == s.Label) && t >= s.Begun && t <= f.NotedBy(s.Ended) {
			return true
		}
	}
	return false
}

// signalledDuring says that a server of the step's session caught a signal in the course of it, with its stdin still
// open. Of a host that has been seen to signal what is not its to end, that is one more such signal: it has met a
// server whose session was not live yet.
func (f *search) signalledDuring(s *history.Step) bool {
	return s.Session != "" && slices.ContainsFunc(f.servers, func(srv *history.Server) bool {
		signal, first := facts.SignalFirst(srv)
		return first && facts.SessionOf(srv) == facts.KeyOf(s) && signal.T >= s.Begun && signal.T <= f.NotedBy(s.Ended)
	})
}

// neverOpened says that a step is about a session whose open had failed, and should not have: that is told of the open.
func (f *search) neverOpened(s *history.Step) bool {
	if s.Op == record.OpOpen || s.Session == "" {
		return false
	}
	for _, o := range slices.Backward(f.Steps()) {
		if o.Op == record.OpOpen && o.Session == s.Session && o.Label == s.Label && o.Ended >= 0 && o.Ended <= s.Begun && !o.Skipped {
			return o.MustWork() && !o.OK
		}
	}
	return false
}

// faultDuring says which fault a server of the session committed meanwhile.
func (f *search) faultDuring(s *history.Step) string {
	for _, srv := range f.servers {
		if srv.Label != s.Label || s.Session != "" && srv.Session != s.Session {
			continue
		}
		for i := range srv.Faults {
			if fault := &srv.Faults[i]; fault.T >= s.Begun && fault.T <= s.Ended {
				return fmt.Sprintf(" (meanwhile %s committed its fault %s)", prose.Plain(srv.ID), prose.FaultName(&fault.Fault))
			}
		}
	}
	return ""
}

// maxRecorded caps how many doubts of one code are told one by one.
const maxRecorded = 5

// doubtRecorded passes on what the bench wrote down itself.
func (f *search) doubtRecorded() {
	seen, perCode := map[record.Doubt]bool{}, map[record.DoubtCode]int{}
	var more []record.DoubtCode
	for _, e := range f.Doubts() {
		if seen[*e.Doubt] {
			continue
		}
		seen[*e.Doubt] = true
		code := record.DoubtCode(prose.Plain(cmp.Or(e.Doubt.Code, record.DoubtUnnamed)))
		if perCode[code]++; perCode[code] <= maxRecorded {
			f.found = append(f.found, record.Doubt{Code: code, Text: e.Doubt.Text})
		} else if perCode[code] == maxRecorded+1 {
			more = append(more, code)
		}
	}
	for _, code := range more {
		f.doubt(code, "and %d more of this kind", perCode[code]-maxRecorded)
	}
}
