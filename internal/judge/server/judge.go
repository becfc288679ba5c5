// Package server judges the run of a check: a server under test, whose client the bench was. Like all that judges, it is a function
// of the run alone. It says what breaks a law; package verdict makes findings of that.
package server

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
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// Result is what a run of a check shows.
type Result struct {
	Unjudged []breach.Unjudged
	Found    map[string]string // what shows that a law was kept, by its id
	Seen     int               // processes of the server
	Peak     int               // of them at the same time
	Remains  int               // that the bench had to end, or that the last look saw
}

// exam is a run that is judged.
type exam struct {
	*breach.Book
	host *history.Host
	Result
}

// Judge judges the run of a check, and writes what breaks a law into its book.
func Judge(book *breach.Book) Result {
	x := &exam{Book: book, host: book.Host(), Result: Result{Found: map[string]string{}}}
	x.count()
	x.judgeAnswers()
	x.judgeEOF()
	x.judgeTerm()
	x.judgeBrokenStdout()
	x.judgeLeft()
	x.judgeStdout()
	x.judgeIdle()
	return x.Result
}

// broken takes in what breaks a law.
func (x *exam) broken(b *breach.Breach) {
	kind := law.KindOf(b.Kind)
	b.Law, b.Label, b.When = kind.Law, x.Header.Host.Name, cmp.Or(law.CauseOf(b.Cause).Text, prose.Plain(b.Cause))
	b.Narrative, b.Like = prose.Paragraph(b.Narrative, kind.Why), b.Narrative
	if b.Took.Limit > 0 {
		x.Late(b, b.Took)
		return
	}
	x.Broken(b)
}

func (x *exam) unjudged(law, why string) {
	x.Unjudged = append(x.Unjudged, breach.Unjudged{Law: law, Reason: why})
}

// ended notes how long after something all of the server was gone.
func (x *exam) ended(law string, f fate, after string) {
	if f.gone {
		x.Found[law] = fmt.Sprintf("gone %s after %s", prose.Span(f.Waited), after)
	}
}

// count counts the processes of the server.
func (x *exam) count() {
	seen := map[record.Identity]bool{}
	if x.host.Started >= 0 {
		seen[x.host.Identity] = true
		x.Peak = 1
	}
	for _, look := range x.Censuses() {
		n := 0
		for _, p := range rows(look.Census) {
			seen[p.Identity] = true
			if p.State != record.StateZombie {
				n++
			}
		}
		x.Peak = max(x.Peak, n)
	}
	x.Seen = len(seen)
	for _, p := range x.Swept() {
		if p.State != record.StateZombie {
			x.Remains++
		}
	}
}

// rows are all processes of a census, the one that was started among them.
func rows(c *record.Census) []record.Process {
	if c.Host == nil {
		return c.Processes
	}
	return append([]record.Process{*c.Host}, c.Processes...)
}

// live are the rows of a census that are no zombies.
func live(c *record.Census) []record.Process {
	if c == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(rows(c)), func(p record.Process) bool { return p.State == record.StateZombie })
}

// step is the first step of an operation and a detail, or nil.
func (x *exam) step(op record.Op, detail string) *history.Step {
	for _, s := range x.Steps() {
		if s.Op == op && (detail == "" || s.Detail == detail) {
			return s
		}
	}
	return nil
}

// first is the first step that asks the server to end, or nil.
func (x *exam) first() *history.Step {
	for _, s := range x.Steps() {
		if s.Op.EndsHost() {
			return s
		}
	}
	return nil
}

// after is the first checkpoint that began after a step and was completed, or nil.
func (x *exam) after(s *history.Step) *facts.Checkpoint {
	for _, cp := range x.Checkpoints {
		if s != nil && cp.Begun >= s.Begun && cp.Ended >= 0 && cp.Settled != nil {
			return cp
		}
	}
	return nil
}

// fate is what had become of the server at a checkpoint.
type fate struct {
	*facts.Checkpoint
	root bool             // the process that was started was there to the end of the watch
	rest []record.Process // others that were
	late bool             // all was gone when the watch ended, and not in time
	gone bool             // all was gone in time
}

func (x *exam) fateAt(cp *facts.Checkpoint) fate {
	f := fate{Checkpoint: cp, gone: cp.Quiet}
	if cp.Quiet || cp.Confirm == nil {
		return f
	}
	for _, p := range live(cp.Confirm) {
		if p.Identity == x.host.Identity {
			f.root = true
		} else {
			f.rest = append(f.rest, p)
		}
	}
	f.late = !f.root && len(f.rest) == 0
	return f
}

// isOver says that nothing is left to be told of: all was gone in time, or nobody looked again.
func (f *fate) isOver() bool { return f.gone || f.Confirm == nil }

// spins says that a process that is left is busy.
func (f *fate) spins() (load float64, spins bool) {
	for _, p := range live(f.Confirm) {
		used := share(f.Settled, f.Confirm, p.Identity, f.ConfirmAt-f.SettledAt)
		before := find(f.Settled, p.Identity)
		ready := before != nil && before.State == record.StateRunning && p.State == record.StateRunning
		load, spins = max(load, used), spins || used >= spinning || used >= contended && ready
	}
	return load, spins
}

