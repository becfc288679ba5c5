package keeper

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

// placeWait is how long a place may take to be made.
const placeWait = 15 * time.Second

// lodging is the keeper's side of a lodge that stays.
type lodging struct {
	id      record.Identity // the lodge's
	conn    *os.File
	answers chan word // to what the keeper asked for
}

// inNamespace says that a place is a pid namespace.
func inNamespace(place record.Place) bool {
	return place == record.PlacePID1 || place == record.PlaceInit
}

// placed is how a lodge is started: in a user namespace, in which it may make a
// pid namespace and mount a /proc, without being root here.
func placed(place record.Place, sys *syscall.SysProcAttr) {
	if inNamespace(place) {
		sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// startPlaced starts the host where the command wants it. The caller holds
// live.
func (k *process) startPlaced(path string, c command, attr *os.ProcAttr) (*record.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := conversation()
	if err != nil {
		return nil, err
	}
	attr.Files = append(attr.Files, theirs)
	p, err := k.spawn(self, append([]string{self, lodgeCommand, string(c.Place), path}, c.Argv...), attr, c.Place)
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, noPlace(err)
	}
	pid := p.Pid
	_ = p.Release()
	if c.Files > 0 {
		err = limitFiles(pid, c.Files)
	}
	var row record.Process
	if err == nil {
		row, err = k.moveIn(ours, c.Place, pid)
	}
	if err != nil {
		ours.Close()
		if lodge, gone := proc.NewTable().One(pid); gone == nil {
			k.others[lodge.Identity] = isLodge
			_ = proc.Signal(lodge.Identity, syscall.SIGKILL)
		}
		return nil, err
	}
	return &row, nil
}

// moveIn waits until the host is there.
func (k *process) moveIn(ours *os.File, place record.Place, pid int) (record.Process, error) {
	lines := bufio.NewScanner(ours)
	_ = ours.SetReadDeadline(time.Now().Add(placeWait))
	var first word
	said := lines.Scan()
	if said {
		if err := json.Unmarshal(lines.Bytes(), &first); err != nil {
			return record.Process{}, err
		}
	}
	if first.Error != "" {
		return record.Process{}, noPlace(errors.New(first.Error))
	}
	row, err := k.table.One(pid)
	if err != nil {
		return row, noPlace(err)
	}
	if place == record.PlacePID1 { // it has turned into the host, or else has said why not
		ours.Close()
		if err := lines.Err(); err != nil {
			return row, noPlace(err)
		}
		return row, nil
	}
	if !first.Started {
		return row, noPlace(errors.New("the lodge said nothing"))
	}
	_ = ours.SetReadDeadline(time.Time{})
	host, err := k.childOf(pid, func(record.Process) bool { return true })
	if err != nil {
		return host, err
	}
	k.others[row.Identity] = isLodge
	k.lodge = &lodging{id: row.Identity, conn: ours, answers: make(chan word, 1)}
	go k.hear(k.lodge, lines, host)
	return host, k.lodge.tell(word{Go: true})
}

// childOf is a child of a process.
func (k *process) childOf(pid int, is func(record.Process) bool) (record.Process, error) {
	rows, err := k.table.Below(pid)
	if err != nil {
		return record.Process{}, err
	}
	i := slices.IndexFunc(rows, func(row record.Process) bool { return row.PPID == pid && is(row) })
	if i < 0 {
		return record.Process{}, errors.New("it is not to be seen")
	}
	return rows[i], nil
}

func (l *lodging) tell(w word) error {
	line, err := json.Marshal(w)
	if err != nil {
		return err
	}
	_, err = l.conn.Write(append(line, '\n'))
	return err
}

// hear passes on what the lodge has reaped.
func (k *process) hear(l *lodging, lines *bufio.Scanner, host record.Process) {
	defer l.conn.Close()
	for lines.Scan() {
		var w word
		if json.Unmarshal(lines.Bytes(), &w) != nil {
			return
		}
		switch {
		case w.Exited != nil:
			k.say(reply{Exited: &Exited{Process: host, Exit: exitOf(syscall.WaitStatus(*w.Exited)), Host: true, Asked: k.wasAsked(host.Identity)}})
		case w.Innocent != nil:
			k.live.Lock()
			row, swept := k.innocent, k.swept
			k.live.Unlock()
			if !swept {
				k.say(reply{Exited: &Exited{Process: row, Exit: exitOf(syscall.WaitStatus(*w.Innocent)), Recycled: true}})
			}
		default:
			l.answers <- w
		}
	}
}

// recycle has the lodge start a process with a pid that was another's.
func (k *process) recycle(c command) (*record.Process, error) {
	k.live.Lock()
	l := k.lodge
	k.live.Unlock()
	if l == nil {
		return nil, errors.New("the host is not below an init of the bench")
	}
	if err := l.tell(word{Recycle: c.PID}); err != nil {
		return nil, err
	}
	select {
	case w := <-l.answers:
		if w.Error != "" {
			return nil, errors.New(w.Error)
		}
	case <-time.After(placeWait):
		return nil, errors.New("no answer from the init of the namespace")
	}
	k.live.Lock()
	defer k.live.Unlock()
	row, err := k.childOf(l.id.PID, func(p record.Process) bool {
		return len(p.Args) > 1 && p.Args[1] == innocentCommand && k.others[p.Identity] == isHosts
	})
	if err != nil {
		return nil, err
	}
	k.others[row.Identity], k.innocent = isRecycled, row
	return &row, nil
}

// conversation is a pair of sockets, of which the second is for a child.
func conversation() (ours, theirs *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if err := unix.SetNonblock(fds[1], false); err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "lodge"), os.NewFile(uintptr(fds[1]), "keeper"), nil
}

// TryPlace says why a host can't be put into such a place here.
func TryPlace(place record.Place) error {
	if !inNamespace(place) {
		return nil
	}
	runtime.LockOSThread() // PDEATHSIG is that of the thread which forks
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	program, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	ours, theirs, err := conversation()
	if err != nil {
		return err
	}
	defer ours.Close()
	attr := &os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, nil, nil, theirs}, Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}}
	placed(record.PlacePID1, attr.Sys)
	p, err := os.StartProcess(self, []string{self, lodgeCommand, string(record.PlacePID1), program, program}, attr)
	theirs.Close()
	if err != nil {
		return fmt.Errorf("a pid namespace can't be made: %w", err)
	}
	_ = ours.SetReadDeadline(time.Now().Add(placeWait))
	var w word
	if lines := bufio.NewScanner(ours); lines.Scan() {
		_ = json.Unmarshal(lines.Bytes(), &w)
	}
	_, err = p.Wait()
	if w.Error != "" {
		return errors.New(w.Error)
	}
	return err
}
