package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeShutdown is L8: closing a session, and ending the host, take no longer than they may.
func judgeShutdown(f *casefile) LawResult {
	l := f.Header.Limits
	r := LawResult{Expected: fmt.Sprintf("each close within %s, the host's stop within %s", prose.Span(l.Close), prose.Span(l.Stop))}
	var slowest record.Duration
	judged := 0
	for _, s := range f.Steps() {
		if s.Op == record.OpJob && s.Limit > 0 && s.Ended >= 0 {
			judged++
			f.judgeCommand(s)
		}
		if limit, ok := shutdownLimit(l, &s.Step); ok && !s.Skipped && limit > 0 {
			judged++
			slowest = max(slowest, f.took(s))
			f.judgeEnd(s, limit)
		}
	}
	f.stuckWith()
	switch {
	case judged == 0:
		r.Reason = "nothing was closed or stopped"
	case judged == 1:
		r.Found = "one, which took " + prose.Span(slowest)
	case slowest == 0:
		r.Found = text.Count(judged, "command")
	default:
		r.Found = fmt.Sprintf("%d, the slowest took %s", judged, prose.Span(slowest))
	}
	return r
}

// judgeEnd judges a step that ends something and may take so long.
func (f *casefile) judgeEnd(s *history.Step, limit record.Duration) {
	took := f.took(s)
	kind := f.shutdownKind(s, took, limit)
	if kind == "" {
		return
	}
	f.Blamed[s.N] = true
	b := f.shutdownBreach(s, kind, took, limit)
	if i := slices.IndexFunc(f.Breaches, func(o *breach.Breach) bool { return kind == "hung-stop" && o.Kind == kind }); i >= 0 {
		b.Was, b.Cause = breach.Was{Kind: kind, Cause: b.Cause}, f.Breaches[i].Cause // it does not end, whichever way it is asked
	}
	switch {
	case strings.HasPrefix(kind, "slow-"):
		f.Late(b, breach.Took{From: s.Begun, To: s.Ended, Limit: limit.D()})
	case kind == "hung-stop" && f.Excused(s.Begun, max(s.Ended, s.Begun)) > int64(limit)/2:
		// The bench waits no longer than the limit, half of which the run may have spent waiting for a processor.
		f.Excuse(b, s.Begun, s.Ended)
	default:
		f.Broken(b)
	}
}

// shutdownLimit is how long a step may take, for those that end something in
// an orderly way: a session, the host, or a call whose time has run out.
func shutdownLimit(l record.Limits, s *record.Step) (record.Duration, bool) {
	switch s.Op {
	case record.OpCall, record.OpList:
		return s.Limit + l.Close, s.Limit > 0
	case record.OpClose:
		return l.Close, true
	case record.OpStop, record.OpTerm:
		return cmp.Or(s.Grace, l.Stop), true
	}
	return 0, false
}

// took is how long a step took, to the end of the file for one without end.
func (f *casefile) took(s *history.Step) record.Duration {
	if s.Ended < 0 {
		return record.Duration(f.Last() - s.Begun)
	}
	return record.Duration(s.Ended - s.Begun)
}

func (f *casefile) shutdownKind(s *history.Step, took, limit record.Duration) string {
	what := record.OpStop
	switch s.Op {
	case record.OpClose:
		what = s.Op
	case record.OpCall, record.OpList: // either is a request that the host was to give up
		what = record.OpCall
	}
	interrupted := f.CutShort() && !s.OK
	switch {
	case took <= limit && (what != record.OpStop || !f.killedFor(s)):
		return ""
	case what == record.OpCall:
		if h := f.HostAt(s.Begun); interrupted || h.Exited >= 0 && h.Exited <= s.Begun+int64(limit) {
			return ""
		}
		return "hung-call"
	case s.OK:
		return "slow-" + string(what)
	case interrupted:
		return "" // the bench cut it short
	}
	return "hung-" + string(what)
}

// killedFor says that the bench had to kill the host that this step had asked to end: it waits no longer than the limit.
func (f *casefile) killedFor(s *history.Step) bool {
	h := f.HostAt(s.Begun)
	return s.Failed() && h.Exited >= s.Begun && h.Exit.Signal == "SIGKILL"
}

func (f *casefile) shutdownBreach(s *history.Step, kind string, took, limit record.Duration) *breach.Breach {
	b := &breach.Breach{
		Law: "L8", Kind: kind, Label: s.Label, Cause: record.CauseOfStep(&s.Step), Step: s, At: []int64{s.Begun, max(s.Ended, s.Begun)},
		Took: breach.Took{From: s.Begun, To: s.Begun + int64(took), Limit: limit.D()}, Like: kind,
		Value: fmt.Sprintf("%s: %s, %s allowed", prose.StepName(s), prose.Span(took), prose.Span(limit)),
	}
	if s.Ended < 0 {
		b.Value = fmt.Sprintf("%s: not finished after %s, %s allowed", prose.StepName(s), prose.Span(took), prose.Span(limit))
	}
	if s.Error != "" {
		b.Value += ": " + prose.Quote(s.Error)
	}
	if b.Narrative = f.shutdownNarrative(s); kind == "hung-call" {
		b.Narrative = f.callNarrative(s)
	}
	return b
}

