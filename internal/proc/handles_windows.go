package proc

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// handleEntry is SYSTEM_HANDLE_TABLE_ENTRY_INFO_EX, a handle of a process. Only some users get the kernel object's address.
type handleEntry struct {
	_      uintptr
	pid    uintptr
	handle windows.Handle
	access uint32
	_      uint16
	typ    uint16
	_, _   uint32
}

// handlesHead is where the entries of SYSTEM_HANDLE_INFORMATION_EX begin: after their number, and a reserved word.
const handlesHead = 2 * unsafe.Sizeof(uintptr(0))

// handleTable reads the handles of all processes into a buffer, which it returns for the next time.
func handleTable(buf []byte) (all []handleEntry, again []byte, err error) {
	if buf == nil {
		buf = make([]byte, 1<<20)
	}
	for {
		err := windows.NtQuerySystemInformation(windows.SystemExtendedHandleInformation, unsafe.Pointer(&buf[0]), uint32(len(buf)), nil)
		switch err { //nolint:errorlint // an NTStatus is a number
		case nil:
			n := *(*uintptr)(unsafe.Pointer(&buf[0]))
			return unsafe.Slice((*handleEntry)(unsafe.Pointer(&buf[handlesHead])), n), buf, nil
		case windows.STATUS_INFO_LENGTH_MISMATCH:
			buf = make([]byte, 2*len(buf))
		default:
			return nil, buf, fmt.Errorf("failed to read the handle table: %w", err)
		}
	}
}

// What a handle to a file may be used for (winnt.h).
const (
	fileReadData  = 1
	fileWriteData = 2
	jobQuery      = 4 // JOB_OBJECT_QUERY
)

func modeOf(access uint32) string {
	switch {
	case access&(fileReadData|fileWriteData) == fileReadData|fileWriteData:
		return "both"
	case access&fileWriteData != 0:
		return "write"
	case access&fileReadData != 0:
		return "read"
	}
	return ""
}

// handleTypes are the numbers of two types of objects, which differ between versions of Windows. 0 is none.
type handleTypes struct{ file, job uint16 }

// typesOf finds the numbers by a handle of each type that this process opens for that.
func typesOf() (types handleTypes, all []handleEntry, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return types, nil, err
	}
	defer null.Close()
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return types, nil, err
	}
	defer func() { _ = windows.CloseHandle(job) }()
	all, _, err = handleTable(nil)
	for _, e := range all {
		switch {
		case int(e.pid) != os.Getpid():
		case e.handle == windows.Handle(null.Fd()):
			types.file = e.typ
		case e.handle == job:
			types.job = e.typ
		}
	}
	if err == nil && (types.file == 0 || types.job == 0) {
		err = errors.New("the handle table does not have this process's own handles")
	}
	return types, all, err
}

// witness looks into the handles of the processes of a run. Those that are older than the bench are none of it, and got no end of a
// pipe from it unless somebody duplicated one into them.
type witness struct {
	table   *Table
	types   handleTypes
	entries []handleEntry
	blind   bool // a process of the run could not be looked into
	pipes   map[pipeEnd][]record.Holder
	opened  map[uintptr]windows.Handle
}

func newWitness(table *Table) (*witness, error) {
	w := &witness{table: table, pipes: map[pipeEnd][]record.Holder{}, opened: map[uintptr]windows.Handle{}}
	types, all, err := typesOf()
	if err != nil {
		return nil, err
	}
	w.types = types
	eldest := Self().Start
	if parent, err := Identify(os.Getppid()); err == nil {
		eldest = min(eldest, parent.Start)
	}
	for _, e := range all {
		if owner, lives := table.all[int(e.pid)]; lives && owner.row.Start >= eldest {
			w.entries = append(w.entries, e)
		}
	}
	return w, nil
}

func (w *witness) close() {
	for _, h := range w.opened {
		_ = windows.CloseHandle(h)
	}
}

// mine is a handle of this process to what another one's handle is of.
func (w *witness) mine(pid uintptr, h windows.Handle, access, options uint32) (windows.Handle, error) {
	from, known := w.opened[pid]
	if !known {
		var err error
		if from, err = Open(w.table.all[int(pid)].row.Identity, windows.PROCESS_DUP_HANDLE); err != nil {
			return 0, err
		}
		w.opened[pid] = from
	}
	var own windows.Handle
	if err := windows.DuplicateHandle(from, h, windows.CurrentProcess(), &own, access, false, options); err != nil {
		return 0, err
	}
	return own, nil
}

// findPipes finds out who has which end of which pipe.
func (w *witness) findPipes() {
	for _, e := range w.entries {
		if e.typ != w.types.file || modeOf(e.access) == "" {
			continue
		}
		to, err := w.ask(e.pid, e.handle, e.access)
		if err != nil {
			w.blind = w.blind || !errors.Is(err, ErrGone) && !errors.Is(err, windows.ERROR_INVALID_HANDLE)
			continue
		}
		if to.isPipe {
			owner := w.table.all[int(e.pid)].row
			w.pipes[to.end] = append(w.pipes[to.end], record.Holder{
				Identity: owner.Identity, FD: int(e.handle), Mode: modeOf(e.access), Role: record.HolderRole(owner.Comm), Handle: true,
			})
		}
	}
}

// pipeEnd is one of the two ends of a pipe.
type pipeEnd struct {
	pipe   string // the same for both
	server bool   // that of whoever made it
}

