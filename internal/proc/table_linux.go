package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	// splitFrom is the number of processes from which two goroutines read faster than one.
	splitFrom = 128
	portion   = 32 // processes that a goroutine takes at a time
	// rereads is how often a census looks again at rows whose parent ended while it was read.
	rereads = 3
)

var pageSize = int64(os.Getpagesize())

// lineage says whether a row is below the root of a census.
type lineage uint8

const (
	lineageUnknown lineage = iota
	lineageWalked          // being walked: met again, it is a ring
	lineageOther           // where its parents lead is not known, or they lead to a ring
	lineageApart           // they lead to a process without a parent, or to a stranger
	lineageBelow
)

// Table is a reader of the process table that keeps its buffers and the
// command lines it has read. It serves one goroutine at a time.
type Table struct {
	proc    *os.File // /proc, for its list of pids
	dents   []byte
	pids    []int
	stats   []stat // by pid
	readers [2]*reader
	next    atomic.Int64 // the first process that no reader has taken
	known   map[record.Identity]*program
	turn    uint64
	rows    []record.Process
	below   []int // positions in stats
	strange *strangers
}

// NewTable returns a table. It holds a file descriptor once Below was called, and some for other processes once it was called often with
// the same root, until it is collected as garbage.
func NewTable() *Table {
	return &Table{readers: [2]*reader{newReader(), newReader()}, known: map[record.Identity]*program{}, strange: newStrangers()}
}

// Below lists every process below root by its chain of parents, zombies included, root left out, in the order of
// pids. The slice is valid until the next call; what it points to is never changed. ErrGone: there is no root.
//
// A process table has no snapshot: a process that is forked while it is read may be missing, one that ends may be
// there. One whose parent ends meanwhile is looked at again, so that an orphan on its way home is not lost.
func (t *Table) Below(root int) ([]record.Process, error) {
	if err := t.look(root, true); err != nil {
		return nil, err
	}
	if err := t.each(len(t.below), (*Table).readFDs); err != nil {
		return nil, err
	}
	t.turn++
	t.rows = t.rows[:0]
	for _, i := range t.below {
		s := &t.stats[i]
		t.rows = append(t.rows, s.row(t.program(s)))
	}
	t.forget()
	return t.rows, nil
}

// look reads the whole table, and finds what is below root. The rows of strangers can be left out.
func (t *Table) look(root int, lessStrangers bool) error {
	if err := t.list(); err != nil {
		return fmt.Errorf("failed to list /proc: %w", err)
	}
	if lessStrangers {
		t.pids = t.strange.leaveOut(t.readers[0], root, t.pids)
	} else {
		t.strange.clear() // it is not known any more whose their pids are
	}
	t.stats = slices.Grow(t.stats[:0], len(t.pids))[:len(t.pids)]
	if err := t.each(len(t.pids), (*Table).readStat); err != nil {
		t.strange.clear()
		return fmt.Errorf("failed to read the process table: %w", err)
	}
	t.stats = slices.DeleteFunc(t.stats, func(s stat) bool { return s.pid == 0 })
	if t.find(root) < 0 {
		t.strange.clear()
		return fmt.Errorf("process %d: %w", root, ErrGone)
	}
	t.markBelow(root)
	if lessStrangers {
		t.strange.learn(t)
	}
	return nil
}

