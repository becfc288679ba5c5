// Package doubts says why a run may not be called clean, whatever its laws came to. A doubt follows from the facts of the run;
// what a law has accounted for already is none.
package doubts

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

const never = history.Never

// Told is what the laws have told of a run: what they account for, and what they could not decide.
type Told struct {
	Harmed      map[facts.SessionKey]int64 // when L3 found the session harmed
	Blamed      map[int]bool               // numbers of the steps whose failure a law explains
	Explained   map[*facts.Checkpoint]bool // where a law says why it did not come to rest
	Connections int                        // servers that may be connections of their own
	Daemons     []record.Identity          // processes that went to the background
	Starved     []*breach.Breach           // that took too long on a machine that was starved, where nothing else breaks the same law
	Unjudged    []breach.Unjudged
}

// HarmedBy says that L3 found the session harmed by t.
func (told *Told) HarmedBy(key facts.SessionKey, t int64) bool {
	at, harmed := told.Harmed[key]
	return harmed && at <= t
}

// search is the search for the doubts of one run.
type search struct {
	*facts.Facts
	Told
	servers []*history.Server          // in the order of their births
	split   map[*facts.Checkpoint]bool // where the witnesses do not agree
	found   []record.Doubt
}

func begin(f *facts.Facts, told Told) *search {
	return &search{Facts: f, Told: told, servers: f.Servers(), split: map[*facts.Checkpoint]bool{}, found: []record.Doubt{}}
}

// Of are the reasons why a run may not be called clean. One that was cut short is not blamed for what it could not
// show any more.
func Of(run *facts.Facts, told Told) []record.Doubt {
	f := begin(run, told)
	if !f.Nowhere() {
		f.look()
	}
	f.doubtRecorded()
	return f.found
}

// look looks for all that the bench did not write down itself.
func (f *search) look() {
	cut := f.doubtEnd()
	exited := f.doubtHost()
	if !cut {
		f.doubtLaunches()
		f.doubtControls()
		f.doubtConnections()
		f.doubtUnasked()
		f.doubtDaemons()
		f.doubtOrphans()
		f.doubtTwins()
	}
	if !cut && !exited {
		f.doubtPlan()
		f.doubtSteps()
		f.doubtPurpose()
		f.doubtStarved()
	}
	f.doubtWitnesses()
	if !cut {
		f.doubtAfterEnd()
	}
	if !cut && !exited {
		f.doubtRest()
	}
}

func (f *search) doubt(code record.DoubtCode, format string, args ...any) {
	f.found = append(f.found, record.Doubt{Code: code, Text: fmt.Sprintf(format, args...)})
}

// doubtEnd says how a run that was cut short came to its end.
func (f *search) doubtEnd() (cut bool) {
	if f.Dropped() > 0 {
		f.doubt(record.DoubtMalformed, "an event of the file contradicts earlier ones: %s from there on %s not judged",
			text.Count(f.Dropped(), "event"), text.Choose(f.Dropped(), "is", "are"))
	}
	end := f.End()
	switch {
	case f.Truncated != "":
		f.doubt(record.DoubtTruncated, "the file is not complete: %s", prose.Plain(f.Truncated))
	case end == nil && f.Dropped() == 0:
		f.doubt(record.DoubtTruncated, "the file is not complete: it has no end event")
	}
	switch {
	case !f.CutShort():
		return f.Truncated != "" || end == nil || f.unaskable()
	case end.Reason == record.EndInterrupted:
		f.doubt(record.DoubtInterrupted, "the run was stopped by %s", prose.Plain(cmp.Or(end.Signal, "its user")))
	case end.Stage == record.StageHost:
		f.doubt(record.DoubtHostFailed, "the %s could not be tested: %s", f.Header.Host.Kind.Subject(), prose.Quote(end.Error))
	case end.Stage == record.StageProgram:
		f.doubt(record.DoubtProgramGone, "the run was cut short: %s", prose.Quote(end.Error))
	case end.Stage == record.StageKeeper:
		f.doubt(record.DoubtKeeperLost, "the run was cut short: %s", prose.Quote(end.Error))
	default:
		f.doubt(record.DoubtBenchFailed, "leakbench failed: %s", prose.Quote(end.Error))
	}
	return true
}

// unaskable says that the bench ended the run where it could not ask the host to end.
func (f *search) unaskable() bool {
	return slices.ContainsFunc(f.Doubts(), func(e *record.Event) bool { return e.Doubt.Code == record.DoubtNotAskable })
}

// doubtHost says that the host ended before it was asked to.
func (f *search) doubtHost() (exited bool) {
	for _, h := range f.Hosts() {
		if !facts.EndedUnasked(h) {
			continue
		}
		exited = true
		if !f.CutShort() { // else the bench cut the run short, and the host with it
			f.doubt(record.DoubtHostExited, "%s, so the rest of the scenario was not seen", prose.HostEnd(h, len(f.Hosts()) < 2))
		}
	}
	return exited
}

