package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// maxHolders caps who is listed for one descriptor: where every server
// inherits the write end of every other's stdin, holders grow with the square.
const (
	maxHolders = 16
	// maxFound caps how many are looked at for one end, both directions.
	maxFound = 256
)

// descriptors reads what stdin, stdout and stderr are. A closed one is left out.
func (x *examiner) descriptors(e *record.Evidence) {
	for fd := range 3 {
		target, err := os.Readlink(procPath(e.PID, "fd/"+strconv.Itoa(fd)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			unseen(e, "descriptors", err)
			return
		}
		e.Descriptors = append(e.Descriptors, record.Descriptor{FD: fd, Target: text.Name(target), Mode: x.mode(e.PID, fd)})
	}
}

// mode reads how a descriptor was opened: the flags of fdinfo are octal (proc_pid_fdinfo(5)).
func (x *examiner) mode(pid, fd int) string {
	info, err := x.r.line(pid, "fdinfo/"+strconv.Itoa(fd))
	if err != nil {
		return ""
	}
	flags, err := strconv.ParseUint(fields(info)["flags"], 8, 32)
	if err != nil {
		return ""
	}
	return [...]string{unix.O_RDONLY: "read", unix.O_WRONLY: "write", unix.O_RDWR: "both", unix.O_ACCMODE: "both"}[flags&unix.O_ACCMODE]
}

// findHolders fills in who holds the other end of each pipe and each pair of
// sockets, with one look through the descriptors of every process.
func (x *examiner) findHolders(all []record.Evidence) {
	x.holders(all, map[string][]record.Holder{})
}

// holders does so, and looks for some more ends: what a link in /proc/PID/fd shows -> who has it.
func (x *examiner) holders(all []record.Evidence, ends map[string][]record.Holder) (certain bool) {
	var peers map[uint32]uint32
	var noPeers error
	if slices.ContainsFunc(all, func(e record.Evidence) bool { return slices.ContainsFunc(e.Descriptors, isSocket) }) {
		peers, noPeers = socketPeers()
	}
	for i := range all {
		for _, d := range all[i].Descriptors {
			if end := otherEnd(d.Target, peers); end != "" {
				ends[end] = nil
			}
		}
	}
	blind, err := x.scan(ends)
	uncertain := x.uncertain(blind)
	for i := range all {
		e := &all[i]
		certain := err == nil && !uncertain(e.Identity)
		for j := range e.Descriptors {
			d := &e.Descriptors[j]
			end := otherEnd(d.Target, peers)
			d.Holders, d.Known = holdersOf(ends[end], *d), certain
			if end == "" && isSocket(*d) {
				d.Known = false
				e.Unseen = append(e.Unseen, fmt.Sprintf("who holds the other end of fd %d: %s", d.FD, whyNoPeer(noPeers)))
			}
		}
	}
	return err == nil && !uncertain(x.watched)
}

// uncertain tells whose holders are uncertain, since a process of this user could not be looked into. One that started before
// this process's parent did is no reason for doubt where a descendant is examined: it could hold an end of a pipe made since then
// only if somebody sent it over a socket. (systemd's "(sd-pam)" is such a process in every login.)
func (x *examiner) uncertain(blind []stat) func(record.Identity) bool {
	if len(blind) == 0 {
		return func(record.Identity) bool { return false }
	}
	if x.watched.PID != 0 {
		young := slices.ContainsFunc(blind, func(s stat) bool { return s.start >= x.watched.Start })
		return func(record.Identity) bool { return young }
	}
	descends := map[record.Identity]bool{}
	if parent, err := Identify(os.Getppid()); err == nil {
		young := slices.ContainsFunc(blind, func(s stat) bool { return s.start >= parent.Start })
		if rows, err := x.table.Below(os.Getpid()); err == nil && !young {
			for _, row := range rows {
				descends[row.Identity] = true
			}
		}
	}
	return func(id record.Identity) bool { return !descends[id] }
}

func whyNoPeer(err error) string {
	if err != nil {
		return reason(err)
	}
	return "it is no unix socket of this network namespace"
}

// otherEnd is what the link of the other end shows: both ends of a pipe show the same, a socket shows its own number.
func otherEnd(target string, peers map[uint32]uint32) string {
	if strings.HasPrefix(target, "pipe:[") {
		return target
	}
	if inode, ok := socketInode(target); ok {
		if peer, known := peers[inode]; known {
			return fmt.Sprintf("socket:[%d]", peer)
		}
	}
	return ""
}

// holdersOf picks those that have the other direction, oldest first. A pipe that is open for both holds its own other end.
func holdersOf(all []record.Holder, d record.Descriptor) []record.Holder {
	var picked []record.Holder
	for _, h := range all {
		sameEnd := strings.HasPrefix(d.Target, "pipe:") && h.Mode == d.Mode && d.Mode != "both"
		if !sameEnd {
			picked = append(picked, h)
		}
	}
	slices.SortFunc(picked, func(a, b record.Holder) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.PID, b.PID), cmp.Compare(a.FD, b.FD))
	})
	return picked[:min(len(picked), maxHolders)]
}

// scan looks through the descriptors of every process for the given ends. It
// returns the processes of this user that it could not look into.
func (x *examiner) scan(ends map[string][]record.Holder) (blind []stat, err error) {
	if len(ends) == 0 {
		return nil, nil
	}
	if err := x.table.list(); err != nil {
		return nil, err
	}
	buf := make([]byte, 32<<10)
	for _, pid := range x.table.pids {
		fd, err := x.r.open(pid, "fd", unix.O_DIRECTORY)
		if err == nil {
			x.scanOne(pid, fd, buf, ends)
			unix.Close(fd)
			continue
		}
		var s stat
		if !errors.Is(goneOr(err), ErrGone) && x.ours(pid) && x.r.stat(pid, &s) == nil && !s.ended() {
			blind = append(blind, s)
		}
	}
	return blind, nil
}

func (x *examiner) scanOne(pid, dir int, buf []byte, ends map[string][]record.Holder) {
	var s stat
	link := make([]byte, 64) // longer links are paths
	_ = eachNumber(dir, buf, func(fd int) {
		n, err := unix.Readlinkat(dir, strconv.Itoa(fd), link)
		if err != nil {
			return
		}
		holders, wanted := ends[string(link[:n])]
		if !wanted || len(holders) >= maxFound {
			return
		}
		if s.pid == 0 && x.r.stat(pid, &s) != nil {
			return
		}
		ends[string(link[:n])] = append(holders, record.Holder{
			Identity: s.identity(), FD: fd, Mode: x.mode(pid, fd), Role: record.HolderRole(text.Name(string(s.name()))),
		})
	})
}

// ours reports whether a process has this user for any of its user ids. The owner of its folder does not tell: that
// is root for one that is not dumpable (proc(5)).
func (x *examiner) ours(pid int) bool {
	text, err := x.r.whole(pid, "status")
	if err != nil {
		return false
	}
	return slices.Contains(strings.Fields(fields(text)["Uid"]), strconv.Itoa(os.Geteuid()))
}
