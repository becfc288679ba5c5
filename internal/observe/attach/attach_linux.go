package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// Supported is nil where a host can be watched.
func Supported() error { return nil }

// Run watches until ctx or the host ends. Either is no error. After the host has ended it looks on for the time that after says.
func Run(ctx context.Context, p Params, after time.Duration) error {
	a, err := begin(p)
	if err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go a.loads.Listen(over)
	tick := time.NewTicker(cmp.Or(p.Every, time.Second))
	defer tick.Stop()
	for {
		switch err := a.look(); {
		case errors.Is(err, proc.ErrGone):
			return a.afterHost(ctx, tick, after)
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return a.last()
		case <-tick.C:
		}
	}
}

// attachment is one run beside a host that runs already.
type attachment struct {
	Params
	table    *proc.Table
	examiner *proc.Examiner
	self     int
	begun    time.Time
	adopters map[int]bool // the host's ancestors: what is orphaned goes to one of them
	family   proc.Family
	known    map[record.Identity]*seen
	queue    []record.Identity // whose facts are read next
	ioQueue  []record.Identity
	loads    patience.Loads // what the host wanted of the processors, and had not

	handles             *record.Handles
	toldHandles         record.Handles // those that were written last
	hostFact            Fact
	held                time.Time     // when holders were looked up last
	heldTook            time.Duration // how long that took
	unheld              bool          // somebody has come since
	toldRows, toldFacts time.Time
}

// seen is what is remembered of a process.
type seen struct {
	Fact
	id      record.Identity
	io      *record.IO
	raw     proc.Transfers // with what io leaves out
	ioError string
	fresh   bool   // its evidence was read since it was last asked whether to write it down
	below   bool   // it was, at some look
	written string // the evidence that was written last, without what changes all the time
}

func begin(p Params) (*attachment, error) {
	a := &attachment{
		Params: p, table: proc.NewTable(), examiner: proc.NewExaminer(p.Host),
		self: os.Getpid(), begun: time.Now(), adopters: map[int]bool{1: true},
		known: map[record.Identity]*seen{},
	}
	row, err := a.table.One(p.Host.PID)
	if err == nil && row.Identity != p.Host {
		err = proc.ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("failed to watch process %d: %w", p.Host.PID, err)
	}
	for ppid := row.PPID; ppid > 1 && !a.adopters[ppid]; {
		a.adopters[ppid] = true
		above, err := a.table.One(ppid)
		if err != nil {
			break
		}
		ppid = above.PPID
	}
	return a, p.Add(record.Event{Kind: record.HostStarted, Process: &row})
}

// look takes one look, and writes it down where it is worth it.
func (a *attachment) look() error {
	family, err := a.table.Family(a.Host, func(id record.Identity, ppid int) bool {
		return a.known[id] != nil || a.adopters[ppid]
	})
	if err != nil {
		return err
	}
	a.family = family
	a.keepOwn()
	a.meet()
	a.readIO()
	a.readFacts()
	a.readHolders()
	return a.tell(false)
}

// keepOwn leaves of the others those that were below the host, or that run what something below it runs: what an earlier life of
// it may have left. This process is none of the host's, even if the host has started it.
func (a *attachment) keepOwn() {
	a.family.Below = slices.DeleteFunc(a.family.Below, func(p record.Process) bool { return p.PID == a.self })
	a.family.Others = slices.DeleteFunc(a.family.Others, func(p record.Process) bool {
		if a.known[p.Identity] != nil || p.PID == a.self {
			return p.PID == a.self
		}
		return len(p.Args) == 0 || !slices.ContainsFunc(a.family.Below, func(own record.Process) bool { return slices.Equal(own.Args, p.Args) })
	})
}

// meet notes who is there, and puts who has come at the head of the queues.
func (a *attachment) meet() {
	var come []record.Identity
	there := map[record.Identity]bool{}
	note := func(p *record.Process, below bool) {
		there[p.Identity] = true
		s := a.known[p.Identity]
		if s == nil {
			s = &seen{id: p.Identity}
			a.known[p.Identity] = s
			if p.State != record.StateZombie {
				come = append(come, p.Identity)
			}
		}
		s.below = s.below || below
		p.IO = s.io
	}
	for i := range a.family.Below {
		note(&a.family.Below[i], true)
	}
	for i := range a.family.Others {
		note(&a.family.Others[i], false)
	}
	for id := range a.known {
		if !there[id] {
			delete(a.known, id)
		}
	}
	gone := func(id record.Identity) bool { return !there[id] }
	a.queue = append(come, slices.DeleteFunc(a.queue, gone)...)
	a.ioQueue = append(slices.Clone(come), slices.DeleteFunc(a.ioQueue, gone)...)
	a.unheld = a.unheld || len(come) > 0
}