const (
	// spinning is the share of a processor from which on a process counts as busy: one that waits uses none.
	spinning = 0.5
	// contended is the share from which on one does that was ready to run whenever it was looked at: others want the processors too.
	contended = 0.05
)

// share is how much of a processor a process had between two looks.
func share(before, after *record.Census, id record.Identity, took int64) float64 {
	a, b := find(before, id), find(after, id)
	if a == nil || b == nil || took < int64(100*time.Millisecond) {
		return 0
	}
	return float64(b.CPU-a.CPU) / float64(took)
}

func find(c *record.Census, id record.Identity) *record.Process {
	for _, p := range rows(c) {
		if p.Identity == id {
			return &p
		}
	}
	return nil
}

// stays is a breach of a server that was still running when the watch after what was done to it had ended.
func (x *exam) stays(kind string, cause record.Cause, f fate, done string) *breach.Breach {
	p := x.survivor(f)
	b := &breach.Breach{Kind: kind, Cause: cause, Checkpoint: f.Checkpoint, At: []int64{f.Begun}}
	if p == nil {
		return b
	}
	b.Comm, b.Evidence = p.Comm, f.EvidenceOn(p.Identity)
	b.Value = fmt.Sprintf("%s was still running %s after %s", prose.Process(nil, p.Identity, p.Comm), prose.Span(f.ConfirmAt-f.Begun), done)
	b.Narrative = x.lookOf(b.Evidence)
	return b
}

// survivor is the process to show of those that stayed: the one that was started, or where that only waits for another one, that.
func (x *exam) survivor(f fate) *record.Process {
	p := find(f.Confirm, x.host.Identity)
	if p == nil && len(f.rest) > 0 {
		p = &f.rest[0]
	}
	for range f.rest {
		e := f.EvidenceOn(p.Identity)
		i := slices.IndexFunc(f.rest, func(child record.Process) bool { return child.PPID == p.PID })
		if e == nil || i < 0 || !strings.HasPrefix(e.Syscall, "wait") {
			break
		}
		p = &f.rest[i]
	}
	return p
}

// lookOf says what is known of a survivor.
func (x *exam) lookOf(e *record.Evidence) string {
	if e == nil {
		return ""
	}
	does := ""
	switch {
	case e.State == record.StateStopped || e.State == record.StateTraced:
		does = "it is stopped"
	case e.Syscall != "":
		does = "it waits in " + prose.Plain(e.Syscall)
	case e.Wchan != "" && e.Wchan != "0":
		does = "it waits in the kernel at " + prose.Plain(e.Wchan)
	}
	term := ""
	switch {
	case slices.Contains(e.SigIgnored, "SIGTERM"):
		term = "it ignores SIGTERM"
	case slices.Contains(e.SigCaught, "SIGTERM"):
		term = "it has a handler for SIGTERM"
	}
	return prose.Capital(prose.Sentence(does, term))
}

// lateBreach is one of a server that was gone when the watch ended, and not in time.
func (x *exam) lateBreach(kind string, cause record.Cause, f fate, since int64, done string) *breach.Breach {
	end := f.Ended
	if x.host.Exited > since {
		end = x.host.Exited
	}
	if left := live(f.Settled); len(left) > 0 && left[0].Identity != x.host.Identity { // it was not the one that was started
		end = f.Ended
	}
	return &breach.Breach{
		Kind: kind, Cause: cause, Checkpoint: f.Checkpoint, At: []int64{since}, Took: breach.Took{From: since, To: end, Limit: x.limit(since)},
		Value: fmt.Sprintf("gone %s after %s", prose.Span(end-since), done),
	}
}

// limit is how long the server may take to exit from a time on at which it was asked to.
func (x *exam) limit(asked int64) time.Duration {
	for _, s := range x.Steps() {
		if s.Begun == asked && s.Grace > 0 {
			return s.Grace.D()
		}
	}
	return x.Header.Limits.Settle.D()
}

// early says that the process that was launched ended before it was asked to. What the bench had to end did not.
func (x *exam) early() bool {
	_, swept := x.Swept()[x.host.Identity]
	return x.host.Exited >= 0 && !swept && (x.host.AskedAt < 0 || x.host.Exited < x.host.AskedAt)
}

func exitWords(e record.Exit) string {
	if e.Signal != "" {
		return "it was ended by " + prose.Plain(e.Signal)
	}
	return fmt.Sprintf("it exited with status %d", e.Code)
}

func words(h *history.Host) string {
	if h.Words == "" {
		return ""
	}
	return "Its stderr ends with: " + prose.Quote(h.Words) + "."
}

// method is the request of a step.
func method(s *history.Step) record.Method { return methods[s.Op] }

var methods = map[record.Op]record.Method{
	record.OpInitialize: record.MethodInitialize, record.OpList: record.MethodList,
	record.OpCall: record.MethodCall, record.OpPing: record.MethodPing,
}