// doubtLaunches says which servers the host did not launch as often as it had to for the scenario to mean something.
func (f *search) doubtLaunches() {
	_, byLabel := lists.GroupBy(f.servers, func(s *history.Server) string { return s.Label })
	_, bySession := lists.GroupBy(f.servers, facts.SessionOf)
	short := false
	for _, want := range f.Header.Plan.Labels {
		switch n := len(byLabel[want.Label]); {
		case n == 0 && want.Launches > 0:
			short = true
			f.doubt(record.DoubtNotLaunched, "the host never launched %s; the scenario needs %d", prose.Plain(want.Label), want.Launches)
		case n < want.Launches-f.reopened(want.Label) && !f.occupied(want.Label):
			short = true
			f.doubt(record.DoubtNotLaunched, "the host launched %s %s, the scenario needs %d%s",
				prose.Plain(want.Label), text.Count(n, "time"), want.Launches, f.shareable(want.Label, n))
		}
	}
	if len(f.servers) == 0 && !short {
		short = true
		f.doubt(record.DoubtNotLaunched, "the host launched no server at all")
	}
	if short || f.Header.Host.SessionsUnknown() {
		return
	}
	for _, s := range f.Sessions() {
		opened := slices.ContainsFunc(s.Changes, func(c history.SessionChange) bool { return c.State == record.SessionOpen })
		if opened && len(bySession[facts.SessionKey{Label: s.Label, Name: s.Name}]) == 0 {
			f.doubt(record.DoubtNotLaunched, "the host called session %s open, but launched no server for it%s",
				prose.Plain(s.Name), f.shareable(s.Label, len(byLabel[s.Label])))
		}
	}
}

// shareable says of a label that was launched too rarely that its clients may have shared a server, where more of them were served than
// servers launched, or where the host is known to share.
func (f *search) shareable(label string, launched int) string {
	served := 0
	for _, s := range f.Steps() {
		if s.Label == label && s.OK && (s.Op == record.OpOpen || s.Op == record.OpJob) {
			served++
		}
	}
	h := f.Header.Host
	shares := h.Servers == record.Shared || h.Servers == record.Either || h.Profile.Resident+h.Profile.Spare > 0
	if launched == 0 || served <= launched && !shares {
		return ""
	}
	return ". Clients may have been given a server that was already there"
}

// occupied says that a session of the label could not be asked for more: a request of it never ended, and the host takes no cancel.
func (f *search) occupied(label string) bool {
	return slices.ContainsFunc(f.Steps(), func(s *history.Step) bool {
		return s.Label == label && s.Patience > 0 && s.Skipped && !s.Cancelled
	})
}

// reopened is how many launches a host can save that keeps servers on purpose when their sessions end: a session that
// is opened again may get the one it had.
func (f *search) reopened(label string) (n int) {
	if f.Header.Host.Profile.Resident+f.Header.Host.Profile.Spare <= 0 {
		return 0
	}
	for _, s := range f.Sessions() {
		if s.Label != label {
			continue
		}
		for i, c := range s.Changes {
			if i > 0 && c.State == record.SessionOpening && s.Changes[i-1].State == record.SessionEnded && mayKeep[s.Changes[i-1].Why] {
				n++
			}
		}
	}
	return n
}

// mayKeep are the ends of sessions after which a host may keep the server.
var mayKeep = map[record.Why]bool{record.WhyClose: true, record.WhyForget: true}

// doubtPlan says which faults did not fire, and which checkpoints were not reached.
func (f *search) doubtPlan() {
	for _, want := range f.Faults(f.Header.Plan) {
		if n := want.Fired; n < want.Fires {
			when := ""
			switch {
			case want.Launch > 0:
				when = fmt.Sprintf(" (launch %d)", want.Launch)
			case want.Every > 0:
				when = fmt.Sprintf(" (every launch divisible by %d)", want.Every)
			}
			if want.Probability > 0 {
				when += fmt.Sprintf(" with probability %g under seed %d", want.Probability, f.Header.Seed)
			}
			f.doubt(record.DoubtNotFired, "the fault %s of %s%s fired %s, the scenario needs %d",
				prose.FaultName(&record.Fault{On: want.On, Do: want.Do}), prose.Plain(want.Label), when, text.Count(n, "time"), want.Fires)
		}
	}
	reached := map[string]int{}
	for _, cp := range f.Checkpoints {
		if cp.Ended >= 0 && cp.Settled != nil {
			reached[cp.Name]++
		}
	}
	for _, name := range f.Header.Plan.Checkpoints {
		if reached[name]--; reached[name] < 0 {
			f.doubt(record.DoubtNoCheckpoint, "checkpoint %q was not completed", prose.Plain(name))
		}
	}
}

