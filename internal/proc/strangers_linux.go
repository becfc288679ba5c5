package proc

import (
	"bytes"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
)

const (
	// strangeFor is in how many looks on end a process has to be seen apart from the root before a handle of it is kept.
	strangeFor = 1
	// mostStrangers is how many handles are kept, where the limit of open files is not lower.
	mostStrangers = 4096
)

// strangers are processes that can never come to be below the root of a census, so that their rows need not be read again. Most of a
// machine's processes are, and reading their rows is most of what a census costs.
//
// A process that is not below the root stays apart. When its parent ends, it gets another thread of that parent, an ancestor of that
// parent that is a subreaper, or the init of that parent's PID namespace (find_new_reaper in kernel/exit.c). None of the ancestors is below
// the root, or the process itself would be. The parent of a process that lives in the namespace of /proc itself lives there or further
// outside, so that its init is not below the root either, unless it is the root.
//
// That a number still means the same process is known from its pidfd: the kernel gives a number out again only after the process has
// exited, and the pidfd says so from then on (pidfd_open(2)).
type strangers struct {
	root   record.Identity
	polled []unix.PollFd
	pids   []int         // of the handles in polled
	at     map[int]int   // a pid's place in both
	seen   []candidate   // in the latest look, by pid
	before []candidate   // room for those of the next look
	opened []unix.PollFd // handles of candidates that this look may confirm
	about  []int         // their pids
	most   int
}

// candidate is a process that was seen apart from the root.
type candidate struct {
	id    record.Identity
	times int // looks on end
}

func newStrangers() *strangers {
	s := &strangers{at: map[int]int{}, most: mostStrangers}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) == nil {
		s.most = int(min(uint64(s.most), limit.Cur/4))
	}
	runtime.SetFinalizer(s, (*strangers).clear)
	return s
}

// clear lets all handles go.
func (s *strangers) clear() {
	for _, p := range slices.Concat(s.polled, s.opened) {
		_ = unix.Close(int(p.Fd))
	}
	s.polled, s.pids, s.opened, s.about = s.polled[:0], s.pids[:0], s.opened[:0], s.about[:0]
	s.root = record.Identity{}
	s.seen = s.seen[:0]
	clear(s.at)
}

// knows says that a pid is a stranger's.
func (s *strangers) knows(pid int) bool {
	_, known := s.at[pid]
	return known
}

// leaveOut takes those of strangers from a list of all pids. The first process has none: all that its own descendants leave comes to it.
func (s *strangers) leaveOut(r *reader, root int, pids []int) []int {
	var row stat
	if root <= 1 || r.stat(root, &row) != nil {
		s.clear()
		return pids
	}
	if row.identity() != s.root {
		s.clear()
		s.root = row.identity()
	}
	s.check()
	pids = slices.DeleteFunc(pids, s.knows)
	s.open(pids)
	return pids
}

// check drops who has exited. The pids that were listed before and are known after it are still those of the same processes.
func (s *strangers) check() {
	for {
		n, err := unix.Poll(s.polled, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			s.clear()
		}
		if n <= 0 {
			return
		}
		break
	}
	for i := len(s.polled) - 1; i >= 0; i-- {
		if s.polled[i].Revents != 0 {
			s.drop(i)
		}
	}
}

func (s *strangers) drop(i int) {
	_ = unix.Close(int(s.polled[i].Fd))
	delete(s.at, s.pids[i])
	last := len(s.polled) - 1
	if i < last {
		s.polled[i], s.pids[i] = s.polled[last], s.pids[last]
		s.at[s.pids[i]] = i
	}
	s.polled, s.pids = s.polled[:last], s.pids[:last]
}

// open opens a handle of each candidate that was seen often enough. It is opened before the row is read that has to confirm it.
func (s *strangers) open(pids []int) {
	for _, pid := range pids {
		if s.candidate(pid).times < strangeFor || len(s.polled)+len(s.opened) >= s.most {
			continue
		}
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			s.opened, s.about = append(s.opened, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}), append(s.about, pid)
		}
	}
}

// candidate is the one with that pid, or nobody.
func (s *strangers) candidate(pid int) candidate {
	i, ok := slices.BinarySearchFunc(s.seen, pid, func(c candidate, pid int) int { return c.id.PID - pid })
	if !ok {
		return candidate{}
	}
	return s.seen[i]
}

// learn takes in what a look has seen.
func (s *strangers) learn(t *Table) {
	for i, handle := range s.opened {
		pid := s.about[i]
		at := t.find(pid)
		if at < 0 || !s.apart(&t.stats[at]) || t.stats[at].identity() != s.candidate(pid).id || !t.readers[0].plain(pid) {
			_ = unix.Close(int(handle.Fd))
			continue
		}
		s.at[pid] = len(s.polled)
		s.polled, s.pids = append(s.polled, handle), append(s.pids, pid)
	}
	s.opened, s.about = s.opened[:0], s.about[:0]
	now := s.before[:0]
	for i := range t.stats {
		row := &t.stats[i]
		if !s.apart(row) || s.knows(row.pid) {
			continue
		}
		c := candidate{id: row.identity(), times: 1}
		if was := s.candidate(row.pid); was.id == c.id {
			c.times = min(was.times+1, strangeFor)
		}
		now = append(now, c)
	}
	s.seen, s.before = now, s.seen
}

// apart says that the parents of a row lead to where no root is.
func (s *strangers) apart(row *stat) bool {
	return row.below == lineageApart && row.pid != s.root.PID && row.state != 0 && !row.ended()
}

// plain says that a process lives in the PID namespace of /proc itself: it has one number (proc_pid_status(5)).
func (r *reader) plain(pid int) bool {
	text, err := r.line(pid, "status")
	if err != nil {
		return false
	}
	_, rest, found := bytes.Cut(text, []byte("\nNSpid:"))
	numbers, _, whole := bytes.Cut(rest, []byte("\n"))
	return found && whole && !bytes.ContainsAny(bytes.TrimSpace(numbers), "\t ")
}
