// Package bug is how the bench ends where it is wrong itself. Go ends a program that panics with the exit code that a wrong flag has.
package bug

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// Panic is an error that was a panic.
type Panic struct {
	Why string
	// Stack has no addresses and no goroutine's number: the same bug has the same text wherever it is met.
	Stack string
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %s\n%s", p.Why, p.Stack) }

// mostFrames is how much of a stack is kept.
const mostFrames = 40

// of is a panic that its caller has recovered from.
func of(why any) *Panic {
	callers := make([]uintptr, mostFrames)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	var stack []string
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); !strings.HasPrefix(f.Function, "runtime.") {
			stack = append(stack, fmt.Sprintf("%s\n    %s:%d", f.Function, f.File, f.Line))
		}
	}
	return &Panic{fmt.Sprint(why), strings.Join(stack, "\n")}
}

// Caught is deferred by what others do not depend on: it makes an error of a panic.
func Caught(err *error) {
	if why := recover(); why != nil {
		*err = errors.Join(*err, of(why))
	}
}

// Catch does something, with Caught.
func Catch(do func() error) (err error) {
	defer Caught(&err)
	return do()
}

var end func(*Panic)

// OnPanic says what is done where a goroutine panics. A program that has the bench in it says nothing, and gets the panic.
func OnPanic(do func(*Panic)) { end = do }

// Ends is deferred first by each goroutine of the bench. Its panic ends the program: what the goroutine was to do is not done.
func Ends() {
	if end == nil {
		return
	}
	if why := recover(); why != nil {
		end(of(why))
	}
}

// Guarded is what a goroutine does, with Ends.
func Guarded(do func()) func() {
	return func() {
		defer Ends()
		do()
	}
}
