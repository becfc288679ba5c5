package refhost

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// flaw is one small thing that a mutant does differently from exact. Each
// breaks one law, and no other.
type flaw struct {
	forgetsOld     bool    // L1: a connection that was superseded is dropped, not ended
	keepsClosed    bool    // L1, unless its profile says so: the server of a closed session stays
	noDeathSignal  bool    // L2: nothing ends the servers of a host that is killed
	leavesOnTerm   bool    // L2: SIGTERM ends it at once, and nothing ends its servers then
	killsSibling   bool    // L3: when a connection is superseded, the newest of the others dies with it
	killsByCommand bool    // L3: what has the command line of a server that was ended is killed, too
	sharesGroup    bool    // L3: its servers are in its own group, which gets SIGHUP in the end
	remembersPIDs  bool    // L3: with each end, the numbers of all who ended before are signalled once more
	skipsWait      bool    // L4: exits are noticed, and not waited for
	keepsStdout    bool    // L5: the host's end of stdout stays open
	hoards         int     // L6: bytes kept for each connection that has ended
	connectsTwice  int     // L7: how many connections are made and dropped before the one that is kept
	stopHangs      bool    // L8: the host has ended its servers, and does not end
	closeLingers   bool    // L8: a close that is done does not return
	manners        manners // L9
	neverTriesLate bool    // L10: a session that could not be opened once is given up for good
}

// manners are the order in which a mutant ends a server.
type manners int

const (
	inOrder   manners = iota
	termFirst         // SIGTERM, and stdin stays open
	killFirst         // SIGKILL, and nothing else
	hasty             // the end of stdin, and SIGKILL before anybody can have cleaned up
)

const (
	hoard       = 2 << 20
	tooOften    = 3
	closeLinger = 2500 * time.Millisecond
	hastyEOF    = 30 * time.Millisecond
)

// mutant is a row of the table of mutants.
type mutant struct {
	name string
	flaw flaw
}

var mutants = []mutant{
	{"mutant-l1", flaw{forgetsOld: true}},
	{"mutant-l1-kept", flaw{keepsClosed: true}},
	{"mutant-l2", flaw{noDeathSignal: true}},
	{"mutant-l2-term", flaw{leavesOnTerm: true, noDeathSignal: true}},
	{"mutant-l3", flaw{killsSibling: true}},
	{"mutant-l3-command", flaw{killsByCommand: true}},
	{"mutant-l3-group", flaw{sharesGroup: true}},
	{"mutant-l3-recycled", flaw{remembersPIDs: true}},
	{"mutant-l4", flaw{skipsWait: true}},
	{"mutant-l5", flaw{keepsStdout: true}},
	{"mutant-l6", flaw{hoards: hoard}},
	{"mutant-l7", flaw{connectsTwice: tooOften}},
	{"mutant-l8", flaw{stopHangs: true}},
	{"mutant-l8-close", flaw{closeLingers: true}},
	{"mutant-l9", flaw{manners: killFirst}},
	{"mutant-l9-term", flaw{manners: termFirst}},
	{"mutant-l9-hasty", flaw{manners: hasty}},
	{"mutant-l10", flaw{neverTriesLate: true}},
}

// Mutants lists the hosts that break one law each.
func Mutants() []string {
	names := make([]string, len(mutants))
	for i, m := range mutants {
		names[i] = m.name
	}
	return names
}

func (m mutant) design() design {
	return design{
		name: m.name, flaw: m.flaw, ladder: exactLadder,
		learn: func() learner { return ownHandle{} },
		own:   func() disposer { return &flawed{exact: newExact(m.flaw), flaw: m.flaw} },
	}
}

// flawed is exact with a flaw in what it does with its servers; the ladder's
// own flaws are in exact itself.
type flawed struct {
	*exact
	flaw flaw

	mu     sync.Mutex
	pids   []int // of those who have ended
	hoard  [][]byte
	parked []*connection // keeps the garbage collector from closing what is left open
}

func (f *flawed) ended(c *connection, why ending) {
	f.keep(c)
	if why == superseded && f.flaw.forgetsOld || why == orderly && f.flaw.keepsClosed {
		return // it is ended with the host
	}
	f.exact.ended(c, why)
	if f.flaw.remembersPIDs && amongOwnPIDs {
		f.killAgain(c.cmd.Process.Pid)
	}
	if f.flaw.killsByCommand {
		killCommand(c.cmd.Args)
	}
	if why == superseded && f.flaw.killsSibling {
		f.killNewest()
	}
}

// shutdown ends everything, and what a mutant takes for everything.
func (f *flawed) shutdown(current []*connection) {
	f.exact.shutdown(current)
	if f.flaw.sharesGroup {
		hangUpOwnGroup()
	}
}

// keep holds on to what should go with a connection.
func (f *flawed) keep(c *connection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flaw.keepsStdout {
		f.parked = append(f.parked, c)
	}
	if f.flaw.hoards > 0 {
		kept := make([]byte, f.flaw.hoards)
		for i := range kept {
			kept[i] = byte(i) // memory that was never written to is not resident
		}
		f.hoard = append(f.hoard, kept)
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

// amongOwnPIDs says that this is a pid namespace of the bench's making, below
// whose init the host lives. Elsewhere a bare number may be anybody's, and to
// model a mistake is no reason to hit them.
var amongOwnPIDs = os.Getppid() == 1 && os.Getenv("LEAKBENCH_PLACE") == "init"

// killAgain signals the numbers of all who have ended before, and remembers one
// more.
func (f *flawed) killAgain(pid int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, old := range f.pids {
		killNumber(old)
	}
	f.pids = append(f.pids, pid)
}

// killCommand kills every process with exactly this command line, as pkill -f
// does. The command line of a fake server holds the run's token: nobody else's
// process has it.
func killCommand(argv []string) {
	line := strings.Join(argv, "\x00") + "\x00"
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		pid, notAPID := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && notAPID == nil && string(text) == line {
			if p, err := os.FindProcess(pid); err == nil {
				_ = p.Kill()
				_ = p.Release()
			}
		}
	}
}

// endRudely ends a server without the ladder, and reports whether it did.
func (g *group) endRudely() bool {
	switch g.flaw.manners {
	case killFirst:
		g.signal(syscall.SIGKILL)
		<-g.c.exited
		_ = g.c.client.Close()
	case termFirst:
		g.signal(syscall.SIGTERM)
		if !g.c.exits(exactTerm) {
			g.signal(syscall.SIGKILL)
			<-g.c.exited
		}
		_ = g.c.client.Close()
	case hasty:
		_ = g.c.client.Close()
		if !g.c.exits(hastyEOF) {
			g.signal(syscall.SIGKILL)
			<-g.c.exited
		}
	default:
		return false
	}
	return true
}

var errGivenUp = errors.New("this session could not be opened once, and is not opened any more")
