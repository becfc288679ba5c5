//go:build unix

package portable

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// ErrGone says that a process has ended.
var ErrGone = errors.New("the process has ended")

// basic is what the kernel tells of each process at once.
type basic struct {
	record.Identity
	ppid  int
	comm  string
	state record.State
}

// Table reads the process table. It serves one goroutine at a time.
type Table struct {
	now      map[int]basic
	followed map[record.Identity]bool // what was below the root at an earlier look
	rows     []record.Process
}

// NewTable returns a table.
func NewTable() *Table { return &Table{now: map[int]basic{}, followed: map[record.Identity]bool{}} }

// Below lists every process below root by its chain of parents, root left out. Orphans do not come home to root here: one that was
// below it at an earlier look is still listed, with what it has started since. A table is for one root. The slice is valid until the
// next call. ErrGone: there is no root.
func (t *Table) Below(root int) ([]record.Process, error) {
	all, err := list()
	if err != nil {
		return nil, fmt.Errorf("failed to list the processes: %w", err)
	}
	clear(t.now)
	for _, b := range all {
		t.now[b.PID] = b
	}
	top, ok := t.now[root]
	if !ok {
		return nil, fmt.Errorf("process %d: %w", root, ErrGone)
	}
	t.rows = t.rows[:0]
	followed := map[record.Identity]bool{}
	for _, b := range all {
		if b.Start < top.Start || !t.isBelow(b, root) {
			continue
		}
		if row, err := t.One(b.PID); err == nil && row.Identity == b.Identity {
			t.rows, followed[b.Identity] = append(t.rows, row), true
		}
	}
	t.followed = followed
	return t.rows, nil
}

// isBelow climbs to root, or to what was below it.
func (t *Table) isBelow(b basic, root int) bool {
	if b.PID == root {
		return false
	}
	for range len(t.now) { // rows that are not of one moment can close a ring
		if b.ppid == root || t.followed[b.Identity] {
			return true
		}
		parent, ok := t.now[b.ppid]
		if !ok || parent.Start > b.Start {
			return false // a pid of a parent that has ended, and is another's by now
		}
		b = parent
	}
	return false
}

// One returns the row of one process. docs/understand/run-file.md says how a row marks what can't be seen: FDs is -1. PGID, SID, Threads
// and RSS are 0, which they are of no process that runs. CPU is 0, and proc.Weak says so. ErrGone: there is no such process.
func (t *Table) One(pid int) (record.Process, error) {
	b, err := find(pid)
	if err != nil {
		return record.Process{}, err
	}
	p := handle(pid)
	row := record.Process{Identity: b.Identity, PPID: b.ppid, Comm: text.Name(b.comm), FDs: -1, State: b.state}
	row.PGID, row.SID = groupAndSession(pid)
	if memory, err := p.MemoryInfo(); err == nil && memory != nil {
		row.RSS = int64(memory.RSS)
	}
	if n, err := p.NumFDs(); err == nil {
		row.FDs = int(n)
	}
	if n, err := p.NumThreads(); err == nil {
		row.Threads = int(n)
	}
	if used, err := p.Times(); err == nil && used != nil {
		row.CPU = record.Duration((used.User + used.System) * float64(time.Second))
	}
	if args, err := p.CmdlineSlice(); err == nil && row.State != record.StateZombie && len(args) > 0 {
		row.Args = redact.Args(args)
	}
	return row, nil
}

// find is look with an error that names the process.
func find(pid int) (basic, error) {
	if pid <= 0 {
		return basic{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	b, err := look(pid)
	if err != nil {
		return basic{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return b, nil
}

// Identify returns the identity of the process that has the pid now. Start counts from 1970, in units of the system's own. ErrGone:
// there is none.
func Identify(pid int) (record.Identity, error) {
	b, err := find(pid)
	return b.Identity, err
}

// Check is nil while the process lives, and ErrGone when it has ended; a zombie has.
func Check(id record.Identity) error {
	now, err := find(id.PID)
	if err != nil {
		return err
	}
	if now.Identity != id || now.state == record.StateZombie {
		return ErrGone
	}
	return nil
}

// Examine returns what is known of each process: little more than its row.
func Examine(ids []record.Identity) []record.Evidence {
	found := make([]record.Evidence, len(ids))
	table := NewTable()
	for i, id := range ids {
		e := &found[i]
		row, err := table.One(id.PID)
		if err == nil && row.Identity != id {
			err = fmt.Errorf("pid %d belongs to another process by now: %w", id.PID, ErrGone)
		}
		if err != nil {
			e.Identity = id
			e.Unseen = append(e.Unseen, "anything: "+err.Error())
			continue
		}
		if e.Process = row; row.State == record.StateUnknown {
			e.State = state(handle(id.PID)) // on macOS this runs ps: for what is left over alone
		}
		if exe, err := handle(id.PID).Exe(); err == nil {
			e.Exe = text.Name(exe)
		}
		e.Age = record.Duration(max(0, time.Since(started(id))))
		e.Unseen = append(e.Unseen, "descriptors, signals and system call: not on this system")
	}
	return found
}

func groupAndSession(pid int) (pgid, sid int) {
	pgid, _ = unix.Getpgid(pid)
	sid, _ = unix.Getsid(pid)
	return pgid, sid
}

// handle makes no system call, other than process.NewProcess.
func handle(pid int) *peer { return &peer{Pid: int32(pid)} }

// letters are the states of record.Process by gopsutil's words.
var letters = map[string]record.State{
	"running": record.StateRunning, "sleep": record.StateSleeping, "blocked": record.StateBlocked, "idle": record.StateIdle,
	"stop": record.StateStopped, "zombie": record.StateZombie, "wait": "W", "lock": "L",
}

func state(p *peer) record.State {
	words, err := p.Status()
	if err != nil || len(words) == 0 {
		return record.StateUnknown
	}
	if letter, ok := letters[words[0]]; ok {
		return letter
	}
	return record.StateUnknown
}
