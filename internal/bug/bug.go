// Package bug is how the bench ends where it is wrong itself. Go ends a program that panics with the exit code that a wrong flag has.
package bug

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// Panic is an error that was a panic.
type Panic struct {
	Why   any
	Stack []byte
}

func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Why, p.Stack) }

// Caught is deferred by what others do not depend on: it makes an error of a panic.
func Caught(err *error) {
	if why := recover(); why != nil {
		*err = errors.Join(*err, &Panic{why, debug.Stack()})
	}
}

var end func(error)

// OnPanic says what ends the program where a goroutine panics. A program that has the bench in it says nothing, and gets the panic.
func OnPanic(exit func(error)) { end = exit }

// Ends is deferred first by each goroutine of the bench. Its panic ends the program at once, as kill -9 does: keeper and servers see that
// the bench has gone.
func Ends() {
	if end == nil {
		return
	}
	if why := recover(); why != nil {
		end(&Panic{why, debug.Stack()})
	}
}

// Guarded is what a goroutine does, with Ends.
func Guarded(do func()) func() {
	return func() {
		defer Ends()
		do()
	}
}
