// Package cpuload keeps processors busy, so that a test of the bench can be one on a machine that has no time for it.
package cpuload

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// Arg is the argument that turns the program into a busy loop.
const Arg = "busy"

// Main keeps a processor busy until stdin ends.
func Main() int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	for {
		spin()
	}
}

//go:noinline
func spin() {
	for range 1 << 20 { // the loop is the work
	}
}

// Start starts n processes that do nothing but keep a processor busy each. They
// end with stop, or with this process, whatever ends it.
func Start(ctx context.Context, self string, n int) (stop func(), err error) {
	var leashes []io.Closer
	var started []*exec.Cmd
	stop = func() {
		for _, l := range leashes {
			_ = l.Close()
		}
		for _, c := range started {
			_ = c.Wait()
		}
	}
	for range n {
		c := exec.CommandContext(ctx, self, Arg)
		c.WaitDelay = time.Second
		leash, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			stop()
			return nil, errors.Join(errors.New("the busy processes could not be started"), err)
		}
		leashes, started = append(leashes, leash), append(started, c)
	}
	return stop, nil
}
