package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/text"
)

// issues is where a bug is reported.
const issues = "https://github.com/leakbench/leakbench/issues"

// orderlyEnd is how long a command may take to end after a goroutine has panicked. A run takes at most 30 s to end what it has started.
const orderlyEnd = 40 * time.Second

// mishap is the first panic of a goroutine, and what tells where its command has saved runs.
type mishap struct {
	first atomic.Pointer[bug.Panic]
	out   string // "": the command plays nothing
	begun time.Time
}

// panicked has the command end as after ^C: what was played is saved, judged and shown. The goroutine may have held what that waits for,
// so the end has a limit.
func (a *app) panicked(err error, stop context.CancelCauseFunc) (late *time.Timer) {
	var p *bug.Panic
	if errors.As(err, &p) {
		a.mishap.first.CompareAndSwap(nil, p)
	}
	stop(err)
	return time.AfterFunc(orderlyEnd, func() { os.Exit(a.fail(err)) })
}

// orPanicked adds to an error the panic of a goroutine, if there was one: it stands above whatever else there is to say.
func (a *app) orPanicked(err error) error {
	p := a.mishap.first.Load()
	switch {
	case p == nil:
		return err
	case errors.As(err, new(exit)): // the answer is printed, and its code was that of an answer without a bug
		return p
	case errors.Is(err, p): // a run was cut short by the panic, and says so in words of its own
		return p
	default:
		return errors.Join(p, err)
	}
}

// saved says where the runs are that a command has made before it met a bug, or "".
func (a *app) saved() string {
	if a.mishap.out == "" {
		return ""
	}
	runs, err := play.SavedRuns(a.mishap.out)
	if err != nil {
		return ""
	}
	n := 0
	for _, r := range runs {
		if r.Written.After(a.mishap.begun) {
			n++
		}
	}
	return fmt.Sprintf("; %s saved in %s (leakbench runs --out %[2]s)", text.Count(n, "run"), a.mishap.out)
}
