package leakbench_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// The naive judge is a second opinion on one question: is something left? It samples /proc by itself and shares nothing with the
// bench's own witnesses. Of the run file it reads the host's pid, the token, what checkpoints wanted, and the scenario.
type naiveJudge struct {
	samples    []naiveSample
	stop, over chan struct{}
	saw        bool // the host: without that there is no opinion
}
type naiveSample struct {
	at, over time.Time
	all      naiveTable
}
type naiveProcess struct {
	id     [2]int // start time in ticks, and pid: the order of births
	parent int
	line   string // the command line
	dead   bool   // a zombie
}

// naiveTable is in the order of pids.
type naiveTable []naiveProcess

// of is the process with that pid; all zero: there is none.
func (t naiveTable) of(pid int) naiveProcess {
	i, ok := slices.BinarySearchFunc(t, pid, func(p naiveProcess, pid int) int { return p.id[1] - pid })
	if !ok {
		return naiveProcess{}
	}
	return t[i]
}

// watchNaively samples until end is called.
func watchNaively() *naiveJudge {
	n := &naiveJudge{stop: make(chan struct{}), over: make(chan struct{})}
	go func() {
		defer close(n.over)
		for {
			n.samples = append(n.samples, sharedLook())
			select {
			case <-n.stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return n
}

func (n *naiveJudge) end() { close(n.stop); <-n.over }

// naiveLines are the command lines of the last look, by what execve(2) changes: they cost as much as all the rest of a look.
var naiveLines struct {
	sync.Mutex
	of  map[naiveImage]string
	old map[string]uint64 // kernel threads, and who was there before this process: a number's inode tells whether it is still the same one
}

// naiveImage is what execve(2) changes, or another birth: pid, start time, and the places of the code and of the arguments (proc_pid_stat(5)).
type naiveImage struct{ pid, born, code, args, argsEnd int }

// naiveFields are those of a stat file after the name, as numbers; false: the process is gone.
func naiveFields(stat []byte) (f [48]int, state byte, there bool) {
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

// naiveBegun is when this process was born, in ticks. What is older is nobody's of a run.
var naiveBegun = sync.OnceValue(func() int {
	stat, _ := os.ReadFile("/proc/self/stat")
	begun, _ := strconv.Atoi(strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))[19])
	return begun
})

func naiveLook() naiveSample {
	naiveLines.Lock()
	defer naiveLines.Unlock()
	before, old := naiveLines.of, naiveLines.old
	naiveLines.of, naiveLines.old = make(map[naiveImage]string, len(before)), make(map[string]uint64, len(old))
	s := naiveSample{at: time.Now(), all: make(naiveTable, 0, len(before)+16)}
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
			naiveLines.old[name] = is.Ino
			continue
		}
		fd, err := unix.Open("/proc/"+name+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue
		}
		n, _ := unix.Read(fd, buf)
		_ = unix.Close(fd)
		f, state, there := naiveFields(buf[:max(n, 0)])
		parent, start := f[1], f[19]
		if !there {
			continue
		}
		if parent == 2 || start < naiveBegun() {
			naiveLines.old[name] = is.Ino
			continue
		}
		image := naiveImage{pid: pid, born: start, code: f[23], args: f[45], argsEnd: f[46]}
		line, known := before[image]
		if !known || image.args == 0 {
			text, _ := os.ReadFile("/proc/" + name + "/cmdline")
			line = string(text)
		}
		naiveLines.of[image] = line
		s.all = append(s.all, naiveProcess{id: [2]int{start, pid}, line: line, parent: parent, dead: state == 'Z' || state == 'X'})
	}
	slices.SortFunc(s.all, func(a, b naiveProcess) int { return a.id[1] - b.id[1] })
	s.over = time.Now()
	return s
}

