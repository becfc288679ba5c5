package proc

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
)

// pollEvery is how often a death is looked for where no handle can be had.
const pollEvery = 20 * time.Millisecond

// ErrGone says that a process has ended, or that its pid belongs to another.
var ErrGone = errors.New("the process has ended")

// Identify returns the identity of the process that has the pid now. Start is its creation time, in 100 ns since 1601. ErrGone: there
// is none.
func Identify(pid int) (record.Identity, error) {
	h, err := openPID(pid, windows.PROCESS_QUERY_LIMITED_INFORMATION)
	if err != nil {
		return record.Identity{}, fmt.Errorf("process %d: %w", pid, err)
	}
	defer func() { _ = windows.CloseHandle(h) }()
	for deadline := time.Now().Add(unbornFor); ; time.Sleep(time.Millisecond) { // sleep-ok: nothing tells
		start, ended, err := times(h)
		if errors.Is(err, errUnborn) && !ended && time.Now().Before(deadline) {
			continue
		}
		if err == nil && ended {
			err = ErrGone
		}
		if err != nil {
			return record.Identity{}, fmt.Errorf("process %d: %w", pid, err)
		}
		return record.Identity{PID: pid, Start: start}, nil
	}
}

// unbornFor is how long a process may take from its creation to its creation time.
const unbornFor = 5 * time.Second

// errUnborn is of a process that has no creation time yet: under Wine it comes once the process has loaded its libraries, and is
// some moment of the far future until then.
var errUnborn = errors.New("the process is only just being created")

// isUnborn says that this is no creation time.
func isUnborn(start uint64) bool { return start > now()+uint64(time.Hour/hundredNanos) }

// now is on the clock of creation times.
func now() uint64 {
	var t windows.Filetime
	windows.GetSystemTimePreciseAsFileTime(&t)
	return filetime(t)
}

// openPID is a handle of the process that has the pid now, dead or alive.
func openPID(pid int, access uint32) (windows.Handle, error) {
	if pid <= 0 {
		return 0, ErrGone
	}
	h, err := windows.OpenProcess(access, false, uint32(pid))
	if errors.Is(err, windows.ERROR_INVALID_PARAMETER) { // there is no such process (OpenProcess)
		err = ErrGone
	}
	return h, err
}

// Open is a handle of exactly that process, dead or alive. The handle comes first and the check after: what fits then is its own.
func Open(id record.Identity, access uint32) (windows.Handle, error) {
	h, err := openPID(id.PID, access|windows.PROCESS_QUERY_LIMITED_INFORMATION)
	if err != nil {
		return 0, err
	}
	if start, _, err := times(h); err != nil || start != id.Start {
		_ = windows.CloseHandle(h)
		return 0, errors.Join(ErrGone, err)
	}
	return h, nil
}

// times says when a process was created, and whether it has ended.
func times(h windows.Handle) (start uint64, ended bool, err error) {
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return 0, false, err
	}
	if isUnborn(filetime(created)) {
		err = errUnborn
	}
	return filetime(created), filetime(exited) != 0, err
}

// filetime is a time in 100 ns since 1601.
func filetime(t windows.Filetime) uint64 { return uint64(t.HighDateTime)<<32 | uint64(t.LowDateTime) }

