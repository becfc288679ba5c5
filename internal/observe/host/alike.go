package host

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
)

// alikeSteps is how many opens, or calls, have to fail alike before it is said that the driver can't do them: no verdict on the host
// can come of the rest.
const alikeSteps = 3

// alike are the steps of one operation that had to work, from the first one on.
type alike struct {
	failed int
	shape  string // of the first one's error
	over   bool   // one has worked, or failed in another way, or the first came when something had been broken
}

// failsAlike takes note of how an open or a call ended that had to work. It is an error once several have failed alike, none has worked,
// and the first failed before anything was broken: then the way that the host is driven is what is wrong.
func (r *run) failsAlike(ctx context.Context, a *alike, s record.Step, failed error) error {
	if !s.MustWork() {
		return nil
	}
	var give bool
	r.locked(func() {
		switch {
		case a.over:
			return
		case failed == nil, errors.Is(failed, errNoAnswer), errors.As(failed, new(*driver.NotPlayed)):
			a.over = true
		case a.failed == 0:
			a.shape, a.over = shapeOf(failed.Error()), hasBroken(r.lives, s.Op)
		case shapeOf(failed.Error()) != a.shape:
			a.over = true
		}
		if !a.over {
			a.failed++
		}
		give = a.failed >= alikeSteps
	})
	if !give {
		return nil
	}
	return &observe.Untestable{Why: fmt.Sprintf("the driver does not work: all %d %ss failed alike, from before the first fault: %q%s",
		alikeSteps, s.Op, clipped(failed.Error()), r.lastWords(ctx))}
}

// hasBroken says that a server has committed a fault or was broken, or, before a call, that one has ended.
func hasBroken(l *history.History, op record.Op) bool {
	return slices.ContainsFunc(l.Servers(), func(s *history.Server) bool {
		return len(s.Faults) > 0 || s.Broken != history.Never || op == record.OpCall && s.Died != history.Never
	})
}

// numbers are what differs in errors of one cause: sessions, processes, addresses.
var numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+`)

func shapeOf(message string) string { return numbers.ReplaceAllString(message, "#") }
