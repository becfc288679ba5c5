package proc

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// Table reads the process table with one system call. It serves one goroutine at a time.
type Table struct {
	buf []byte
	// handles is where the handle table is read into, and open how many handles each process has, where only that table tells.
	handles []byte
	open    map[int]int
	// counted is when it was read last, and countTook how long that took.
	counted   time.Time
	countTook time.Duration
	all       map[int]seen
	args      map[record.Identity][]string // of those that the last look saw: a command line does not change
	rows      []record.Process
}

// seen is a row of the table and how to tell whether the parent is still the one that started it.
type seen struct {
	row    record.Process
	parent int // its pid at birth, whoever has that now
}

// NewTable returns a table.
func NewTable() *Table { return &Table{all: map[int]seen{}, args: map[record.Identity][]string{}} }

// Below lists every process below root by its chain of parents, root left out. The slice is valid until the next call.
// ErrGone: there is no root. A process whose parent has ended is below nobody.
func (t *Table) Below(root int) ([]record.Process, error) {
	if err := t.look(); err != nil {
		return nil, err
	}
	if _, there := t.all[root]; !there {
		return nil, fmt.Errorf("process %d: %w", root, ErrGone)
	}
	below := map[int]bool{root: true}
	AddDescendants(below, func(yield func(record.Process) bool) {
		for _, s := range t.all {
			if !yield(s.row) {
				return
			}
		}
	})
	delete(below, root)
	return t.describe(below), nil
}

// Of lists those of the pids that belong to a process. The slice is valid until the next call.
func (t *Table) Of(pids map[int]bool) ([]record.Process, error) {
	if err := t.look(); err != nil {
		return nil, err
	}
	there := maps.Clone(pids)
	maps.DeleteFunc(there, func(pid int, _ bool) bool { _, ok := t.all[pid]; return !ok })
	return t.describe(there), nil
}

// One returns the row of one process. ErrGone: there is no such process.
func (t *Table) One(pid int) (record.Process, error) {
	if err := t.look(); err != nil {
		return record.Process{}, err
	}
	if _, there := t.all[pid]; !there {
		return record.Process{}, fmt.Errorf("process %d: %w", pid, ErrGone)
	}
	return t.describe(map[int]bool{pid: true})[0], nil
}

// describe adds the command lines to the rows of some pids, which are in the order of pids.
func (t *Table) describe(pids map[int]bool) []record.Process {
	t.rows = t.rows[:0]
	for _, pid := range slices.Sorted(maps.Keys(pids)) {
		row := t.all[pid].row
		args, known := t.args[row.Identity]
		if !known {
			if args = argsOf(row.Identity); args != nil { // of one that has just begun it may not be readable yet
				t.args[row.Identity] = args
			}
		}
		row.Args = args
		t.rows = append(t.rows, row)
	}
	return t.rows
}

// look reads the table anew.
func (t *Table) look() error {
	if err := t.read(); err != nil {
		return fmt.Errorf("failed to read the process table: %w", err)
	}
	clear(t.all)
	t.countHandles()
	for offset := uintptr(0); ; {
		p := (*windows.SYSTEM_PROCESS_INFORMATION)(unsafe.Pointer(&t.buf[offset]))
		// What has no thread has ended: somebody has a handle of it.
		if p.UniqueProcessID != 0 && p.NumberOfThreads > 0 && !isUnborn(uint64(p.CreateTime)) {
			t.all[int(p.UniqueProcessID)] = seen{t.row(p, offset), int(p.InheritedFromUniqueProcessID)}
		}
		if p.NextEntryOffset == 0 {
			break
		}
		offset += uintptr(p.NextEntryOffset)
	}
	t.findParents()
	maps.DeleteFunc(t.args, func(id record.Identity, _ []string) bool { return t.all[id.PID].row.Identity != id })
	return nil
}

// read fills the buffer, which has to grow with the number of processes.
func (t *Table) read() error {
	if t.buf == nil {
		t.buf = make([]byte, 1<<20)
	}
	for {
		err := windows.NtQuerySystemInformation(windows.SystemProcessInformation, unsafe.Pointer(&t.buf[0]), uint32(len(t.buf)), nil)
		if err != windows.STATUS_INFO_LENGTH_MISMATCH { //nolint:errorlint // an NTStatus is a number
			return err
		}
		t.buf = make([]byte, 2*len(t.buf))
	}
}

// hundredNanos is the unit of the kernel's times.
const hundredNanos = 100 * time.Nanosecond

func (t *Table) row(p *windows.SYSTEM_PROCESS_INFORMATION, offset uintptr) record.Process {
	return record.Process{
		Identity: record.Identity{PID: int(p.UniqueProcessID), Start: uint64(p.CreateTime)},
		Comm:     text.Name(p.ImageName.String()), State: t.state(offset, p.NumberOfThreads),
		RSS: int64(p.WorkingSetSize), FDs: t.handlesOf(p), Threads: int(p.NumberOfThreads),
		CPU: record.Duration(time.Duration(p.UserTime+p.KernelTime) * hundredNanos),
	}
}

// handlesOf is how many handles a process has open, or -1 where that can't be seen.
func (t *Table) handlesOf(p *windows.SYSTEM_PROCESS_INFORMATION) int {
	if tellsHandles() {
		return int(p.HandleCount)
	}
	if t.open == nil {
		return -1
	}
	return t.open[int(p.UniqueProcessID)]
}

// countShare is the part of the time that may go into counting handles: one process of Wine serves all others, and has to walk through
// every handle of the machine for it.
const countShare = 100