// turns calls do for the first of a queue, as many as there is time for, and puts those behind the others.
func turns(queue []record.Identity, most time.Duration, do func(record.Identity)) []record.Identity {
	begun, n := processorTime(), 0
	for n < len(queue) && (n == 0 || processorTime()-begun < most) {
		do(queue[n])
		n++
	}
	return append(slices.Clone(queue[n:]), queue[:n]...)
}

// processorTime is what this process has used: on a busy machine the clock on the wall says nothing of what a look costs.
func processorTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

func (s *seen) transfer(table *proc.Table) {
	now, err := table.Transfer(s.id.PID)
	if err == nil {
		s.ioError = ""
		s.took(now)
		return
	}
	if errors.Is(err, proc.ErrGone) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return
	}
	s.ioError = "what it reads and writes: " + strings.ToLower(err.Error())
}

// took notes what it has read and written. What its threads wake one another with is no traffic: a server that nobody uses does it, too.
func (s *seen) took(now proc.Transfers) {
	if s.io == nil {
		s.io = &record.IO{Read: now.Read, Wrote: now.Wrote}
	} else if !now.WakesSince(s.raw) {
		s.io = &record.IO{Read: s.io.Read + now.Read - s.raw.Read, Wrote: s.io.Wrote + now.Wrote - s.raw.Wrote}
	}
	s.raw = now
}

// examine reads what is slow to read of a process. Who holds its pipes stays as it was seen last.
func (s *seen) examine(x *proc.Examiner) {
	before := s.Evidence
	s.Evidence, s.At, s.fresh = x.Look(s.id), time.Now(), true
	s.Evidence.IO = s.io // of before the look: equal counts later on say that nothing came between
	if s.ioError != "" {
		s.Evidence.Unseen = append(s.Evidence.Unseen, s.ioError)
	}
	keepHolders(&s.Evidence, &before)
}

func (a *attachment) readIO() {
	a.ioQueue = turns(a.ioQueue, forIO, func(id record.Identity) {
		a.known[id].transfer(a.table)
	})
	for _, rows := range [][]record.Process{a.family.Below, a.family.Others} {
		for i := range rows {
			rows[i].IO = a.known[rows[i].Identity].io
		}
	}
	if now, err := a.table.Transfer(a.Host.PID); err == nil {
		a.family.Root.IO = &now.IO
	}
}

func (a *attachment) readFacts() {
	a.examiner.Begin()
	most := forFacts
	if a.held.IsZero() {
		most = forFirst // so that the first table says something
	}
	a.queue = turns(a.queue, most, func(id record.Identity) {
		a.known[id].examine(a.examiner)
	})
	before := a.hostFact.Evidence
	a.hostFact.Evidence, a.hostFact.At = a.examiner.Look(a.Host), time.Now()
	keepHolders(&a.hostFact.Evidence, &before)
	a.hostFact.Evidence.Handles = a.handles
	a.family.Root.FDs = a.hostFact.Evidence.FDs
}

// keepHolders keeps who held the ends of the same pipes at the last look for them.
func keepHolders(now, before *record.Evidence) {
	for i := range now.Descriptors {
		for _, d := range before.Descriptors {
			if n := &now.Descriptors[i]; d.FD == n.FD && d.Target == n.Target {
				n.Holders, n.Known = d.Holders, d.Known
			}
		}
	}
}

// readHolders looks through the descriptors of all processes, where it is time to.
func (a *attachment) readHolders() {
	since, rest := time.Since(a.held), holdersEvery
	if a.unheld {
		rest = min(rest, max(soonest, holdersShare*a.heldTook))
	}
	if since >= rest {
		a.heldAnew()
	}
}

func (a *attachment) heldAnew() {
	all := []record.Evidence{a.hostFact.Evidence}
	var whose []*seen
	for _, s := range a.known {
		if s.Evidence.PID != 0 {
			all, whose = append(all, s.Evidence), append(whose, s)
		}
	}
	begun := processorTime()
	a.handles = a.examiner.Holders(all)
	a.heldTook, a.held, a.unheld = processorTime()-begun, time.Now(), false
	a.hostFact.Evidence, a.hostFact.Held = all[0], a.held
	a.hostFact.Evidence.Handles = a.handles
	for i, s := range whose {
		s.Evidence, s.Held, s.fresh = all[i+1], a.held, true
	}
}
