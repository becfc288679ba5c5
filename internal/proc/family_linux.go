package proc

import (
	"github.com/leakbench/leakbench/internal/record"
)

// Family is a process with what belongs to it. Descriptors are not counted: FDs is -1 in each row.
type Family struct {
	Root   record.Process
	Below  []record.Process // as Table.Below has them
	Others []record.Process // those that were asked for
}

// Family reads a process, what is below it, and which others are wanted for another reason: those that have left it, say. ErrGone:
// root has ended, or its pid belongs to another process. It is cheaper than Below, and what it returns is the caller's.
func (t *Table) Family(root record.Identity, wanted func(id record.Identity, ppid int) bool) (Family, error) {
	if err := t.look(root.PID, false); err != nil {
		return Family{}, err
	}
	var f Family
	t.turn++
	own := &t.stats[t.find(root.PID)]
	if own.identity() != root || own.ended() {
		return f, ErrGone
	}
	f.Root = t.light(own)
	for i := range t.stats {
		s := &t.stats[i]
		switch {
		case s == own || s.state == 0:
		case s.below == lineageBelow:
			f.Below = append(f.Below, t.light(s))
		case wanted(s.identity(), s.ppid):
			f.Others = append(f.Others, t.light(s))
		}
	}
	t.drop()
	return f, nil
}

// Left is what of some processes is still there, zombies included.
func (t *Table) Left(ids []record.Identity) (rows []record.Process) {
	t.turn++
	for _, id := range ids {
		var s stat
		if t.readers[0].patiently(id.PID, &s) == nil && s.identity() == id {
			rows = append(rows, t.light(&s))
		}
	}
	return rows
}

func (t *Table) light(s *stat) record.Process {
	s.fds = -1
	return s.row(t.program(s))
}

// drop forgets the programs of processes that this turn did not see.
func (t *Table) drop() {
	for id, p := range t.known {
		if p.turn != t.turn {
			delete(t.known, id)
		}
	}
}

// Transfers are how much a process has read and written so far, and in how many system calls.
type Transfers struct {
	record.IO
	Reads, Writes int64
}

// Transfer is what a process has read and written so far (proc_pid_io(5)).
func (t *Table) Transfer(pid int) (Transfers, error) {
	line, err := t.readers[0].line(pid, "io")
	if err != nil {
		return Transfers{}, err
	}
	return parseIO(line), nil
}

// parseIO reads the first four lines, "rchar: N" to "syscw: N".
func parseIO(b []byte) Transfers {
	numbers, n := [4]int64{}, 0
	for _, c := range b {
		if c >= '0' && c <= '9' {
			numbers[n] = numbers[n]*10 + int64(c-'0')
		} else if c == '\n' {
			if n++; n == len(numbers) {
				break
			}
		}
	}
	return Transfers{record.IO{Read: numbers[0], Wrote: numbers[1]}, numbers[2], numbers[3]}
}

// wake is how much a thread that wakes another one writes, and how much that reads: the counter of an eventfd, or of a timerfd
// (eventfd(2), timerfd_create(2)).
const wake = 8

// WakesSince says that all that was read and written since before were such counters, as a runtime does while it collects garbage.
func (t Transfers) WakesSince(before Transfers) bool {
	return t != before && t.Read-before.Read == wake*(t.Reads-before.Reads) && t.Wrote-before.Wrote == wake*(t.Writes-before.Writes)
}

// Processes lists what runs now, with its command line, zombies left out.
func Processes() ([]record.Process, error) {
	t := NewTable()
	if err := t.list(); err != nil {
		return nil, err
	}
	var all []record.Process
	for _, pid := range t.pids {
		var s stat
		if t.readers[0].stat(pid, &s) == nil && !s.ended() {
			all = append(all, t.light(&s))
		}
	}
	return all, nil
}
