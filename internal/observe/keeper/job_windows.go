package keeper

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/console"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/winjob"
)

// hold is what all processes of a run are in: two jobs. No process leaves a job that does not let it: neither one that asks to
// (CREATE_BREAKAWAY_FROM_JOB), nor one whose own job lets its children go (JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK).
type hold struct {
	// all has the keeper itself and what it starts, from the first moment on. The keeper has its only handle: however the keeper ends,
	// everything ends with it (JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE).
	all   windows.Handle
	inner windows.Handle // nested in all: the host, and what that starts
	port  windows.Handle // tells of births and exits in inner

	mu   sync.Mutex
	mine map[record.Identity]bool // who is known to be in all
	born map[int]windows.Handle   // of those in inner, by pid: a handle keeps the pid from being given to another
}

// What a completion port tells of a job (winnt.h). x/sys has none of it.
const (
	msgNewProcess      = 6
	msgExitProcess     = 7
	msgAbnormalExit    = 8
	processIDListHead  = 8
	hostJobKey         = 1
	firstProcessIDRoom = 1024
)

// associatePort is JOBOBJECT_ASSOCIATE_COMPLETION_PORT.
type associatePort struct {
	key  uintptr
	port windows.Handle
}

// contain puts the keeper into a job of its own, and makes the host's.
func (k *process) contain(hello *Hello) error {
	j := &k.hold
	if err := console.Hear(); err != nil {
		return err
	}
	j.mine, j.born = map[record.Identity]bool{}, map[int]windows.Handle{}
	var err error
	if j.all, err = winjob.New(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE); err == nil {
		if err = windows.AssignProcessToJobObject(j.all, windows.CurrentProcess()); err == nil {
			j.inner, err = winjob.New(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
		}
	}
	if err != nil {
		return fmt.Errorf("failed to make the run's job: %w", err)
	}
	if j.port, err = windows.CreateIoCompletionPort(windows.InvalidHandle, 0, 0, 1); err == nil {
		tie := associatePort{hostJobKey, j.port}
		const class = windows.JobObjectAssociateCompletionPortInformation
		_, err = windows.SetInformationJobObject(j.inner, class, uintptr(unsafe.Pointer(&tie)), uint32(unsafe.Sizeof(tie)))
	}
	if err != nil {
		return fmt.Errorf("failed to watch the run's job: %w", err)
	}
	hello.Subreaper = true
	return nil
}

// release has nothing to do: the jobs end with the keeper.
func (j *hold) release() {}

// below are the processes of the run's job, without the keeper itself.
func (k *process) below() ([]record.Process, error) {
	pids, err := k.pids()
	if err != nil {
		return nil, fmt.Errorf("failed to list the run's job: %w", err)
	}
	delete(pids, os.Getpid())
	rows, err := k.table.Of(pids)
	if err != nil {
		return nil, err
	}
	var mine []record.Process
	for _, row := range rows {
		if k.holds(row.Identity) && !isDesktopOfWine(row) {
			mine = append(mine, row)
		}
	}
	return mine, nil
}

// isDesktopOfWine says that a process has the desktop of Wine. Whichever program first asks for a window starts it, without knowing so
// (dlls/win32u/winstation.c), and it serves all that come later.
func isDesktopOfWine(row record.Process) bool {
	return onWine() && strings.EqualFold(row.Comm, "explorer.exe") && len(row.Args) == 2 && row.Args[1] == "/desktop"
}

var onWine = sync.OnceValue(func() bool { return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil })

// pids are those of the job all.
func (j *hold) pids() (map[int]bool, error) {
	for room := firstProcessIDRoom; ; room *= 2 {
		list := make([]uintptr, room)
		size := uint32(room) * uint32(unsafe.Sizeof(list[0]))
		err := windows.QueryInformationJobObject(j.all, windows.JobObjectBasicProcessIdList, uintptr(unsafe.Pointer(&list[0])), size, nil)
		if errors.Is(err, windows.ERROR_MORE_DATA) {
			continue
		} else if err != nil {
			return nil, err
		}
		n := int(*(*uint32)(unsafe.Add(unsafe.Pointer(&list[0]), 4)))
		pids := map[int]bool{}
		for _, pid := range unsafe.Slice((*uintptr)(unsafe.Add(unsafe.Pointer(&list[0]), processIDListHead)), n) {
			pids[int(pid)] = true
		}
		return pids, nil
	}
}

// holds says that a process is in the job: between the list of pids and the look at the table a pid may have become a stranger's.
func (j *hold) holds(id record.Identity) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.mine[id] {
		h, err := proc.Open(id, windows.PROCESS_QUERY_INFORMATION)
		if err != nil {
			return false
		}
		defer func() { _ = windows.CloseHandle(h) }()
		var in bool
		if in, err = proc.InJob(h, j.all); err != nil || !in {
			return false
		}
		j.mine[id] = true
	}
	return true
}

// endsAtOnce ends the host's job: nothing in it can start anything any more.
func (k *process) endsAtOnce() func() {
	return func() { _ = windows.TerminateJobObject(k.inner, sweptStatus) }
}

// reapForEver tells how what the host has orphaned ended, and wakes a sweep. The host itself has a handle, which can't miss its end:
// that a message arrives is not guaranteed (JOBOBJECT_ASSOCIATE_COMPLETION_PORT).
func (k *process) reapForEver() {
	for {
		var message uint32
		var key uintptr
		var pid *windows.Overlapped
		if err := windows.GetQueuedCompletionStatus(k.port, &message, &key, &pid, windows.INFINITE); err != nil {
			return
		}
		switch id := int(uintptr(unsafe.Pointer(pid))); message {
		case msgNewProcess:
			k.hold.enter(id)
		case msgExitProcess, msgAbnormalExit:
			k.exited(id)
		}
	}
}

// enter notes a process that is new in the host's job. One that has ended already is not known any more.
func (j *hold) enter(pid int) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_INFORMATION, false, uint32(pid))
	if err != nil {
		return
	}
	if in, err := proc.InJob(h, j.inner); err != nil || !in {
		_ = windows.CloseHandle(h)
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.born[pid] = h
}

// exited tells the end of a process whose parent had ended before it: of others the parent knows.
func (k *process) exited(pid int) {
	k.hold.mu.Lock()
	h, known := k.hold.born[pid]
	delete(k.hold.born, pid)
	k.hold.mu.Unlock()
	k.noteReaped()
	if !known {
		return
	}
	defer func() { _ = windows.CloseHandle(h) }()
	row, orphan, err := proc.Ended(h)
	k.live.Lock()
	isHost := k.host == row.Identity
	k.live.Unlock()
	if err == nil && !isHost && orphan {
		k.tellExit(row, exitOf(h))
	}
}

// exitOf is how a process ended whose handle this is.
func exitOf(h windows.Handle) record.Exit {
	var status uint32
	if err := windows.GetExitCodeProcess(h, &status); err != nil {
		return record.Exit{Code: -1}
	}
	return record.Exit{Code: int(status)}
}
