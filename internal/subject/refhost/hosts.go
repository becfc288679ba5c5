package refhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/record"
)

// design is a reference host: how it learns pids, what it does with them.
type design struct {
	name   string
	learn  func() learner
	own    func() disposer
	ladder string // its teardown in words
	flaw   flaw   // of a mutant
}

var designs = []design{
	{
		name: "exact", learn: func() learner { return ownHandle{} }, own: func() disposer { return newExact(flaw{}) },
		ladder: exactLadder,
	},
	{
		name: "naive", learn: func() learner { return nothing{} }, own: newAbandon,
		ladder: sdkLadder + "; nothing for a session that was superseded, failed or was cut off, nor at the host's own end",
	},
	{
		name: "reap-all", learn: func() learner { return &snapshot{of: childrenOfAllThreads} }, own: newReapAll,
		ladder: fmt.Sprintf("TERM to every known server, %v, KILL", reapGrace),
	},
	{
		name: "orphan-set", learn: func() learner { return &snapshot{of: childrenOfAllThreads, serialised: true} }, own: newOrphanSet,
		ladder: sdkLadder + fmt.Sprintf("; what is left: TERM within %v or after the tick, %v, KILL", sweepEvery, sweepGrace),
	},
	{
		name: "thread-blind", learn: func() learner { return &snapshot{of: childrenOfMainThread, serialised: true} }, own: newOrphanSet,
		ladder: sdkLadder + "; what is left is not seen",
	},
}

var exactLadder = fmt.Sprintf("stdin close, %v, TERM to the group, %v, KILL to the group, wait; what left the group: TERM, %v, KILL", exactEOF, exactTerm, exactTerm)

var sdkLadder = fmt.Sprintf("stdin close, %v, TERM, %v, KILL", sdkEOF, sdkTerm)

// The delays of the field, shortened by two factors: how long a host waits
// before it does something again, and how long it gives a server.
const (
	pace     = 100
	patience = 20

	backoffStart   = time.Second / pace
	backoffMost    = 60 * time.Second / pace
	sweepEvery     = 60 * time.Second / pace // the gateway's cron ticker
	initialRetries = 3
	reconnects     = 5

	connectTimeout = 60 * time.Second / patience
	callTimeout    = 300 * time.Second / patience
	reapGrace      = 1500 * time.Millisecond / patience
	sweepGrace     = 2 * time.Second / patience
	sdkEOF         = 2 * time.Second / patience // mcp-go's Close
	sdkTerm        = 3 * time.Second / patience
	exactEOF       = 6 * time.Second / patience
	exactTerm      = 6 * time.Second / patience

	// discoverTimeout is how long a server may take to answer the probe for
	// the modern era. mcp-go's own 5 s are longer than connectTimeout.
	discoverTimeout = connectTimeout / 3
)

// profile is what a design declares about itself.
func (d design) profile() *record.Profile {
	return &record.Profile{
		Settle:  record.Duration(1500 * time.Millisecond),
		Confirm: record.Duration(time.Second),
		Stop:    record.Duration(3 * time.Second),
		Ladder:  d.ladder,
		Scale:   fmt.Sprintf("1/%d between retries and sweeps, 1/%d for what a server gets to answer or to end", pace, patience),
	}
}

// Names lists the reference hosts.
func Names() []string {
	names := make([]string, len(designs))
	for i, d := range designs {
		names[i] = d.name
	}
	return names
}

// Main is the process of a reference host: a driver on stdin and stdout. It
// returns the exit status: 0 after a stop or SIGTERM, 1 when the bench is
// gone, 2 for a name that is none.
func Main(name string) int {
	for _, d := range designs {
		if d.name == name {
			return d.main()
		}
	}
	for _, m := range mutants {
		if m.name == name {
			return m.design().main()
		}
	}
	fmt.Fprintf(os.Stderr, "no reference host %q; there are %v\n", name, Names())
	return 2
}

func (d design) main() int {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, os.Interrupt)
	h := newHost(d)
	served := make(chan error, 1)
	go func() {
		served <- driver.Serve(context.Background(), os.Stdin, os.Stdout, driver.Hello{Host: d.name, Version: "1", Profile: d.profile()}, h)
	}()
	select {
	case err := <-served:
		if errors.Is(err, driver.ErrBenchGone) {
			return 1
		}
	case <-terminated:
		if d.flaw.leavesOnTerm {
			return 0
		}
		_ = h.Stop(context.Background())
	}
	return 0
}

// inParallel runs f for each connection and waits for all.
func inParallel(all []*connection, f func(*connection)) {
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { f(c) })
	}
	wg.Wait()
}