// countHandles counts the rows of the handle table, where the process table does not have the number.
func (t *Table) countHandles() {
	if tellsHandles() {
		return
	}
	t.open = nil
	begun := time.Now()
	if begun.Sub(t.counted) < countShare*t.countTook {
		return
	}
	var all []handleEntry
	var err error
	all, t.handles, err = handleTable(t.handles)
	t.counted = time.Now()
	t.countTook = t.counted.Sub(begun)
	if err != nil {
		return
	}
	t.open = map[int]int{}
	for _, e := range all {
		t.open[int(e.pid)]++
	}
}

// tellsHandles says whether the table has the number of open handles: of Wine it is the room of a process for them, which grows by steps.
var tellsHandles = sync.OnceValue(func() bool {
	const more = 3
	before := ownHandles()
	for range more {
		h, err := windows.CreateEvent(nil, 0, 0, nil)
		if err != nil {
			return false
		}
		defer func() { _ = windows.CloseHandle(h) }()
	}
	after := ownHandles()
	return before > 0 && after >= before+more && after < before+10*more // other threads open some, too
})

// ownHandles asks for this process alone what the table says of all (GetProcessHandleCount).
func ownHandles() (n uint32) {
	self, size := windows.CurrentProcess(), uint32(unsafe.Sizeof(n))
	if windows.NtQueryInformationProcess(self, windows.ProcessHandleCount, unsafe.Pointer(&n), size, nil) != nil {
		return 0
	}
	return n
}

// thread is SYSTEM_THREAD_INFORMATION, of which one for each thread follows the entry of a process.
type thread struct {
	kernelTime, userTime, createTime int64
	waitTime                         uint32
	startAddress                     uintptr
	process, id                      uintptr
	priority, basePriority           int32
	contextSwitches                  uint32
	state, waitReason                uint32
}

// The states of a thread (KTHREAD_STATE), and why it waits (KWAIT_REASON).
const (
	threadReady, threadRunning, threadStandby = 1, 2, 3
	waitSuspended                             = 5
)

// state is R where a thread runs or could, T where all are suspended, and S otherwise.
func (t *Table) state(offset uintptr, threads uint32) record.State {
	suspended := true
	for i := range uintptr(threads) {
		at := offset + unsafe.Sizeof(windows.SYSTEM_PROCESS_INFORMATION{}) + i*unsafe.Sizeof(thread{})
		if at+unsafe.Sizeof(thread{}) > uintptr(len(t.buf)) {
			return record.StateUnknown
		}
		th := (*thread)(unsafe.Pointer(&t.buf[at]))
		if th.state == threadReady || th.state == threadRunning || th.state == threadStandby {
			return record.StateRunning
		}
		suspended = suspended && th.waitReason == waitSuspended
	}
	if suspended {
		return record.StateStopped
	}
	return record.StateSleeping
}

// findParents enters the parents that are still there. A pid outlives its process here and may be another's by now, who is then
// younger than the child.
func (t *Table) findParents() {
	for pid, s := range t.all {
		if parent, there := t.all[s.parent]; there && parent.row.Start <= s.row.Start {
			s.row.PPID = s.parent
			t.all[pid] = s
		}
	}
}

// parentOf says what became of the parent of a process that the last look saw: "" where it lives.
func (t *Table) parentOf(pid int) string {
	s := t.all[pid]
	now, taken := t.all[s.parent]
	switch {
	case s.row.PPID != 0 || s.parent == 0:
		return ""
	case taken:
		return fmt.Sprintf("pid %d has ended, and that pid is another process's by now (%s)", s.parent, now.row.Comm)
	}
	return fmt.Sprintf("pid %d has ended", s.parent)
}

// argsOf is the command line of a process: what its memory says, since the kernel does not keep one. nil where it can't be read.
func argsOf(id record.Identity) []string {
	h, err := Open(id, windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.PROCESS_VM_READ)
	if err != nil {
		return nil
	}
	defer func() { _ = windows.CloseHandle(h) }()
	params, err := parametersOf(h)
	if err != nil || params.CommandLine.Length == 0 {
		return nil
	}
	line := make([]uint16, params.CommandLine.Length/2)
	err = peek(h, uintptr(unsafe.Pointer(params.CommandLine.Buffer)), unsafe.Pointer(&line[0]), uintptr(params.CommandLine.Length))
	if err != nil {
		return nil
	}
	args, err := windows.DecomposeCommandLine(windows.UTF16ToString(line))
	if err != nil {
		return nil
	}
	return redact.Args(args)
}

// parametersOf are what a process was started with, by its process environment block.
func parametersOf(h windows.Handle) (*windows.RTL_USER_PROCESS_PARAMETERS, error) {
	var basic windows.PROCESS_BASIC_INFORMATION
	err := windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&basic), uint32(unsafe.Sizeof(basic)), nil)
	if err != nil {
		return nil, err
	}
	var block windows.PEB
	upTo := unsafe.Offsetof(block.ProcessParameters) + unsafe.Sizeof(block.ProcessParameters)
	if err := peek(h, uintptr(unsafe.Pointer(basic.PebBaseAddress)), unsafe.Pointer(&block), upTo); err != nil {
		return nil, err
	}
	var params windows.RTL_USER_PROCESS_PARAMETERS
	upTo = unsafe.Offsetof(params.Environment)
	return &params, peek(h, uintptr(unsafe.Pointer(block.ProcessParameters)), unsafe.Pointer(&params), upTo)
}

func peek(h windows.Handle, from uintptr, to unsafe.Pointer, size uintptr) error {
	return windows.ReadProcessMemory(h, from, (*byte)(to), size, nil)
}
