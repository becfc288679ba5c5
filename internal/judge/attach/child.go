package attach

import (
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// Hold says who holds the write end of a process's stdin.
type Hold string

// The holds.
const (
	HeldByHost    Hold = "host"     // the host, or a process between it and this one: in use, or abandoned
	HeldBySibling Hold = "sibling"  // only others below the host: withheld
	HeldByFeed    Hold = "pipeline" // another process writes its output there, as in a shell's pipeline
	HeldBySelf    Hold = "itself"   // only the process itself: withheld
	HeldOutside   Hold = "outside"  // a process that is not below the host
	HeldByNobody  Hold = "nobody"   // stdin is at its end
	HoldNone      Hold = "no pipe"  // stdin is no pipe and no socket
	HoldUnknown   Hold = "unknown"
)

// Child is a process below the host, or one that was.
type Child struct {
	record.Process
	Wchan       string          `json:"wchan,omitempty"`
	Syscall     string          `json:"syscall,omitempty"`
	Cgroup      string          `json:"cgroup,omitempty"`
	Unseen      []string        `json:"unseen,omitempty"`
	Age         record.Duration `json:"age"`
	Stdin       Hold            `json:"stdin"`
	StdinHolder *record.Holder  `json:"stdin_holder,omitempty"`
	Role        Role            `json:"role"`
	Below       bool            `json:"below" jsonschema:"false: it has left the host"`
	// QuietFor is how long it has neither read nor written, at the least; nil where that is not known.
	QuietFor *record.Duration `json:"quiet_for,omitempty"`
	Kind     string           `json:"kind,omitempty" jsonschema:"of the finding that names it"`
	// Note says what is odd about it where no law is broken.
	Note string `json:"note,omitempty"`
	// FactsAge is how old what is slow to read was at the last look.
	FactsAge record.Duration `json:"facts_age"`

	Facts *record.Evidence `json:"-"`
	Unit  *Unit            `json:"-"`
	stay
	traffic
	activity
}

// stay is when it was there, and as what.
type stay struct {
	args        []string // of before it was a zombie
	Born        int64    `json:"-"`
	First       int64    `json:"-"`
	Last        int64    `json:"-"`
	wasIn       bool     // it was below the host
	died        int64    // the first look without it
	zombieSince int64
	leads       []int // the descriptors of the host that lead to it
	heldUntil   int64 // the host was last seen to hold its stdin
}

// traffic is what the looks have seen it read and write.
type traffic struct {
	io    record.IO // what it has read and written
	times int       // how many values of that there were
	since int64     // the first look that had the last of them
	prior int64     // and the one before
	older int64     // the last look that had the value before
	spoke int64     // the first look at which it had written something
	turns int       // how often it was seen to have read or written since
	ready int64     // it was seen to wait for its stdin first
	again int64     // the longest time after which it was used again, at the most
}

// activity is when it ran last, by the evidence.
type activity struct {
	ran   int64      // how old it was then
	idle  bool       // that is known
	quiet int64      // the time of that
	read  int64      // how old it was when that was read
	had   *record.IO // what it had read and written before that
	facts int64      // when the evidence was read, or where that is not known, written down
}

func (ch *Child) look(t int64, p *record.Process, below bool) {
	if len(p.Args) > 0 {
		ch.args = p.Args
	}
	last := ch.Last
	ch.Process, ch.Last, ch.Below = *p, t, below
	ch.Args = ch.args
	ch.wasIn = ch.wasIn || below
	if p.State == record.StateZombie && ch.zombieSince == never {
		ch.zombieSince = t
	}
	if p.IO == nil || ch.times > 0 && ch.io == *p.IO {
		return
	}
	if ch.times > 0 {
		ch.older = last
		ch.again = max(ch.again, t-ch.since)
		if ch.spoke != never {
			ch.turns++
		}
	}
	if p.IO.Wrote > 0 && ch.spoke == never {
		ch.spoke = t
	}
	ch.io, ch.times, ch.since, ch.prior = *p.IO, ch.times+1, t, ch.since
}

// told notes evidence that was written down at t of a process that was born at born.
func (ch *Child) told(t, born int64, e *record.Evidence) {
	if unseen(e, "anything") || e.State == record.StateZombie { // it ended while it was looked at, or before
		return
	}
	ch.Facts, ch.Wchan, ch.Syscall, ch.Cgroup, ch.Unseen = e, e.Wchan, e.Syscall, e.Cgroup, e.Unseen
	if e.Idle != nil {
		ran := max(0, int64(e.Age-*e.Idle)) // both are of one moment
		if ch.idle && ch.sameAs(e, born) {
			ran = min(ran, ch.ran) // it runs without a transfer: a runtime's own work
		}
		ch.ran, ch.read, ch.had, ch.idle = ran, ch.readAt(ran, born, e), e.IO, true
	}
	if ch.facts = t; e.ReadAgo != nil {
		ch.facts -= int64(*e.ReadAgo)
	}
	if ch.ready == never &&
		(e.Syscall == "read(0)" || e.Wchan == "anon_pipe_read" || e.Wchan == "pipe_read" || e.Wchan == "unix_stream_read_generic") {
		ch.ready = t
	}
}

// sameAs says that nothing was transferred between the evidence before and this.
func (ch *Child) sameAs(e *record.Evidence, born int64) bool {
	if e.IO != nil && ch.had != nil {
		return *e.IO == *ch.had
	}
	return ch.holds(born)
}

// holds says that nothing was transferred after the evidence was read. Older files have no counts in it: there, it has to be read at a
// look that shows the last transfer, or later.
func (ch *Child) holds(born int64) bool {
	if ch.had != nil {
		return ch.times > 0 && *ch.had == ch.io
	}
	return ch.times > 0 && ch.since <= born+ch.read
}

// readAt is how old the process was when evidence was read by which it ran last at the age ran. That is told by ages alone: the evidence
// may have been written down long after its age was looked up. An older file does not say when it was read. It may then be of before the
// last transfer, unless the process ran after the last look that did not show that one.
func (ch *Child) readAt(ran, born int64, e *record.Evidence) int64 {
	switch {
	case e.ReadAgo != nil:
		return int64(e.Age - *e.ReadAgo)
	case ch.times > 1 && born+ran <= ch.older:
		return ran
	}
	return int64(e.Age)
}

// quietSince is a time since which the process has neither read nor written; known says that there is one.
func (ch *Child) quietSince() (since int64, known bool) {
	if ch.times > 0 {
		since, known = ch.since, true
	}
	if ch.idle && (!known || ch.quiet < since && ch.holds(ch.Born)) {
		since, known = ch.quiet, true
	}
	return since, known
}

// usedUntil is a time up to which it was in use for certain: its birth, where nothing shows more.
func (ch *Child) usedUntil() int64 {
	at := ch.Born
	if ch.times > 1 {
		at = max(at, ch.prior)
	}
	if ch.times > 0 && ch.quiet <= ch.since { // it ran last before that was seen
		at = max(at, ch.quiet)
	}
	return at
}

// works says that it was used after its handshake for certain: some time after it was seen to wait for its stdin, or at two looks after
// the first one at which it had written something.
func (ch *Child) works() bool {
	return ch.turns > 1 || ch.ready != never && ch.usedUntil() > ch.ready+int64(worksFor)
}

// talked says that it was seen to read or write during the watch, which began at from.
func (ch *Child) talked(from int64) bool {
	return ch.times > 1 || ch.Born > from && ch.io.Read > 0
}

// leadFrom are the descriptors of a process that lead to this one: the other ends of its stdin, stdout and stderr.
func (ch *Child) leadFrom(pid int) (ends []int) {
	if ch.Facts == nil {
		return nil
	}
	for i := range ch.Facts.Descriptors {
		for _, h := range ch.Facts.Descriptors[i].Holders {
			if h.PID == pid {
				ends = append(ends, h.FD)
			}
		}
	}
	return ends
}

// stdin is its descriptor 0, or nil.
func (ch *Child) stdin() *record.Descriptor { return ch.descriptor(0) }

func (ch *Child) descriptor(fd int) *record.Descriptor {
	if ch.Facts == nil {
		return nil
	}
	for i := range ch.Facts.Descriptors {
		if ch.Facts.Descriptors[i].FD == fd {
			return &ch.Facts.Descriptors[i]
		}
	}
	return nil
}

func isPipe(d *record.Descriptor) bool {
	return d != nil && (strings.HasPrefix(d.Target, "pipe:") || strings.HasPrefix(d.Target, "socket:"))
}

// holdOf says who holds the write end of a process's stdin.
func (w *Watch) holdOf(ch *Child) (Hold, *record.Holder) {
	d := ch.stdin()
	switch {
	case ch.State == record.StateZombie || ch.Facts == nil || unseen(ch.Facts, "descriptors"):
		return HoldUnknown, nil
	case !isPipe(d):
		return HoldNone, nil
	}
	var best Hold
	var by *record.Holder
	rank := []Hold{HeldByHost, HeldByFeed, HeldOutside, HeldBySibling, HeldBySelf}
	for i := range d.Holders {
		h := &d.Holders[i]
		if h.Mode == "read" {
			continue
		}
		hold := HeldOutside
		switch {
		case w.children[h.Identity] != nil && w.children[h.Identity].shares(d.Target):
			hold = HeldBySelf
		case w.isAbove(h.Identity, ch):
			hold = HeldByHost
		case w.children[h.Identity] != nil && h.FD <= 2:
			hold = HeldByFeed
		case w.children[h.Identity] != nil:
			hold = HeldBySibling
		}
		if best == "" || slices.Index(rank, hold) < slices.Index(rank, best) {
			best, by = hold, h
		}
	}
	switch {
	case best == HeldByHost:
		return best, by
	case !d.Known:
		return HoldUnknown, by
	case best == "":
		return HeldByNobody, nil
	}
	return best, by
}

// shares says that its stdin is the same pipe or socket.
func (ch *Child) shares(target string) bool {
	d := ch.stdin()
	return isPipe(d) && d.Target == target
}

// isAbove says that a process is the host, or stands between it and another one. The host is above whatever has left it, too: it may
// still hold it.
func (w *Watch) isAbove(id record.Identity, ch *Child) bool {
	if id == w.host.Identity {
		return true
	}
	pid := ch.PPID
	for range len(w.parents) { // rows of one look can be of different moments, and go round in a circle
		above := w.parents[pid]
		next := w.children[above]
		if next == nil {
			return false
		}
		if above == id {
			return true
		}
		pid = next.PPID
	}
	return false
}

func unseen(e *record.Evidence, what string) bool {
	return slices.ContainsFunc(e.Unseen, func(s string) bool { return strings.HasPrefix(s, what) })
}
