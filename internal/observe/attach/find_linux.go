package attach

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// errNone says that there is no process of a pid or a name.
var errNone = errors.New("no such process")

// Find lists the processes that a pid or a name means: the name of the program, or that of the script that an interpreter runs. Of those
// that are below one another it is the topmost.
func Find(name string) ([]record.Process, error) {
	if pid, err := strconv.Atoi(name); err == nil {
		if pid < 1 {
			return nil, fmt.Errorf("process %d: %w", pid, errNone)
		}
		if ofKernel(pid) {
			return nil, fmt.Errorf("process %d is a thread of the kernel, which launches no server: %w", pid, errNone)
		}
		row, err := proc.NewTable().One(pid)
		switch {
		case errors.Is(err, proc.ErrGone):
			return nil, fmt.Errorf("process %d: %w%s", pid, errNone, orHidden())
		case err != nil:
			return nil, err
		case row.State == record.StateZombie:
			return nil, fmt.Errorf("process %d is a zombie: %w", pid, errNone)
		}
		return []record.Process{row}, nil
	}
	all, err := proc.Processes()
	if err != nil {
		return nil, err
	}
	found := map[int]bool{}
	for i := range all {
		found[all[i].PID] = all[i].PID != os.Getpid() && called(&all[i], name)
	}
	hosts := slices.DeleteFunc(all, func(p record.Process) bool { return !found[p.PID] || found[p.PPID] })
	if len(hosts) == 0 {
		return nil, fmt.Errorf("no process is called %s: %w%s", name, errNone, orHidden())
	}
	return hosts, nil
}

// ofKernel says that a process is a thread of the kernel: PF_KTHREAD (include/linux/sched.h) of its flags, field 9 of its stat.
func ofKernel(pid int) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	after := string(line[bytes.LastIndexByte(line, ')')+1:])
	fields := strings.Fields(after)
	if len(fields) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(fields[6], 10, 64)
	return err == nil && flags&0x00200000 != 0
}

// called says that a process goes by a name.
func called(p *record.Process, name string) bool {
	names := []string{p.Comm}
	for i, arg := range p.Args {
		base := path.Base(arg)
		if i == 0 {
			names = append(names, base)
		} else if !strings.HasPrefix(arg, "-") {
			names = append(names, base, strings.TrimSuffix(base, path.Ext(base)))
			break
		}
	}
	return slices.Contains(names, name)
}

// orHidden says that there may be a process although this user sees none: /proc can be mounted so that it hides those of others.
func orHidden() string {
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	for line := range strings.Lines(string(mounts)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/proc" && strings.Contains(line, "hidepid=") && os.Geteuid() != 0 {
			return ", or it is another user's: /proc hides those here (hidepid)"
		}
	}
	return ""
}
