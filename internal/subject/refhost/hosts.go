// Package refhost holds the reference hosts: small gateways on the mcp-go client that own their servers in the ways
// seen in the field. Each is two choices, and hosts.go is the table of them: how the host learns the pids of its
// servers (learn*.go), and what it does with them (dispose_*.go). Everything else, sessions, retries, jobs, reload
// and shutdown, is the same for all (host.go), so that a difference on the bench comes from the choice.
//
// A host is a process of its own that speaks the driver protocol on stdio. It knows nothing of the bench.
package refhost

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// design is how a reference host learns pids, and what it does with them.
type design struct {
	name  string
	learn *snapshot
	own   func() disposer
	// shares says that the sessions of one server entry have one connection. The others make one for each session.
	shares bool
	// redials says that a call connects a session anew whose server is gone.
	redials bool
}

var designs = []design{
	{name: catalogue.Healthy, learn: &snapshot{}, own: func() disposer { return newExact(catalogue.NoFlaw) }, shares: true},
	{name: "naive", learn: &snapshot{}, own: newAbandon},
	{name: "reap-all", learn: &snapshot{of: childrenOfAllThreads}, own: newReapAll},
	{name: "orphan-set", learn: &snapshot{of: childrenOfAllThreads, serialised: true}, own: newOrphanSet},
	{name: "thread-blind", learn: &snapshot{of: childrenOfMainThread, serialised: true}, own: newOrphanSet},
}

// designOf is the design of a reference host, or of a mutant.
func designOf(h catalogue.Host) (design, bool) {
	if h.Like != "" {
		d, ok := designOf(catalogue.Host{Name: h.Like, Flaw: h.Flaw})
		d.redials = true
		return d, ok
	}
	if h.Flaw != catalogue.NoFlaw {
		own := func() disposer { return &flawed{exact: newExact(h.Flaw)} }
		return design{name: h.Name, learn: designs[0].learn, own: own, shares: true}, true
	}
	i := slices.IndexFunc(designs, func(d design) bool { return d.name == h.Name })
	return designs[max(i, 0)], i >= 0
}

// guarded says that a process of the host's own looks after its servers when it is killed.
func (d design) guarded(f catalogue.Flaw) bool {
	return (d.name == catalogue.Healthy || f != catalogue.NoFlaw) && f != catalogue.NoDeathSignal && f != catalogue.LeavesOnTerm
}

// The delays of the field, shortened by two factors: how long a host waits
// before it does something again, and how long it gives a server.
const (
	pace     = 100
	timeouts = 20

	backoffStart   = time.Second / pace
	backoffMost    = 60 * time.Second / pace
	sweepEvery     = 60 * time.Second / pace // the gateway's cron ticker
	initialRetries = 3
	reconnects     = 5

	connectTimeout = 60 * time.Second / timeouts
	callTimeout    = 300 * time.Second / timeouts
	reapGrace      = 1500 * time.Millisecond / timeouts
	sweepGrace     = 2 * time.Second / timeouts
	sdkEOF         = 2 * time.Second / timeouts // mcp-go's Close
	sdkTerm        = 3 * time.Second / timeouts
	exactEOF       = 6 * time.Second / timeouts
	exactTerm      = 6 * time.Second / timeouts

	// discoverTimeout is how long a server may take to answer the probe for
	// the modern era. mcp-go's own 5 s are longer than connectTimeout.
	discoverTimeout = connectTimeout / 3
)

// Names lists the reference hosts.
func Names() []string { return lists.Map(designs, func(d design) string { return d.name }) }

// Main is the process of a reference host: a driver on stdin and stdout. It returns the exit status: 0 after a stop
// or SIGTERM, 1 when the bench is gone, 2 for a host that is none of these.
func Main(of catalogue.Host) int {
	d, ok := designOf(of)
	if !ok {
		fmt.Fprintf(os.Stderr, "no reference host %q; there are %v\n", of.Name, Names())
		return 2
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM, os.Interrupt)
	if d.guarded(of.Flaw) {
		defer startGuard()()
	}
	h := newHost(d, of.Flaw)
	served := make(chan error, 1)
	go func() {
		hello := driver.Hello{Host: of.Name, Version: "1", Profile: &of.Profile}
		served <- driver.Serve(context.Background(), os.Stdin, os.Stdout, hello, h)
	}()
	select {
	case err := <-served:
		if errors.Is(err, driver.ErrBenchGone) {
			return 1
		}
	case <-terminated:
		if of.Flaw == catalogue.LeavesOnTerm {
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
