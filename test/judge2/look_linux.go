package judge2

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Process is one that /proc shows.
type Process struct {
	id     [2]int // start time in ticks, and pid: the order of births
	Parent int
	Line   string // the command line
	Dead   bool   // a zombie
}

// PID is the number of a process.
func (p Process) PID() int { return p.id[1] }

// Table has processes in the order of their pids.
type Table []Process

// Of is the process with that pid; all zero: there is none.
func (t Table) Of(pid int) Process {
	i, ok := slices.BinarySearchFunc(t, pid, func(p Process, pid int) int { return p.id[1] - pid })
	if !ok {
		return Process{}
	}
	return t[i]
}

// Look is a look at all processes but those that are older than this one.
func Look() Table { return look().all }

var last struct {
	sync.Mutex
	sample
}

// sharedLook is a look of the last moment, which serves all judges that watch: many runs go side by side.
func sharedLook() sample {
	last.Lock()
	defer last.Unlock()
	if time.Since(last.over) > 20*time.Millisecond {
		last.sample = look()
	}
	return last.sample
}

// lines are the command lines of the last look, by what execve(2) changes: they cost as much as all the rest of a look.
var lines struct {
	sync.Mutex
	of  map[image]string
	old map[string]uint64 // kernel threads, and who was there before this process: a number's inode tells whether it is still the same one
}

// image is what execve(2) changes, or another birth: pid, start time, and the places of the code and of the arguments (proc_pid_stat(5)).
type image struct{ pid, born, code, args, argsEnd int }

// fields are those of a stat file after the name, as numbers; false: the process is gone.
func fields(stat []byte) (f [48]int, state byte, there bool) {
	rest := stat[bytes.LastIndexByte(stat, ')')+1:]
	if len(rest) < 2 {
		return f, 0, false
	}
	at := 0
	for _, c := range rest[2:] {
		switch {
		case c == ' ' && at < len(f)-1:
			at++
		case c >= '0' && c <= '9':
			f[at] = f[at]*10 + int(c-'0')
		}
	}
	return f, rest[1], at > 45
}

// begun is when this process was born, in ticks. What is older is nobody's of a run.
var begun = sync.OnceValue(func() int {
	stat, _ := os.ReadFile("/proc/self/stat")
	begun, _ := strconv.Atoi(strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[19])
	return begun
})

func look() sample {
	lines.Lock()
	defer lines.Unlock()
	before, old := lines.of, lines.old
	lines.of, lines.old = make(map[image]string, len(before)), make(map[string]uint64, len(old))
	s := sample{at: time.Now(), all: make(Table, 0, len(before)+16)}
	proc, _ := os.Open("/proc")
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	buf := make([]byte, 4096)
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		var is unix.Stat_t
		if unix.Fstatat(int(proc.Fd()), name, &is, 0) == nil && old[name] == is.Ino {
			lines.old[name] = is.Ino
			continue
		}
		fd, err := unix.Open("/proc/"+name+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		n, _ := unix.Read(fd, buf)
		_ = unix.Close(fd)
		f, state, there := fields(buf[:max(n, 0)])
		parent, start := f[1], f[19]
		if !there {
			continue
		}
		if parent == 2 || start < begun() {
			lines.old[name] = is.Ino
			continue
		}
		image := image{pid: pid, born: start, code: f[23], args: f[45], argsEnd: f[46]}
		line, known := before[image]
		if !known || image.args == 0 {
			text, _ := os.ReadFile("/proc/" + name + "/cmdline")
			line = string(text)
		}
		lines.of[image] = line
		s.all = append(s.all, Process{id: [2]int{start, pid}, Line: line, Parent: parent, Dead: state == 'Z' || state == 'X'})
	}
	slices.SortFunc(s.all, func(a, b Process) int { return a.id[1] - b.id[1] })
	s.over = time.Now()
	return s
}
