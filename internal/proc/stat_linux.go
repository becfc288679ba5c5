package proc

import "bytes"

const (
	// ticksPerSecond is USER_HZ, in which /proc counts time for every process on every architecture (proc_pid_stat(5)).
	ticksPerSecond = 100
	nanosPerTick   = 1_000_000_000 / ticksPerSecond
	// maxComm is more than any comm: 15 bytes of a process, 63 of a kernel worker.
	maxComm = 64
)

// stat is what a census needs of /proc/PID/stat.
type stat struct {
	pid, ppid, pgid, sid int
	threads              int
	cpuLast              int // the processor that it ran on last
	state                byte
	commLen              uint8
	comm                 [maxComm]byte
	start                uint64 // ticks since boot
	cpu                  uint64 // ticks
	rss                  int64  // pages; the kernel folds per-CPU counts in late, so a few hundred KiB off
	image                image
	fds                  int
	below                lineage
}

// image is what execve(2) changes and nothing else does: the address of the code and of the arguments, both placed at
// random. All zero where this user may not see them, and for a process that has ended.
type image struct{ code, args, argsEnd uint64 }

// ended says that nothing of the process runs any more.
func (s *stat) ended() bool { return s.state == 'Z' }

// parse reads the line. The name may hold anything, brackets and line ends
// too, so the fields are counted from the last bracket (proc_pid_stat(5)).
func (s *stat) parse(line []byte) bool {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 2 || end < open || end+2 >= len(line) {
		return false
	}
	*s = stat{state: line[end+2]}
	for _, c := range line[:open-1] {
		s.pid = s.pid*10 + int(c-'0')
	}
	s.commLen = uint8(copy(s.comm[:], line[open+1:end]))
	return s.parseFields(line[end+3:])
}

// parseFields reads what follows the state, from field 4 on: numbers, some of them negative (tpgid, priority, nice).
func (s *stat) parseFields(rest []byte) bool {
	field, value, negative := 3, uint64(0), false // the leading blank makes the first one 4
	for _, c := range rest {
		switch {
		case c >= '0' && c <= '9':
			value = value*10 + uint64(c-'0')
		case c == '-':
			negative = true
		case c == ' ' || c == '\n':
			if negative {
				value = -value
			}
			s.set(field, value)
			field, value, negative = field+1, 0, false
		default:
			return false
		}
	}
	return field > 49
}

// set takes the value of a field. A negative number comes as its two's complement: int(value) is negative again.
func (s *stat) set(field int, value uint64) {
	switch field {
	case 4:
		s.ppid = int(value)
	case 5:
		s.pgid = int(value)
	case 6:
		s.sid = int(value)
	case 14, 15:
		s.cpu += value
	case 20:
		s.threads = int(value)
	case 22:
		s.start = value
	case 24:
		s.rss = int64(value)
	case 26:
		s.image.code = value
	case 39:
		s.cpuLast = int(value)
	case 48:
		s.image.args = value
	case 49:
		s.image.argsEnd = value
	}
}

func (s *stat) name() []byte { return s.comm[:s.commLen] }
