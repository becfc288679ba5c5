package refhost

import (
	"log"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// ending is why a session has ended.
type ending string

const (
	orderly    ending = "closed"     // it was closed, or its job is done
	superseded ending = "superseded" // it was connected anew
	failed     ending = "failed"     // it could not be connected
	forgotten  ending = "forgotten"  // whoever used it is gone, and did not close it
	cutOff     ending = "cut off"    // its job failed, ran out of time, or was cancelled
)

// disposer is what a host does with the servers of its sessions. Its methods are called concurrently.
type disposer interface {
	// start starts the process of a launch.
	start(cmd *exec.Cmd) error
	// started is called for each launched server, before the handshake.
	started(c *connection)
	// connected is called for each launched server, after the handshake.
	connected(c *connection)
	// ended is called at the end of each session; it returns when the host considers the matter settled.
	ended(c *connection, why ending)
	// tickEnded is called when the last job of a tick has ended.
	tickEnded()
	// shutdown is called once, when the host is about to exit. current are the
	// sessions that are connected; those being connected end with ended.
	shutdown(current []*connection)
}

// usual does nothing where a disposer has nothing of its own to do.
type usual struct{}

func (usual) start(cmd *exec.Cmd) error { return cmd.Start() }
func (usual) connected(*connection)     {}
func (usual) tickEnded()                {}

// kill sends SIGTERM to those that are alive, gives them grace, and kills the rest.
func kill(why string, all []child, grace time.Duration) {
	signalAll(why, all, syscall.SIGTERM)
	if !allGone(all, grace) {
		signalAll(why, all, syscall.SIGKILL)
		allGone(all, grace)
	}
}

func signalAll(why string, all []child, sig syscall.Signal) {
	for _, c := range all {
		if !c.alive() {
			continue
		}
		log.Printf("%s: %v to pid %d", why, sig, c.pid)
		if p, err := os.FindProcess(c.pid); err == nil {
			_ = p.Signal(sig)
			_ = p.Release()
		}
	}
}

// allGone polls, as the hosts in the field do, until none is alive.
func allGone(all []child, limit time.Duration) bool {
	const every = 5 * time.Millisecond
	deadline := time.After(limit)
	for tick := time.Tick(every); slices.ContainsFunc(all, child.alive); {
		select {
		case <-tick:
		case <-deadline:
			return false
		}
	}
	return true
}
