package keeper

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// placeWait is how long a place may take to be made.
const placeWait = 15 * time.Second

// placementLink is the keeper's side of a placement that stays.
type placementLink struct {
	id      record.Identity // the placement's
	conn    *os.File
	answers chan word // to what the keeper asked for
}

// placed is how a placement is started: in a user namespace, in which it may make a
// pid namespace and mount a /proc, without being root here.
func placed(place record.Place, sys *syscall.SysProcAttr) {
	if place == record.PlacePID1 || place == record.PlaceInit {
		sys.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS
		sys.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		sys.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// startPlaced starts the host where the command wants it. The caller holds live.
func (k *process) startPlaced(path string, c HostParams, attr *os.ProcAttr) (*record.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ours, theirs, err := conversation()
	if err != nil {
		return nil, err
	}
	attr.Files = append(attr.Files, theirs)
	pid, err := k.spawn(self, append([]string{self, placementCommand, string(c.Place), path}, c.Argv...), attr, c.Place)
	theirs.Close()
	if err != nil {
		ours.Close()
		return nil, noPlace(err)
	}
	var row record.Process
	if err = limitFiles(pid, c.Files); err == nil {
		row, err = k.moveIn(ours, c.Place, pid)
	}
	if err != nil {
		ours.Close()
		if placement, gone := k.table.One(pid); gone == nil {
			k.others[placement.Identity] = isPlacement
			_ = proc.Signal(placement.Identity, syscall.SIGKILL)
		}
		return nil, err
	}
	return &row, nil
}

// moveIn waits until the host is there.
func (k *process) moveIn(ours *os.File, place record.Place, pid int) (record.Process, error) {
	in, first := json.NewDecoder(ours), word{}
	_ = ours.SetReadDeadline(time.Now().Add(placeWait))
	err := in.Decode(&first)
	switch {
	case errors.Is(err, io.EOF):
		err = nil
	case err == nil && first.Error != "":
		err = errors.New(first.Error)
	}
	if err != nil {
		return record.Process{}, noPlace(err)
	}
	row, err := k.table.One(pid)
	if err != nil {
		return row, noPlace(err)
	}
	if place == record.PlacePID1 { // it has turned into the host, or else has said why not
		ours.Close()
		return row, nil
	}
	if !first.Started {
		return row, noPlace(errors.New("the placement said nothing"))
	}
	_ = ours.SetReadDeadline(time.Time{})
	host, err := k.childOf(pid, func(record.Process) bool { return true })
	if err != nil {
		return host, err
	}
	k.others[row.Identity] = isPlacement
	k.placement = &placementLink{id: row.Identity, conn: ours, answers: make(chan word, 1)}
	go k.hear(k.placement, in, host)
	return host, tell(ours, word{Go: true})
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

// hear passes on what the placement has reaped.
func (k *process) hear(l *placementLink, in *json.Decoder, host record.Process) {
	defer bug.Ends()
	defer l.conn.Close()
	for {
		var w word
		if in.Decode(&w) != nil {
			return
		}
		switch {
		case w.Bug != nil:
			k.confess(w.Bug)
		case w.Exited != nil:
			k.tellExit(host, exitOf(syscall.WaitStatus(*w.Exited)))
		case w.Recycled != nil:
			k.live.Lock()
			row := k.recycled
			k.live.Unlock()
			k.tellExit(row, exitOf(syscall.WaitStatus(*w.Recycled)))
		default:
			l.answers <- w
		}
	}
}

// recycle has the placement start a process with a pid that was another's.
func (k *process) recycle(pid int) (*record.Process, error) {
	k.live.Lock()
	l := k.placement
	k.live.Unlock()
	if l == nil {
		return nil, errors.New("the host is not below an init of the bench")
	}
	if err := tell(l.conn, word{Recycle: pid}); err != nil {
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
	row, err := k.started(l.id.PID)
	if err != nil {
		return nil, err
	}
	k.others[row.Identity], k.recycled = isRecycled, row
	return &row, nil
}

// started is the bystander that the placement has just started. execve(2) lets its parent go on before the new program has arguments
// in /proc, so they are waited for.
func (k *process) started(placement int) (record.Process, error) {
	for deadline := time.Now().Add(placeWait); ; {
		row, err := k.childOf(placement, func(p record.Process) bool {
			return len(p.Args) > 1 && p.Args[1] == bystanderCommand && k.others[p.Identity] == isHosts
		})
		if err == nil || time.Now().After(deadline) {
			return row, err
		}
		time.Sleep(time.Millisecond) // sleep-ok: the kernel sends no word when it has them
	}
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
	return os.NewFile(uintptr(fds[0]), "placement"), os.NewFile(uintptr(fds[1]), "keeper"), nil
}
