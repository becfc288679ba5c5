package refhost

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

const (
	hoard       = 2 << 20
	tooOften    = 3
	closeLinger = 2500 * time.Millisecond
	hastyEOF    = 30 * time.Millisecond
)

// flawed is exact with a flaw in what it does with its servers; the ladder's own flaws are in exact itself.
type flawed struct {
	*exact

	swept  sync.Once
	mu     sync.Mutex
	pids   []int // of those who have ended
	hoard  [][]byte
	parked []*connection // keeps the garbage collector from closing what is left open
}

func (f *flawed) ended(c *connection, why ending) {
	f.keep(c)
	fails := func(flaw catalogue.Flaw, at ending) bool { return f.flaw == flaw && why == at }
	if fails(catalogue.ForgetsOld, superseded) || fails(catalogue.KeepsClosed, orderly) {
		return // it is ended with the host
	}
	if fails(catalogue.EndsLate, superseded) {
		f.endLate(c)
		return
	}
	if fails(catalogue.JobOfSession, cutOff) && c.entry {
		f.kill(c)
	}
	f.exact.ended(c, why)
	if f.flaw == catalogue.RemembersPIDs && amongOwnPIDs {
		f.killAgain(c.cmd.Process.Pid)
	}
	if f.flaw == catalogue.KillsByCommand {
		killCommand(c.cmd.Args)
	}
	if fails(catalogue.KillsSibling, superseded) {
		f.killNewest()
	}
}

// start launches a server, the first one after what a mutant takes for what was left.
func (f *flawed) start(cmd *exec.Cmd) error {
	if f.flaw == catalogue.SharesGroup {
		f.swept.Do(hangUpOwnGroup)
	}
	return f.exact.start(cmd)
}

// keep holds on to what should go with a connection.
func (f *flawed) keep(c *connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flaw == catalogue.KeepsStdout {
		f.parked = append(f.parked, c)
	}
	if f.flaw == catalogue.Hoards {
		kept := make([]byte, hoard)
		for i := range kept {
			kept[i] = byte(i) // memory that was never written to is not resident
		}
		f.hoard = append(f.hoard, kept)
	}
}

// kill ends a server without a word, as a job does that is closed.
func (f *flawed) kill(c *connection) {
	f.exact.mu.Lock()
	g := f.mine[c]
	f.exact.mu.Unlock()
	if g != nil {
		g.signal(syscall.SIGKILL)
	}
}

// killNewest ends the server that was launched last, whoever's it is.
func (f *flawed) killNewest() {
	f.exact.mu.Lock()
	var newest *group
	for _, g := range f.mine {
		if newest == nil || g.c.cmd.Process.Pid > newest.c.cmd.Process.Pid {
			newest = g
		}
	}
	f.exact.mu.Unlock()
	if newest != nil {
		newest.signal(syscall.SIGKILL)
	}
}

// amongOwnPIDs says that this is a pid namespace of the bench's making, below whose init the host lives. Elsewhere a
// bare number may be anybody's, and to model a mistake is no reason to hit them.
var amongOwnPIDs = os.Getppid() == 1 && os.Getenv("LEAKBENCH_PLACE") == "init"

// killAgain signals the numbers of all who have ended before, and remembers one more.
func (f *flawed) killAgain(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, old := range f.pids {
		killNumber(old)
	}
	f.pids = append(f.pids, pid)
}

// killCommand kills every process with exactly this command line, as pkill -f does. The command line of a fake server
// holds the run's token: nobody else's process has it.
func killCommand(argv []string) {
	line := strings.Join(argv, "\x00") + "\x00"
	for _, pid := range numbersIn("/proc") {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); err == nil && string(text) == line {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
				_ = p.Release()
			}
		}
	}
}

// numbersIn are the names in a folder that are numbers, those of processes or threads.
func numbersIn(folder string) (all []int) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			all = append(all, n)
		}
	}
	return all
}

var errGivenUp = errors.New("this session could not be opened once, and is not opened any more")
