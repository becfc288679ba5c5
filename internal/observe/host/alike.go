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
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/text"
)

// alikeSteps is how many opens, or calls, have to fail alike before it is said that the driver can't do them: no verdict on the host
// can come of the rest.
const alikeSteps = 3

// alike are the steps of one operation that had to work, from the first one on.
type alike struct {
	failed int
	error  string // of the first one
	over   bool   // one has worked, or failed in another way, or the first came when something had been broken
}

// failsAlike takes note of how an open or a call ended that had to work. It is an error once several have failed alike, none has worked,
// and the first failed before anything was broken: then the way that the host is driven is what is wrong.
func (r *run) failsAlike(ctx context.Context, s record.Step, failed error) error {
	if s.Expect != "" && s.Expect != record.ExpectOK {
		return nil
	}
	var give bool
	r.locked(func() {
		a := &r.alike[0]
		if s.Op == record.OpCall {
			a = &r.alike[1]
		}
		switch {
		case a.over:
			return
		case failed == nil, errors.Is(failed, errNoAnswer), errors.As(failed, new(*driver.NotPlayed)):
			a.over = true
		case a.failed == 0:
			a.error, a.over = failed.Error(), hasBroken(r.lives, s.Op)
		case shapeOf(failed.Error()) != shapeOf(a.error):
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
	return &wrongDriver{fmt.Sprintf("all %d %ss failed alike, from before the first fault: %q%s",
		alikeSteps, s.Op, text.ClipBytes(redact.Text(failed.Error()), maxError, "..."), r.lastWords(ctx))}
}

// wrongDriver is the error of a host that came up, and can't be played.
type wrongDriver struct{ why string }

func (w *wrongDriver) Error() string { return "the driver does not work: " + w.why }
func (w *wrongDriver) Unwrap() error { return observe.ErrHost }

// hasBroken says that a server has committed a fault or was broken, or, before a call, that one has ended.
func hasBroken(l *history.History, op record.Op) bool {
	return slices.ContainsFunc(l.Servers(), func(s *history.Server) bool {
		return len(s.Faults) > 0 || s.Broken != history.Never || op == record.OpCall && s.Died != history.Never
	})
}

// numbers are what differs in errors of one cause: sessions, processes, addresses.
var numbers = regexp.MustCompile(`0x[0-9a-fA-F]+|[0-9]+`)

func shapeOf(message string) string { return numbers.ReplaceAllString(message, "#") }