// left is what should not have been there: at a checkpoint more trees than servers were wanted, after the host's end anything, late.
func (n *naiveJudge) left(run *record.Run) (what []string) {
	r := &naiveRun{token: run.Header.ID, hosts: map[int]bool{}, ours: map[[2]int]bool{}}
	var ends []record.Event
	for _, e := range run.Events {
		if e.Kind == record.HostStarted {
			r.hosts[e.Process.PID], r.keeper = true, e.Process.PPID
		}
		if at := run.Header.Started.Add(time.Duration(e.T)); e.Kind == record.HostStarted || e.Kind == record.HostReady {
			r.comes = append(r.comes, coming{at, e.Kind == record.HostReady})
		}
		if e.Kind == record.CheckpointEnded && (!e.Checkpoint.HostGone || e.Checkpoint.Early != "") {
			ends = append(ends, e) // after the host's end, time decides, unless nobody waited for it
		}
	}
	beside := startedBy(run)
	own, gone := -1, time.Time{} // how many trees without a server were always there; when the host was missing
	for i, s := range n.samples {
		servers, others, alive := r.trees(s.all)
		up := r.up(s.at)
		if up && (servers > 0 || own < 0 && alive) && (own < 0 || others < own) {
			own = others
		}
		for _, e := range ends {
			t := run.Header.Started.Add(time.Duration(e.T))
			last := i+1 == len(n.samples) || n.samples[i+1].over.After(t)
			if s.over.After(t) || !last {
				continue
			}
			wanted, window := 0, max(run.Header.Limits.Quiet, e.Checkpoint.Waited-run.Played().Limits.Settle)
			for _, w := range e.Checkpoint.Wants {
				wanted += w.Live + w.Spare + max(w.Together-1, 0)
			}
			if (servers > wanted || others > max(own+wanted*beside, wanted) || e.Checkpoint.HostGone && others > 0) && t.Sub(s.at) < window.D() {
				what = append(what, fmt.Sprintf("%s: %d servers and %d others, wanted %d", e.Checkpoint.Name, servers, others, wanted))
			}
		}
		switch {
		case alive || r.first[1] == 0:
			gone = time.Time{}
		case gone.IsZero():
			gone = s.at
		case servers+others > 0 && s.at.Sub(gone) > run.Played().Limits.Settle.D():
			what = append(what, fmt.Sprintf("the end: %d servers and %d others", servers, others))
		}
	}
	n.saw = r.first[1] != 0
	return what
}

// startedBy is how many trees the scenario has a server start beside its own.
func startedBy(run *record.Run) (most int) {
	s, err := scenarios.Parse(run.Header.Scenario.Name+".yaml", []byte(run.Header.Scenario.Source))
	if err != nil {
		return 0
	}
	for _, server := range s.Servers {
		starts := 0
		for _, f := range server.Script.Faults {
			if f.Do == "helper" {
				starts += max(1, f.Count)
			}
		}
		most = max(most, starts)
	}
	return most
}

// naiveRun is what the judge takes from the run file, and what it remembers.
type naiveRun struct {
	token  string
	keeper int
	hosts  map[int]bool
	comes  []coming
	first  [2]int // the first host; what was born before it is none of its doing
	ours   map[[2]int]bool
}

// coming is when a host was started, or said that it is ready.
type coming struct {
	at    time.Time
	ready bool
}

// up says that no host is about to come up: what one has of its own may not be there yet. Some never say that they are ready.
func (r *naiveRun) up(t time.Time) bool {
	up, silent := false, true
	for _, c := range r.comes {
		silent = silent && !c.ready
		if !c.at.After(t) {
			up = c.ready
		}
	}
	return up || silent
}

// trees counts trees of living processes.
func (r *naiveRun) trees(all naiveTable) (servers, others int, alive bool) {
	for pid := range r.hosts {
		if p := all.of(pid); p.parent == r.keeper && !p.dead {
			alive, r.ours[p.id], r.first = true, true, cmp.Or(r.first, p.id)
		}
	}
	roots, plain, attached := map[int]bool{}, map[int]bool{}, map[int]bool{} // a server behind a proxy is a tree beside that
	for _, p := range all {
		pid := p.id[1]
		orphan := r.first[1] != 0 && p.parent == r.keeper && !strings.Contains(p.line, "\x00bystander") && slices.Compare(p.id[:], r.first[:]) > 0
		if r.ours[p.id] = r.ours[p.id] || orphan || r.ours[all.of(p.parent).id]; !r.ours[p.id] || p.dead || r.hosts[pid] {
			continue
		}
		root := pid
		for up := p.parent; !r.hosts[up] && up != r.keeper && up > 1; up = all.of(up).parent {
			root = up
		}
		switch roots[root] = true; {
		case !strings.Contains(p.line, r.token) || strings.Contains(p.line, "\x00fakehelper"):
		case strings.Contains(p.line, "\x00--attached"):
			attached[root] = true
		default:
			plain[root] = true
		}
	}
	return max(len(plain), len(attached)), len(roots) - len(plain) - len(attached), alive
}
