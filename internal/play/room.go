package play

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strconv"
	"sync"
	"time"
)

const (
	// perProcessor is how many runs a processor carries at most: a run mostly waits.
	perProcessor = 4
	// perRun is what a run may take of the memory: the host, its servers, and the bench's own processes.
	perRun = 192 << 20
	// stalled is the share of the time in which somebody waits for a processor from which on no more runs are added to one
	// for each processor.
	stalled = 0.6
	// lookEvery is how long a look at the pressure takes.
	lookEvery = 100 * time.Millisecond
)

// Processors is how many there are for this process: fewer than GOMAXPROCS says where somebody has set that higher.
func Processors() int { return min(runtime.GOMAXPROCS(0), runtime.NumCPU()) }

// Jobs is how many runs this machine carries at the most: a few for each processor, and as many as the memory holds.
func Jobs() int {
	jobs := atOnce(runtime.GOOS, Processors())
	if free := availableMemory(); free > 0 {
		jobs = min(jobs, int(free/perRun))
	}
	return max(1, jobs)
}

// atOnce is how many runs so many processors carry. On Windows a run does not know how long it waited for one: no doubt would say that
// there were too many.
func atOnce(system string, processors int) int {
	if system == "windows" {
		return processors / 2
	}
	return perProcessor * processors
}

// room is where runs are played: a slot for each, and where nobody has said how many, one more than there are
// processors only while the machine gets round to what is there.
type room struct {
	slots   chan struct{}
	careful bool

	mu  sync.Mutex
	now int
}

func newRoom(slots int) *room {
	if slots > 0 {
		return &room{slots: make(chan struct{}, slots)}
	}
	return &room{slots: make(chan struct{}, Jobs()), careful: true}
}

// enter waits for a slot, and for a machine that can carry one more.
func (r *room) enter(ctx context.Context) error {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	for r.careful && ctx.Err() == nil && !Carries(r.count(0)) {
	}
	if ctx.Err() != nil {
		<-r.slots
		return ctx.Err()
	}
	r.count(1)
	return nil
}

func (r *room) leave() {
	r.count(-1)
	<-r.slots
}

func (r *room) count(add int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now += add
	return r.now
}

// Carries says whether a machine on which so many runs are under way gets round to one more. With more runs than processors
// it takes a moment to look.
func Carries(now int) bool {
	if now < Processors() {
		return true
	}
	share, known := stall()
	return !known || share < stalled
}

// stall looks for a moment how much of the time somebody waits for a processor or for memory, where the kernel says so.
func stall() (share float64, known bool) {
	begun := time.Now()
	cpu, ok := stalledSoFar("cpu")
	memory, _ := stalledSoFar("memory")
	if !ok {
		return 0, false
	}
	<-time.After(lookEvery)
	took := time.Since(begun)
	cpuNow, _ := stalledSoFar("cpu")
	memoryNow, _ := stalledSoFar("memory")
	return float64(max(cpuNow-cpu, memoryNow-memory)) / float64(took), true
}

// stalledSoFar is for how long some task has waited (Documentation/accounting/psi.rst: "some ... total=" in µs).
func stalledSoFar(what string) (time.Duration, bool) {
	text, err := os.ReadFile("/proc/pressure/" + what)
	if err != nil {
		return 0, false
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, total, ok := bytes.Cut(line, []byte("total="))
	n, err := strconv.ParseInt(string(total), 10, 64)
	return time.Duration(n) * time.Microsecond, ok && err == nil
}

// availableMemory is what can be had without swapping, or 0 where that is not known.
func availableMemory() int64 {
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte("MemAvailable:"))
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(string(fields[0]), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
