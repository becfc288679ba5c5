package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Examine gathers what can be known of each process, in the order of ids. It never fails: what could not be read is named in
// Unseen, with the reason.
func Examine(ids []record.Identity) []record.Evidence {
	table := NewTable()
	found := make([]record.Evidence, len(ids))
	for i, id := range ids {
		found[i] = examine(table, id)
	}
	w, err := newWitness(table)
	if err != nil {
		for i := range found {
			found[i].Unseen = append(found[i].Unseen, "handles and jobs: "+err.Error())
		}
		return found
	}
	defer w.close()
	w.findPipes()
	for i := range found {
		w.examine(&found[i])
	}
	return found
}

// examine adds what the handle table shows.
func (w *witness) examine(e *record.Evidence) {
	if _, lives := w.table.all[e.PID]; !lives {
		return
	}
	std, err := standardOf(e.Identity)
	if err != nil {
		e.Unseen = append(e.Unseen, "stdin, stdout and stderr: "+err.Error())
	} else {
		w.descriptors(e, std)
	}
	if e.Job, err = w.jobOf(e.Identity); err != nil {
		e.Unseen = append(e.Unseen, "job: "+err.Error())
	}
}

// standardOf are the handles that a process was given as stdin, stdout and stderr.
func standardOf(id record.Identity) (std [3]windows.Handle, err error) {
	h, err := Open(id, windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.PROCESS_VM_READ)
	if err != nil {
		return std, err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	params, err := parametersOf(h)
	if err != nil {
		return std, err
	}
	return [3]windows.Handle{params.StandardInput, params.StandardOutput, params.StandardError}, nil
}

func examine(table *Table, id record.Identity) record.Evidence {
	e := record.Evidence{Process: record.Process{Identity: id}}
	row, err := table.One(id.PID)
	if err == nil && row.Identity != id {
		err = fmt.Errorf("pid %d belongs to another process by now: %w", id.PID, ErrGone)
	}
	if err != nil {
		e.Unseen = append(e.Unseen, "anything: "+err.Error())
		return e
	}
	e.Process = row
	e.Age = record.Duration(max(0, time.Duration(now()-id.Start)*hundredNanos))
	e.Parent = table.parentOf(id.PID)
	if exe, err := exeOf(id); err == nil {
		e.Exe = text.Name(exe)
	} else {
		e.Unseen = append(e.Unseen, "exe: "+err.Error())
	}
	e.Unseen = append(e.Unseen, "system call: not on this system")
	return e
}

func exeOf(id record.Identity) (string, error) {
	h, err := Open(id, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	path := make([]uint16, windows.MAX_LONG_PATH)
	n := uint32(len(path))
	if err := windows.QueryFullProcessImageName(h, 0, &path[0], &n); err != nil {
		return "", err
	}
	return windows.UTF16ToString(path[:n]), nil
}

var isProcessInJob = windows.NewLazySystemDLL("kernel32.dll").NewProc("IsProcessInJob")

// InJob says whether a process is in a job. x/sys does not have the call. Wine wants PROCESS_QUERY_INFORMATION for it.
func InJob(process, job windows.Handle) (bool, error) {
	var in int32
	if ok, _, err := isProcessInJob.Call(uintptr(process), uintptr(job), uintptr(unsafe.Pointer(&in))); ok == 0 {
		return false, err
	}
	return in != 0, nil
}

// jobs are those that a process has handles of, and how what is in them may leave.
type jobs struct {
	owner record.Process
	flags uint32
}

// jobOf says in whose job a process is. This process has those of the run, which are not meant.
func (w *witness) jobOf(id record.Identity) (string, error) {
	h, err := Open(id, windows.PROCESS_QUERY_INFORMATION)
	if err != nil {
		return "", err
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var its, others []jobs
	for _, e := range w.entries {
		if e.typ != w.types.job || int(e.pid) == os.Getpid() {
			continue
		}
		job, err := w.mine(e.pid, e.handle, jobQuery, 0)
		if err != nil {
			return "", err
		}
		in, err := InJob(h, job)
		flags := limitFlags(job)
		_ = windows.CloseHandle(job)
		if owner := w.table.all[int(e.pid)].row; err == nil && in {
			its = counted(its, owner, flags)
		} else if err == nil {
			others = counted(others, owner, flags)
		}
	}
	return describeJobs(its, others), nil
}

// limitFlags are the limits of a job, none where they can't be read.
func limitFlags(job windows.Handle) uint32 {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	at, size := uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))
	if err := windows.QueryInformationJobObject(job, windows.JobObjectExtendedLimitInformation, at, size, nil); err != nil {
		return 0
	}
	return limits.BasicLimitInformation.LimitFlags
}

// counted adds a job to those of its owner.
func counted(all []jobs, owner record.Process, flags uint32) []jobs {
	i := slices.IndexFunc(all, func(j jobs) bool { return j.owner.Identity == owner.Identity })
	if i < 0 {
		return append(all, jobs{owner, flags})
	}
	all[i].flags |= flags
	return all
}

// describeJobs says in whose job a process is, or who has jobs that it is not in.
func describeJobs(its, others []jobs) string {
	var words []string
	for _, j := range its {
		words = append(words, fmt.Sprintf("%s (pid %d)%s", j.owner.Comm, j.owner.PID, leaving(j.flags)))
	}
	if slices.Sort(words); len(words) > 0 {
		return "a job of " + strings.Join(words, " and ")
	}
	for _, j := range others {
		words = append(words, fmt.Sprintf("%s (pid %d)%s", j.owner.Comm, j.owner.PID, leaving(j.flags)))
	}
	if slices.Sort(words); len(words) > 0 {
		return "none of the jobs of " + strings.Join(words, " and ")
	}
	return "no job that a process of the host has a handle of"
}

// leaving says how a process may leave a job.
func leaving(flags uint32) string {
	switch {
	case flags&windows.JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK != 0:
		return ", which lets go of what is started in there (silent breakaway)"
	case flags&windows.JOB_OBJECT_LIMIT_BREAKAWAY_OK != 0:
		return ", which lets go of what asks for it (breakaway)"
	}
	return ""
}

// askFor is how long one question about a handle may take: while another thread reads from the same file, Windows lets the one who
// asks wait for that (the lock of a file that was opened for synchronous use).
const askFor = 100 * time.Millisecond

// How many questions may hang at a time, of all runs of this process. Each of them keeps a thread and a handle until the read or the write
// is over that it waits for, and nothing can take it back. Handles that may only be read from are counted apart: a server that waits for
// its next request reads, and however many do, who could write to them is to be known.
const (
	mostReads  = 8
	mostWrites = 64
)

var (
	errBusy    = errors.New("it is being read from or written to, and nothing can be asked about it meanwhile")
	errTooMany = errors.New("too many questions about other handles have no answer yet")
)

// handleOf is a handle of a process.
type handleOf struct {
	owner  record.Identity
	handle windows.Handle
	writes bool // it may be written to
}

// asking is which questions hang: none of them is asked again while it does, and only so many may.
type asking struct {
	mu      sync.Mutex
	hanging map[handleOf]int
}

var questions = &asking{hanging: map[handleOf]int{}}

// may says why a question can't be asked.
func (a *asking) may(about handleOf) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.hanging[about] > 0:
		return errBusy
	case about.writes && a.count(true) >= mostWrites, !about.writes && a.count(false) >= mostReads:
		return errTooMany
	}
	return nil
}

// count is how many questions hang about handles that may be written to, or about the others. It is called with mu held.
func (a *asking) count(writes bool) (n int) {
	for about := range a.hanging {
		if about.writes == writes {
			n++
		}
	}
	return n
}

// hangs notes that a question has no answer in time, until there is one.
func (a *asking) hangs(about handleOf, said <-chan target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hanging[about]++
	go func() {
		<-said
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.hanging[about]--; a.hanging[about] == 0 {
			delete(a.hanging, about)
		}
	}()
}

// ask returns the answer, or errBusy where there is none in time.
func (a *asking) ask(about handleOf, answer func() target) (target, error) {
	said := make(chan target, 1)
	go func() { said <- answer() }()
	patience := time.NewTimer(askFor)
	defer patience.Stop()
	select {
	case to := <-said:
		return to, nil
	case <-patience.C:
		a.hangs(about, said)
		return target{}, errBusy
	}
}