// target is what a handle leads to.
type target struct {
	name   string // "pipe:[...]", a file, or a device
	isPipe bool
	end    pipeEnd
	// alone says that the other end of the pipe is closed, shared that there are several pipes of the name: their ends can't be told apart.
	alone, shared bool
}

// ask says what a handle of a process leads to.
func (w *witness) ask(pid uintptr, h windows.Handle, access uint32) (target, error) {
	about := handleOf{owner: w.table.all[int(pid)].row.Identity, handle: h, writes: access&fileWriteData != 0}
	if err := questions.may(about); err != nil {
		return target{}, err
	}
	own, err := w.mine(pid, h, 0, windows.DUPLICATE_SAME_ACCESS)
	if err != nil {
		return target{}, err
	}
	return questions.ask(about, func() target {
		defer func() { _ = windows.CloseHandle(own) }()
		return targetOf(own)
	})
}

// targetOf says what a handle leads to.
func targetOf(h windows.Handle) target {
	switch kind, _ := windows.GetFileType(h); kind {
	case windows.FILE_TYPE_PIPE:
		return pipeOf(h)
	case windows.FILE_TYPE_DISK:
		path := make([]uint16, windows.MAX_LONG_PATH)
		if n, err := windows.GetFinalPathNameByHandle(h, &path[0], uint32(len(path)), 0); err == nil && n < uint32(len(path)) {
			return target{name: text.Name(windows.UTF16ToString(path[:n]))}
		}
		return target{name: "a file"}
	}
	var mode uint32
	if windows.GetConsoleMode(h, &mode) == nil {
		return target{name: "the console"}
	}
	return target{name: os.DevNull}
}

var (
	ntdll       = windows.NewLazySystemDLL("ntdll.dll")
	queryFile   = ntdll.NewProc("NtQueryInformationFile")
	queryObject = ntdll.NewProc("NtQueryObject")
)

// queryInto is NtQueryInformationFile.
func queryInto(h windows.Handle, class uintptr, into unsafe.Pointer, size uintptr) bool {
	var done windows.IO_STATUS_BLOCK
	status, _, _ := queryFile.Call(uintptr(h), uintptr(unsafe.Pointer(&done)), uintptr(into), size, class)
	return status == 0
}

// pipeState is FILE_PIPE_LOCAL_INFORMATION.
type pipeState struct {
	_, _, _, instances, _, _, _, _, state, end uint32
}

const pipeConnected = 3 // FILE_PIPE_CONNECTED_STATE

// pipeOf is the end of a pipe, or of something that is no named pipe and has but the type of one.
func pipeOf(h windows.Handle) target {
	const fileInternalInformation, filePipeLocalInformation = 6, 24
	var state pipeState
	if !queryInto(h, filePipeLocalInformation, unsafe.Pointer(&state), unsafe.Sizeof(state)) {
		return target{name: "a pipe"}
	}
	to := target{isPipe: true, alone: state.state != pipeConnected}
	// Windows has a number for both ends, and since 10 no name; Wine has a name, which others may have, too, and no number.
	var index uint64
	if queryInto(h, fileInternalInformation, unsafe.Pointer(&index), unsafe.Sizeof(index)) && index != 0 {
		to.end.pipe = fmt.Sprintf("%x", index)
	} else {
		to.end.pipe, to.shared = pipeName(h), state.instances > 1
	}
	to.end.server = state.end != 0
	to.name = "pipe:[" + cmp.Or(to.end.pipe, "closed") + "]" // under Wine the end that is left has no name
	return to
}

// pipeName is the name of a pipe.
func pipeName(h windows.Handle) string {
	const objectNameInformation = 1
	var name [256]uintptr
	status, _, _ := queryObject.Call(uintptr(h), objectNameInformation, uintptr(unsafe.Pointer(&name)), unsafe.Sizeof(name), 0)
	if status != 0 {
		return ""
	}
	full := (*windows.NTUnicodeString)(unsafe.Pointer(&name[0])).String()
	return text.Name(strings.TrimPrefix(full, `\Device\NamedPipe\`))
}

// access is what a handle may be used for; 0 where the table does not have it.
func (w *witness) access(pid uintptr, h windows.Handle) uint32 {
	i := slices.IndexFunc(w.entries, func(e handleEntry) bool { return e.pid == pid && e.handle == h })
	if i < 0 {
		return 0
	}
	return w.entries[i].access
}

// descriptors are what stdin, stdout and stderr of a process lead to, and who has the other ends. They are those that it was started
// with: one that closes or replaces them does not change that.
func (w *witness) descriptors(e *record.Evidence, std [3]windows.Handle) {
	for fd, h := range std {
		d := record.Descriptor{FD: fd, Mode: "write"}
		if fd == 0 {
			d.Mode = "read"
		}
		if h == 0 { // a conhost.exe has none of the three
			d.Target = "closed"
			e.Descriptors = append(e.Descriptors, d)
			continue
		}
		to, err := w.ask(uintptr(e.PID), h, w.access(uintptr(e.PID), h))
		switch {
		case err != nil:
			e.Unseen = append(e.Unseen, fmt.Sprintf("what handle %d leads to: %v", h, err))
		case to.isPipe && to.shared && !to.alone:
			e.Unseen = append(e.Unseen, fmt.Sprintf("who holds the other end of handle %d: several pipes have its name", h))
		case to.isPipe:
			d.Known = !w.blind || to.alone
			if !to.alone {
				d.Holders = slices.Clone(w.pipes[pipeEnd{to.end.pipe, !to.end.server}])
			}
		}
		d.Target = to.name
		e.Descriptors = append(e.Descriptors, d)
	}
}
