//go:build unix

package portable

import (
	"errors"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v3/process"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// ErrGone says that a process has ended.
var ErrGone = errors.New("the process has ended")

// Table reads the process table. It serves one goroutine at a time.
type Table struct {
	parents map[int]int
	rows    []record.Process
}

// NewTable returns a table.
func NewTable() *Table { return &Table{parents: map[int]int{}} }

// Below lists every process below root by its chain of parents, root left
// out. The slice is valid until the next call. ErrGone: there is no root.
func (t *Table) Below(root int) ([]record.Process, error) {
	rootID, err := Identify(root)
	if err != nil {
		return nil, err
	}
	pids, err := process.Pids()
	if err != nil {
		return nil, fmt.Errorf("failed to list the processes: %w", err)
	}
	clear(t.parents)
	for _, pid := range pids {
		if ppid, err := handle(int(pid)).Ppid(); err == nil {
			t.parents[int(pid)] = int(ppid)
		}
	}
	t.rows = t.rows[:0]
	for _, pid := range pids {
		if !t.isBelow(int(pid), root) {
			continue
		}
		if row, err := t.One(int(pid)); err == nil && row.Start >= rootID.Start {
			t.rows = append(t.rows, row)
		}
	}
	return t.rows, nil
}

func (t *Table) isBelow(pid, root int) bool {
	for range len(t.parents) { // a stale parent can close a ring
		parent, ok := t.parents[pid]
		if !ok || parent == pid {
			return false
		}
		if parent == root {
			return pid != root
		}
		pid = parent
	}
	return false
}

// One returns the row of one process. What can't be seen is told as docs/run-file.md says: FDs is -1; PGID, SID, Threads and RSS
// are 0, which they are of no process that runs; CPU is 0, and proc.Weak says so. ErrGone: there is no such process.
func (t *Table) One(pid int) (record.Process, error) {
	id, err := Identify(pid)
	if err != nil {
		return record.Process{}, err
	}
	p := handle(pid)
	row := record.Process{Identity: id, PPID: t.parents[pid], FDs: -1, State: state(p)}
	row.PGID, row.SID = groupAndSession(pid)
	if ppid, err := p.Ppid(); err == nil {
		row.PPID = int(ppid)
	}
	if name, err := p.Name(); err == nil {
		row.Comm = text.Name(name)
	}
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

// Identify returns the identity of the process that has the pid now. Start is in milliseconds since 1970. ErrGone: there is none.
func Identify(pid int) (record.Identity, error) {
	if pid <= 0 {
		return record.Identity{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	if there, err := process.PidExists(int32(pid)); err == nil && !there {
		return record.Identity{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	created, err := handle(pid).CreateTime()
	if err != nil {
		// It may have ended in between.
		if there, e := process.PidExists(int32(pid)); e == nil && !there {
			err = ErrGone
		}
		return record.Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	return record.Identity{PID: pid, Start: uint64(created)}, nil
}

// Check is nil while the process lives, and ErrGone when it has ended; a zombie has.
func Check(id record.Identity) error {
	now, err := Identify(id.PID)
	if err != nil {
		return err
	}
	if now != id || state(handle(id.PID)) == record.StateZombie {
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
		e.Process = row
		if exe, err := handle(id.PID).Exe(); err == nil {
			e.Exe = text.Name(exe)
		}
		e.Age = record.Duration(max(0, time.Since(time.UnixMilli(int64(id.Start)))))
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
func handle(pid int) *process.Process { return &process.Process{Pid: int32(pid)} }

// letters are the states of record.Process by gopsutil's words.
var letters = map[string]record.State{
	process.Running: record.StateRunning, process.Sleep: record.StateSleeping, process.Blocked: record.StateBlocked,
	process.Idle: record.StateIdle,
	process.Stop: record.StateStopped, process.Zombie: record.StateZombie, process.Wait: "W", process.Lock: "L",
}

func state(p *process.Process) record.State {
	words, err := p.Status()
	if err != nil || len(words) == 0 {
		return record.StateUnknown
	}
	if letter, ok := letters[words[0]]; ok {
		return letter
	}
	return record.StateUnknown
}
