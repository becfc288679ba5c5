package proc

import (
	"fmt"
	"time"

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
