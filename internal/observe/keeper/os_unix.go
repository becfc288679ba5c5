//go:build unix

package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// stopSignal keeps a process from starting others before it is killed.
const stopSignal = syscall.SIGSTOP

// CanStandBy says that HostParams.Bystander works here.
const CanStandBy = true

// startBystander puts a process of the keeper's own into the host's group. It catches no signal, so that whoever
// signals the group ends it. The host may be gone already, and its group with it: then there is nobody to stand by.
func (k *process) startBystander(host record.Identity) (*record.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, leash, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	attr := &os.ProcAttr{Env: os.Environ(), Files: []*os.File{in}, Sys: ownGroup()}
	attr.Sys.Pgid = host.PID
	row, err := k.startOther(inHostGroup, self, []string{self, bystanderCommand}, attr)
	if err != nil {
		leash.Close()
		return nil, err
	}
	k.leash = append(k.leash, leash)
	return row, nil
}

// startBeside starts a twin away from the host's group and session: only who looks for its command line finds it.
func (k *process) startBeside(argv []string, attr *os.ProcAttr) (*record.Process, error) {
	attr.Sys = ownSession()
	return k.startOther(isTwin, argv[0], argv, attr)
}

// startOther starts a process that is none of the host's. The caller holds live.
func (k *process) startOther(as standing, path string, argv []string, attr *os.ProcAttr) (*record.Process, error) {
	k.intoCgroup(attr.Sys)
	pid, err := startProcess(path, argv, attr)
	if err != nil {
		return nil, err
	}
	row, err := k.table.One(pid)
	if err != nil {
		// What nobody knows would be taken for the host's. It is reaped here: the reaper waits for live.
		_ = unix.Kill(pid, unix.SIGKILL)
		_, _ = unix.Wait4(pid, nil, 0, nil)
		return nil, err
	}
	// A process in the middle of execve(2) has its new memory and no arguments
	// yet: fs/exec.c wakes the parent of a vfork before it sets arg_start.
	row.Args = slices.Clone(argv)
	k.others[row.Identity] = as
	return &row, nil
}

// exitOf is how a process ended.
func exitOf(status syscall.WaitStatus) record.Exit {
	if status.Signaled() {
		return record.Exit{Code: -1, Signal: proc.SignalName(status.Signal())}
	}
	return record.Exit{Code: status.ExitStatus()}
}

// hold is what all processes of a run are in.
type hold struct {
	group *os.File // the folder of the run's cgroup; nil where none could be made
}

func (h *hold) release() { removeCgroup(h.group) }

// contain has what the host orphans come home, and makes the cgroup of the run.
func (k *process) contain(hello *Hello) error {
	err := proc.Adopt()
	if hello.Subreaper = err == nil; err != nil {
		hello.Weak = append(hello.Weak, fmt.Sprintf(
			"orphans of the host are not reparented to the bench (%v): a server that leaves the host's process tree is seen by the ledger alone",
			err))
	}
	if os.Getenv(NoCgroupEnv) != "" {
		err = errors.New("not wanted")
	} else {
		k.group, err = newCgroup()
	}
	if err == nil {
		hello.Cgroup = k.group.Name()
	} else {
		hello.Weak = append(hello.Weak, fmt.Sprintf(
			"the run has no cgroup of its own (%v): the last sweep finds processes by looking, and one that forks faster could outlive it", err))
	}
	probeFirst()
	return nil
}

// probeFirst has the os package fork and reap its probe of pidfd support, which
// comes with the first process; that must be over before a reaper runs.
func probeFirst() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
}

// below are the processes below the keeper.
func (k *process) below() ([]record.Process, error) { return k.table.Below(os.Getpid()) }

// endsAtOnce ends all that a run has, in one call; nil where there is no such call.
func (k *process) endsAtOnce() func() {
	if k.group == nil {
		return nil
	}
	return func() { killCgroup(k.group.Name()) }
}

// detached keeps the keeper out of the terminal's foreground group: a ^C is for the bench alone.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// send writes a command; the kernel duplicates the fds into the receiver
// (SCM_RIGHTS, unix(7)) together with the line's first byte.
func (k *Keeper) send(c command, files []*os.File) error {
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	conn, line := k.conn, append(line, '\n')
	if len(files) == 0 {
		_, err := conn.Write(line)
		return err
	}
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	n, _, err := conn.WriteMsgUnix(line, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(line) {
		_, err = conn.Write(line[n:])
	}
	return err
}

// fdReader reads a stream and collects the fds that ride along.
type fdReader struct {
	conn *socket.Conn
	oob  [256]byte
	fds  []int
}

func (r *fdReader) Read(p []byte) (int, error) {
	n, oobn, _, _, err := r.conn.ReadMsgUnix(p, r.oob[:])
	if oobn > 0 {
		messages, perr := syscall.ParseSocketControlMessage(r.oob[:oobn])
		if perr != nil {
			return n, perr
		}
		for _, m := range messages {
			if fds, ferr := syscall.ParseUnixRights(&m); ferr == nil {
				r.fds = append(r.fds, fds...)
			}
		}
	}
	return n, err
}

// receive has nothing to do: the fds have come with the line.
func (r *fdReader) receive(command) {}

// take hands over the fds that came with the last lines, closed on exec.
func (r *fdReader) take(n int) ([]*os.File, bool) {
	if len(r.fds) < n {
		return nil, false
	}
	files := make([]*os.File, n)
	for i, fd := range r.fds[:n] {
		syscall.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "host-stdio")
	}
	r.fds = r.fds[n:]
	return files, true
}

// endure has a write beyond the size that a file may have fail, which would end
// the process. It is not ignored, which a host would inherit.
func endure() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }

// asks is for systems where nothing but a signal asks a process to end.
func asks(string) func(record.Identity) error { return nil }