// One returns the row of one process. ErrGone: there is none; a zombie still has a row.
func (t *Table) One(pid int) (record.Process, error) {
	var s stat
	r := t.readers[0]
	if err := r.patiently(pid, &s); err != nil {
		return record.Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	s.fds = r.fds(pid)
	return s.row(r.program(&s)), nil
}

func (t *Table) list() error {
	if t.proc == nil {
		dir, err := os.Open("/proc")
		if err != nil {
			return err
		}
		t.proc, t.dents = dir, make([]byte, 32<<10)
	}
	if _, err := t.proc.Seek(0, 0); err != nil {
		return err
	}
	t.pids = t.pids[:0]
	if err := eachNumber(int(t.proc.Fd()), t.dents, func(pid int) { t.pids = append(t.pids, pid) }); err != nil {
		return err
	}
	if !slices.IsSorted(t.pids) { // /proc lists them in order, find relies on it
		slices.Sort(t.pids)
	}
	return nil
}

// each calls do for 0 to n-1 with a reader, on two goroutines where that pays.
func (t *Table) each(n int, do func(t *Table, r *reader, i int) error) error {
	t.next.Store(0)
	if n < splitFrom {
		return t.part(t.readers[0], n, do)
	}
	other := make(chan error, 1)
	go func() { other <- t.part(t.readers[1], n, do) }()
	err := t.part(t.readers[0], n, do)
	return errors.Join(err, <-other)
}

// part takes portions until none is left: on a busy machine the other goroutine may come late.
func (t *Table) part(r *reader, n int, do func(t *Table, r *reader, i int) error) error {
	for {
		end := int(t.next.Add(portion))
		for i := end - portion; i < min(end, n); i++ {
			if err := do(t, r, i); err != nil {
				return err
			}
		}
		if end >= n {
			return nil
		}
	}
}

// readStat leaves pid 0 where the process has ended, or belongs to somebody else and is hidden (hidepid in proc(5)).
func (t *Table) readStat(r *reader, i int) error {
	err := r.stat(t.pids[i], &t.stats[i])
	for again := 0; again < rereads && errors.Is(err, errHidden) && unix.Kill(t.pids[i], 0) == nil; again++ {
		_, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // one of this user's own, which runs a program right now
		err = r.stat(t.pids[i], &t.stats[i])
	}
	if err != nil {
		t.stats[i] = stat{}
	}
	if errors.Is(err, ErrGone) || errors.Is(err, errHidden) {
		return nil
	}
	return err
}

func (t *Table) readFDs(r *reader, i int) error {
	s := &t.stats[t.below[i]]
	s.fds = r.fds(s.pid)
	return nil
}

// find is the position of a pid, or -1.
func (t *Table) find(pid int) int {
	i, ok := slices.BinarySearchFunc(t.stats, pid, func(s stat, pid int) int { return s.pid - pid })
	if !ok {
		return -1
	}
	return i
}

// rereadOrphans looks again at rows whose parent has no row: it ended between
// the two reads, and the child has another one by now.
func (t *Table) rereadOrphans() {
	for range rereads {
		again := false
		for i := range t.stats {
			s := &t.stats[i]
			if s.ppid == 0 || t.strange.knows(s.ppid) || t.find(s.ppid) >= 0 {
				continue
			}
			again = true
			if pid := s.pid; t.readers[0].stat(pid, s) != nil {
				*s = stat{pid: pid} // ended as well; its place keeps the order
			}
		}
		if !again {
			return
		}
	}
}

// markBelow finds the rows below root.
func (t *Table) markBelow(root int) {
	t.rereadOrphans()
	t.below = t.below[:0]
	for i := range t.stats {
		if t.stats[i].state != 0 && t.lineage(i, root) == lineageBelow {
			t.below = append(t.below, i)
		}
	}
}

// lineage walks up from a row and writes the answer to every row on the way.
func (t *Table) lineage(from, root int) lineage {
	answer := lineageUnknown
	for i := from; answer == lineageUnknown; {
		s := &t.stats[i]
		switch {
		case s.below == lineageWalked:
			answer = lineageOther
		case s.below != lineageUnknown:
			answer = s.below
		case s.ppid == root:
			answer, s.below = lineageBelow, lineageWalked
		case s.ppid == 0 || t.strange.knows(s.ppid):
			answer, s.below = lineageApart, lineageWalked
		default:
			s.below = lineageWalked
			if i = t.find(s.ppid); i < 0 {
				answer = lineageOther
			}
		}
	}
	for i := from; i >= 0 && t.stats[i].below == lineageWalked; i = t.find(t.stats[i].ppid) {
		t.stats[i].below = answer
	}
	return answer
}

func (s *stat) identity() record.Identity { return record.Identity{PID: s.pid, Start: s.start} }

func (s *stat) row(p *program) record.Process {
	return record.Process{
		Identity: s.identity(), PPID: s.ppid, PGID: s.pgid, SID: s.sid, State: stateOf(s.state),
		Comm: p.comm, Args: p.args, RSS: s.rss * pageSize, FDs: s.fds, Threads: s.threads,
		CPU: record.Duration(time.Duration(s.cpu) * nanosPerTick),
	}
}

// stateNames hold every state there is: a string made of a byte would be allocated for each row.
const stateNames record.State = "RSDZTtIPKW"

func stateOf(state byte) record.State {
	for i := range len(stateNames) {
		if stateNames[i] == state {
			return stateNames[i : i+1]
		}
	}
	return record.StateUnknown
}