// check is nil while the process lives.
func check(id record.Identity) error {
	h, err := Open(id, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	if _, ended, err := times(h); err != nil || ended {
		return errors.Join(ErrGone, err)
	}
	return nil
}

// killed is the exit status of what was ended by a signal: 128 and the signal's number, as of a shell.
const killed = 128

// signalExactly ends the process: there are no signals.
func signalExactly(id record.Identity, sig syscall.Signal) error {
	if sig != syscall.SIGKILL {
		return fmt.Errorf("Windows has no %s: %w", SignalName(sig), errors.ErrUnsupported) //nolint:staticcheck // a name
	}
	h, err := Open(id, windows.PROCESS_TERMINATE)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	if _, ended, err := times(h); err != nil || ended {
		return errors.Join(ErrGone, err)
	}
	return windows.TerminateProcess(h, uint32(killed+int(sig)))
}

// waitTold waits on a handle of the process. The call takes a thread until the process ends or ctx does.
func waitTold(ctx context.Context, id record.Identity) (told bool, err error) {
	h, err := Open(id, windows.SYNCHRONIZE)
	if err != nil {
		return errors.Is(err, ErrGone), nil //nolint:nilerr // what can't be opened is polled for
	}
	defer func() { _ = windows.CloseHandle(h) }()
	enough, err := windows.CreateEvent(nil, 1, 0, nil)
	if err != nil {
		return false, nil //nolint:nilerr // likewise
	}
	defer func() { _ = windows.CloseHandle(enough) }()
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { _ = windows.SetEvent(enough); close(set) })
	defer func() {
		if !stop() {
			<-set
		}
	}()
	which, err := windows.WaitForMultipleObjects([]windows.Handle{h, enough}, false, windows.INFINITE)
	switch {
	case err != nil:
		return false, nil //nolint:nilerr // likewise
	case which == windows.WAIT_OBJECT_0:
		return true, nil
	}
	return true, context.Cause(ctx)
}

// Newborn is the process that was given a pid last. Here it can't be found out.
func Newborn(int) (record.Identity, bool) { return record.Identity{}, false }

// HasEnv says that a process was started with a variable in its environment. A job knows here what is of a run.
func HasEnv(record.Identity, string) bool { return false }

// Adopt has nothing to do: the keeper's job holds what the host orphans.
func Adopt() error { return nil }

// CensusName names how the process table is read.
const CensusName = "NtQuerySystemInformation"

// Weak says in sentences what can't be seen or done on this machine.
func Weak() []string {
	return []string{
		"there are no signals, process groups and zombies on Windows: what a host does with them is not judged",
		"what a survivor is blocked in can't be seen",
	}
}

// TryPidfd says why there are no handles of processes: there always are.
func TryPidfd() error { return nil }

// TrySockDiag is for Linux alone.
func TrySockDiag() error { return fmt.Errorf("no sock_diag: %w", errors.ErrUnsupported) }

// TryProc says why no process can be seen: nothing, where there is no /proc to look at.
func TryProc() error { return nil }

// Ended is the row of a process that has ended, by a handle of it, and whether its parent lives: what the kernel still knows.
func Ended(h windows.Handle) (row record.Process, orphan bool, err error) {
	var basic windows.PROCESS_BASIC_INFORMATION
	err = windows.NtQueryInformationProcess(h, windows.ProcessBasicInformation, unsafe.Pointer(&basic), uint32(unsafe.Sizeof(basic)), nil)
	if err != nil {
		return row, false, err
	}
	start, _, err := times(h)
	row = record.Process{Identity: record.Identity{PID: int(basic.UniqueProcessId), Start: start}, FDs: -1}
	parent, gone := Identify(int(basic.InheritedFromUniqueProcessId))
	if gone == nil && parent.Start <= start {
		row.PPID = parent.PID
	}
	return row, row.PPID == 0, err
}

// Asks is what asks a process to end: the event of Ctrl-C (package console).
const Asks = "CTRL_C"

// signals are those that the package syscall knows everywhere.
var signals = map[string]syscall.Signal{
	"SIGHUP": syscall.SIGHUP, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT, "SIGILL": syscall.SIGILL,
	"SIGTRAP": syscall.SIGTRAP, "SIGABRT": syscall.SIGABRT, "SIGBUS": syscall.SIGBUS, "SIGFPE": syscall.SIGFPE,
	"SIGKILL": syscall.SIGKILL, "SIGSEGV": syscall.SIGSEGV, "SIGPIPE": syscall.SIGPIPE, "SIGALRM": syscall.SIGALRM,
	"SIGTERM": syscall.SIGTERM,
}

func nameOf(sig syscall.Signal) string {
	for name, s := range signals {
		if s == sig {
			return name
		}
	}
	return ""
}

func numberOf(name string) syscall.Signal { return signals[name] }