// shutdownNarrative is how the servers that the step had to end were ended.
func (f *casefile) shutdownNarrative(s *history.Step) string {
	var ladder []string
	lastGone := int64(0)
	for _, srv := range f.servers {
		if f.meantBy(s, srv) {
			if srv.Died < 0 {
				lastGone = never
			} else if lastGone >= 0 {
				lastGone = max(lastGone, srv.Died)
			}
			ladder = append(ladder, prose.Sentence(fmt.Sprintf("%s %s", prose.Process(srv, srv.Birth.Identity, ""), prose.Ladder(srv, s.Begun))))
		}
	}
	const most = 3
	if more := len(ladder) - most; more > 0 {
		ladder = append(ladder[:most], fmt.Sprintf("%d more had to be ended.", more))
	}
	switch {
	case len(ladder) == 0:
		ladder = []string{"No server was alive that it had to wait for."}
	case lastGone >= 0 && s.Ended-lastGone > int64(time.Second):
		ladder = append(ladder,
			fmt.Sprintf("The %s went on for %s after that, so it was not waiting for the server.", prose.Plain(s.Op), prose.Span(s.Ended-lastGone)))
	}
	return prose.Paragraph(ladder...)
}

// callNarrative is what the server of the call was doing meanwhile.
func (f *casefile) callNarrative(s *history.Step) string {
	outcome := "It had not come back when the bench gave it up."
	if s.Ended >= 0 && s.OK {
		outcome = "It was answered after all."
	}
	for _, srv := range slices.Backward(f.servers) {
		there := facts.SessionOf(srv) == facts.KeyOf(s) && srv.LivedAt(s.Begun)
		if !there {
			continue
		}
		word := prose.Process(srv, srv.Birth.Identity, "") + " was its server"
		for i := range srv.Faults {
			if fault := &srv.Faults[i]; fault.T <= s.Ended && fault.Breaks {
				word += ", which had committed its fault " + prose.FaultName(&fault.Fault)
			}
		}
		return prose.Paragraph(fmt.Sprintf("The %s had a timeout of %s, which the host itself has to keep.", s.Op, prose.Span(s.Limit)),
			outcome, prose.Sentence(word))
	}
	return prose.Paragraph(outcome, "No server of the session was alive when it began.")
}

// meantBy says that the step had to end the server.
func (f *casefile) meantBy(s *history.Step, srv *history.Server) bool {
	there := srv.Born <= s.Begun && (srv.Died < 0 || srv.Died >= s.Begun) && srv.Lost < 0
	return there && (s.Op != record.OpClose || facts.SessionOf(srv) == facts.KeyOf(s))
}

// stuckWith accounts for the steps of a session that failed beside a call of it that did not come back.
func (f *casefile) stuckWith() {
	for _, s := range f.Steps() {
		stuck := slices.ContainsFunc(f.Breaches, func(b *breach.Breach) bool {
			return b.Kind == "hung-call" && b.Step.Session == s.Session && b.Step.Begun <= s.Begun
		})
		if stuck && s.Failed() && (s.Op == record.OpCall || s.Op == record.OpList) {
			f.Blamed[s.N] = true
		}
	}
}

func describeShutdown(f *casefile, group []*breach.Breach, d *description) {
	b := group[0]
	limit, _ := shutdownLimit(f.Header.Limits, &b.Step.Step)
	if b.Kind == hungCommand {
		limit = b.Step.Limit
	}
	d.values["limit"] = prose.Span(limit)
	if b.Label != "" {
		d.values["of"] = " of " + prose.Plain(b.Label)
	}
}

const hungCommand = "hung-command"

// judgeCommand reports the command of a job that did not exit: what it waits for, and what is still there below it.
func (f *casefile) judgeCommand(s *history.Step) {
	if len(s.Keeps) == 0 {
		return
	}
	f.Blamed[s.N] = true
	command := &s.Keeps[0]
	says, like := prose.Waits(command)
	sentences := []string{fmt.Sprintf("The command: %s.", prose.Quote(strings.Join(command.Args, " "))), says}
	for i := range s.Keeps[1:] {
		e := &s.Keeps[1+i]
		word, alike := prose.Survivor(f.ServerOf(e.Identity), e, s.Ended, prose.Known{Signals: f.Signals()})
		sentences, like = append(sentences, "Below it: "+word), like+alike
	}
	if len(s.Keeps) == 1 {
		sentences = append(sentences, "No process is left below it: it waits for itself, or for something that it does not launch.")
	}
	f.Broken(&breach.Breach{
		Law: "L8", Kind: hungCommand, Label: s.Label, Cause: record.CauseOfStep(&s.Step), Step: s, At: []int64{s.Begun, s.Ended}, Like: like,
		Evidence: command, Narrative: prose.Paragraph(sentences...),
		Value: fmt.Sprintf("pid %d: %s: still running after %s", command.PID, prose.Quote(strings.Join(command.Args, " ")), prose.Span(s.Limit)),
	})
}