// doubtRest says which checkpoints did not come to rest without any law that says why, and which came to rest only
// because the bench waited longer than the limits allow: then nobody knows what the host would have done in time.
func (f *search) doubtRest() {
	f.doubtStretched()
	for _, cp := range f.Checkpoints {
		if cp.Ended >= 0 && !cp.Quiet && !f.Explained[cp] && !f.split[cp] {
			f.doubt(record.DoubtNotQuiet, "checkpoint %q was not as expected within %s, and no law says why",
				prose.Plain(cp.Name), prose.Span(f.Header.Limits.Settle))
		}
	}
}

// doubtAfterEnd says what the keeper had to end, or reaped, after the last look at what the host had left, and that
// no look had seen; and what was born after the host had gone. Who forks all the time is in no census.
func (f *search) doubtAfterEnd() {
	over, host := never, f.Host()
	for _, cp := range f.Checkpoints {
		if cp.HostGone && cp.Settled != nil {
			over = cp.SettledAt
		}
	}
	if _, all := f.Swept()[host.Identity]; all || over < 0 {
		return
	}
	late := slices.DeleteFunc(slices.Clone(f.Late()), func(p history.Late) bool { return p.T <= over && !f.bornAfter(host, p.Process) })
	if len(late) > 0 {
		f.doubt(record.DoubtAfterEnd,
			"after the host had ended, leakbench adopted or killed %s of the run without having seen %s before; the first was %s at %s",
			text.Count(len(late), "process"), text.Choose(len(late), "it", "them"),
			prose.Process(nil, late[0].Identity, cmp.Or(late[0].Comm, "a process")), prose.Clock(late[0].T))
	}
}

// bornAfter says that a process was born after the host had gone. Only Linux counts starts in ticks of 10 ms.
func (f *search) bornAfter(h *history.Host, p record.Process) bool {
	const tick, blur = int64(10 * time.Millisecond), 3
	return f.Header.System.OS == "linux" && h.Start > 0 && p.Start > h.Start+uint64((h.Exited-h.Started)/tick)+blur
}

// doubtWitnesses says what the ledger and the census do not agree on.
func (f *search) doubtWitnesses() {
	for i := range f.Events() {
		if e := &f.Events()[i]; e.Kind == record.Lost && record.LossReason(e.Text) != record.LostAtEnd {
			f.doubt(record.DoubtLedgerLost, "the ledger lost %s at %s: %s", prose.Plain(e.Server), prose.Clock(e.T), prose.Quote(e.Text))
		}
	}
	said := map[record.Identity]bool{}
	once := func(cp *facts.Checkpoint, id record.Identity, format string, args ...any) {
		if f.split[cp] = true; !said[id] {
			said[id] = true
			f.doubt(record.DoubtDisagree, "at checkpoint %q "+format, append([]any{prose.Plain(cp.Name)}, args...)...)
		}
	}
	for _, cp := range f.Checkpoints {
		if cp.Settled == nil {
			continue
		}
		for _, s := range f.unseen(cp) {
			once(cp, s.Birth.Identity, "the ledger holds %s (pid %d) for alive, the census does not see it", prose.Plain(s.ID), s.Birth.PID)
		}
		for _, p := range f.unborn(cp) {
			once(cp, p.Identity, "the census sees a fake server (pid %d) that never reported to the ledger", p.PID)
		}
	}
}

// dying is how long the ledger may hold a process for alive that has ended.
const dying = 3 * time.Second

// unseen are the servers that only the ledger holds for alive.
func (f *search) unseen(cp *facts.Checkpoint) []*history.Server {
	if !f.Header.Witness.Subreaper {
		return nil // what the host orphans is out of the census' sight
	}
	return slices.DeleteFunc(slices.Clone(cp.Alive), func(s *history.Server) bool {
		id := s.Birth.Identity
		young := s.Born > cp.SettledAt-f.Blur()
		dies := s.Died >= 0 && s.Died <= cp.SettledAt+f.Scaled(dying, cp.SettledAt)
		return young || dies || cp.SettledRows.Alive(id) || cp.ConfirmRows.Alive(id)
	})
}

// unborn are the fake servers that only the census sees. One that was being
// launched may be ahead of its certificate: it is looked at twice.
func (f *search) unborn(cp *facts.Checkpoint) []record.Process {
	return slices.DeleteFunc(slices.Clone(cp.Settled.Processes), func(p record.Process) bool {
		return p.State == record.StateZombie || !history.IsServer(&p, f.Header.ID) || f.ServerOf(p.Identity) != nil ||
			cp.Confirm != nil && !cp.ConfirmRows.Alive(p.Identity)
	})
}
