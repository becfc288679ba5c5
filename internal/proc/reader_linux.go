package proc

import (
	"encoding/binary"
	"errors"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxCmdline caps what is read of a command line: what redact.Args keeps is less.
const maxCmdline = 80 << 10

// reader reads files below /proc into buffers of its own: a census opens
// thousands and allocates for none. The package os and x/sys copy every path.
type reader struct {
	path []byte
	buf  []byte
	big  []byte // for command lines and folders; made when first needed
	meta unix.Statx_t
}

func newReader() *reader {
	return &reader{path: make([]byte, 0, 64), buf: make([]byte, 2<<10)}
}

func (r *reader) large() []byte {
	if r.big == nil {
		r.big = make([]byte, maxCmdline)
	}
	return r.big
}

// name points at "/proc/PID/file" until the next call.
func (r *reader) name(pid int, file string) unsafe.Pointer {
	r.path = append(r.path[:0], "/proc/"...)
	r.path = strconv.AppendInt(r.path, int64(pid), 10)
	r.path = append(append(append(r.path, '/'), file...), 0)
	return unsafe.Pointer(&r.path[0])
}

func (r *reader) open(pid int, file string, flags int) (int, error) {
	path, here := r.name(pid, file), unix.AT_FDCWD
	for {
		fd, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(here), uintptr(path), uintptr(flags|unix.O_RDONLY|unix.O_CLOEXEC), 0, 0, 0)
		switch errno {
		case 0:
			return int(fd), nil
		case unix.EINTR:
		default:
			return -1, errno
		}
	}
}

// line reads /proc/PID/file with one read(2), which gives the files of /proc that fit into a page whole and of one moment.
func (r *reader) line(pid int, file string) ([]byte, error) {
	fd, err := r.open(pid, file, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n, err := readAgain(fd, r.buf)
	return r.buf[:n], err
}

// whole reads /proc/PID/file to its end, or to the end of the large buffer.
func (r *reader) whole(pid int, file string) ([]byte, error) {
	fd, err := r.open(pid, file, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	buf, n := r.large(), 0
	for n < len(buf) {
		got, err := readAgain(fd, buf[n:])
		if err != nil {
			return nil, err
		}
		if got == 0 {
			break
		}
		n += got
	}
	return buf[:n], nil
}

func readAgain(fd int, buf []byte) (int, error) {
	for {
		n, err := unix.Read(fd, buf)
		if !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

// stat reads the row of a process. ErrGone: there is none. errHidden: there is one, which this user may not see now.
func (r *reader) stat(pid int, s *stat) error {
	line, err := r.line(pid, "stat")
	if err != nil {
		return goneOrHidden(pid, err)
	}
	if !s.parse(line) {
		return ErrGone // an empty read of a process that is being released
	}
	if s.state == 'X' || s.state == 'x' {
		return ErrGone
	}
	if s.state == 'Z' && s.threads > 1 {
		r.liveThread(s)
	}
	return nil
}

// errHidden is what hidepid does (proc(5)): to a process of another user, and to one of this user that is not dumpable.
var errHidden = errors.New("this user may not see the process: /proc is mounted with hidepid")

// hiddenFor is how long a process of this user's own may be hidden before that is believed.
const hiddenFor = 250 * time.Millisecond

// patiently is stat for a process that is known to have been there. From Linux 7 on a program is hidden at the end of its execve(2),
// after it has closed what closes on exec: whoever has waited for that, as os/exec does, looks at just that moment.
func (r *reader) patiently(pid int, s *stat) error {
	for begun := time.Now(); ; {
		err := r.stat(pid, s)
		if !errors.Is(err, errHidden) || unix.Kill(pid, 0) != nil || time.Since(begun) > hiddenFor {
			return err
		}
		time.Sleep(time.Millisecond) // sleep-ok: nobody says when a process can be seen
	}
}

// liveThread takes from another thread what a leader that has exited before it (pthread_exit in main) cannot tell any
// more: it shows as a zombie, but is not alone.
func (r *reader) liveThread(leader *stat) {
	for _, tid := range r.threads(leader.pid) {
		var s stat
		line, err := r.line(leader.pid, "task/"+strconv.Itoa(tid)+"/stat")
		if err == nil && s.parse(line) && s.state != 'Z' && s.state != 'X' {
			leader.state, leader.rss, leader.image = s.state, s.rss, s.image
			return
		}
	}
}

// threads lists the ids of a process's threads, the leader's first.
func (r *reader) threads(pid int) []int {
	var tids []int
	_ = r.eachIn(pid, "task", func(n int) { tids = append(tids, n) })
	return tids
}

// fds counts the open descriptors: since Linux 6.2 the size of the folder is
// their number, before that it is 0. It is -1 where it can't be seen.
func (r *reader) fds(pid int) int {
	path, here := r.name(pid, "fd"), unix.AT_FDCWD
	_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(here), uintptr(path),
		unix.AT_STATX_DONT_SYNC, unix.STATX_SIZE, uintptr(unsafe.Pointer(&r.meta)), 0)
	if errno == 0 && r.meta.Size > 0 {
		return int(r.meta.Size)
	}
	return r.countFDs(pid)
}

func (r *reader) countFDs(pid int) int {
	n := 0
	if r.eachIn(pid, "fd", func(int) { n++ }) != nil {
		return -1
	}
	return n
}

// eachIn is eachNumber of a folder below /proc/PID.
func (r *reader) eachIn(pid int, folder string, found func(int)) error {
	fd, err := r.open(pid, folder, unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return eachNumber(fd, r.large(), found)
}

// eachNumber calls found for each entry of a folder whose name is a number.
func eachNumber(dir int, buf []byte, found func(int)) error {
	for {
		n, err := unix.ReadDirent(dir, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		if n <= 0 {
			return nil
		}
		numbers(buf[:n], found)
	}
}

// numbers walks linux_dirent64 records: inode and offset of 8 bytes each, the
// record's length of 2, the type of 1, the name up to a NUL (getdents64(2)).
func numbers(records []byte, found func(int)) {
	const nameAt = 19
	for len(records) > nameAt {
		size := int(binary.NativeEndian.Uint16(records[16:]))
		if size <= nameAt || size > len(records) {
			return
		}
		number, ok := 0, records[nameAt] != 0
		for _, c := range records[nameAt:size] {
			if c == 0 {
				break
			}
			if c < '0' || c > '9' {
				ok = false
				break
			}
			number = number*10 + int(c-'0')
		}
		if ok {
			found(number)
		}
		records = records[size:]
	}
}

// goneOrHidden says why a row can't be read. Under hidepid=2 a hidden process looks as if there were none, and only kill(2) tells.
func goneOrHidden(pid int, err error) error {
	err = goneOr(err)
	denied := errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES)
	if denied || errors.Is(err, ErrGone) && !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return errHidden
	}
	return err
}

// goneOr turns what /proc answers about a process that is not there any more into ErrGone: ENOENT from open, ESRCH from read.
func goneOr(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return err
}
