package portable

import (
	"context"
	"sync"
	"time"
)

// Deaths tells any number of callers when processes end. It takes one thread, whatever the number.
type Deaths struct {
	// Watch has the kernel tell of the end of a process. Next waits for what it tells: pids, some of them perhaps more than once.
	Watch func(pid int) error
	Next  func() ([]int, error)

	start   sync.Once
	mu      sync.Mutex
	waiting map[int]map[chan struct{}]bool // by pid
	failed  error                          // why no more deaths are reported
}

// Wait returns nil when the kernel says that the process with the pid has ended, and alive objects since. The kernel does not
// report a process that ended before it was watched: then alive says so. Any error but ctx's cause, or alive's, means that the kernel
// can't report deaths.
func (d *Deaths) Wait(ctx context.Context, pid int, alive func() error) error {
	d.start.Do(func() { go d.tell() })
	told := make(chan struct{})
	d.mu.Lock()
	if d.failed != nil {
		d.mu.Unlock()
		return d.failed
	}
	if d.waiting == nil {
		d.waiting = map[int]map[chan struct{}]bool{}
	}
	if d.waiting[pid] == nil {
		d.waiting[pid] = map[chan struct{}]bool{}
	}
	d.waiting[pid][told] = true
	d.mu.Unlock()
	defer d.forget(pid, told)
	if err := d.Watch(pid); err != nil {
		return err
	}
	if err := alive(); err != nil {
		return err
	}
	return d.until(ctx, told, alive)
}

// The kernel is asked again now and then. It reports nothing of a process that was past its last word when it was watched
// (filt_procattach of XNU captures what comes after that alone), and its report on a pid may mean the process that had it before.
const (
	askAgain = time.Second
	askSoon  = time.Millisecond
)

// until waits for the word that a process has ended, and believes it once alive objects.
func (d *Deaths) until(ctx context.Context, told chan struct{}, alive func() error) error {
	for pause := askAgain; ; pause = min(2*pause, askAgain) {
		select {
		case <-told:
			d.mu.Lock()
			failed := d.failed
			d.mu.Unlock()
			if failed != nil || alive() != nil {
				return failed
			}
			told, pause = nil, askSoon
		case <-time.After(pause):
			if err := alive(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (d *Deaths) forget(pid int, told chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if delete(d.waiting[pid], told); len(d.waiting[pid]) == 0 {
		delete(d.waiting, pid)
	}
}

// tell goes on for as long as the program runs, unless the kernel fails: then each caller gets the error.
func (d *Deaths) tell() {
	for {
		pids, err := d.Next()
		d.mu.Lock()
		if err != nil {
			d.failed = err
			for pid := range d.waiting {
				pids = append(pids, pid)
			}
		}
		for _, pid := range pids {
			for told := range d.waiting[pid] {
				close(told)
			}
			delete(d.waiting, pid)
		}
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}
