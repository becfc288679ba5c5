package leaktest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/play/lab"
	"github.com/leakbench/leakbench/internal/record"
)

// Process is a process that a test has left.
type Process struct {
	PID, PPID int
	Command   []string
	State     string // as ps has it: S sleeps, Z is a zombie that its parent has not waited for
}

// VerifyNone fails the test if it leaves a process: a server of one of its labs, or a child of this process. Defer it, or
// call it at the end of the test.
//
// In a test that runs in parallel, children that no lab has made can't be told from those of other tests. They are left
// to VerifyTestMain.
func VerifyNone(t TB, options ...Options) {
	t.Helper()
	o := one(options)
	var keepers []int
	if mine, ok := labs.Load(t); ok {
		mine.(*sync.Map).Range(func(l, _ any) bool {
			of := l.(*Lab)
			if of.lab.Alive() > 0 {
				of.Flat(0)
			}
			keepers = append(keepers, of.lab.Keeper())
			return true
		})
	}
	if lab.Childless(keepers...) || isParallel(t) {
		return
	}
	if left := o.wait(nil); len(left) > 0 {
		t.Errorf("leaktest: %s", lab.Describe(left))
	}
}

// isParallel reports whether a test runs beside others: package testing lets no such test set a variable.
func isParallel(t TB) (parallel bool) {
	defer func() { parallel = recover() != nil }()
	t.Setenv("LEAKTEST_NAME", t.Name())
	return false
}

// M is what is asked of *testing.M.
type M interface{ Run() int }

// VerifyTestMain runs the tests and exits. If they passed, it fails where a process is left that was not there before.
//
//	func TestMain(m *testing.M) { leaktest.VerifyTestMain(m) }
func VerifyTestMain(m M, options ...Options) {
	o := one(options)
	before := map[record.Identity]bool{}
	for _, e := range o.now() {
		before[e.Identity] = true
	}
	code := m.Run()
	if code == 0 {
		if left := o.wait(before); len(left) > 0 {
			fmt.Fprintf(os.Stderr, "leaktest: %s\n", lab.Describe(left))
			code = 1
		}
	}
	exit(code)
}

// exit is another one in tests.
var exit = os.Exit

const defaultSettle = 5 * time.Second

// now is what is there.
func (o Options) now() []record.Evidence {
	o.Settle = time.Nanosecond
	return o.wait(nil)
}

// wait is what is left when the settle time is over.
func (o Options) wait(before map[record.Identity]bool) []record.Evidence {
	left, err := lab.Await(cmp.Or(o.Settle, defaultSettle), func() ([]record.Evidence, error) { return o.left(before) })
	if err != nil {
		panic(fmt.Sprintf("leaktest can't read the process table: %v", err))
	}
	return left
}

func (o Options) left(before map[record.Identity]bool) ([]record.Evidence, error) {
	children, err := lab.Children(os.Getpid())
	return slices.DeleteFunc(children, func(e record.Evidence) bool {
		return before[e.Identity] || o.Ignore != nil && o.Ignore(Process{PID: e.PID, PPID: e.PPID, Command: e.Args, State: string(e.State)})
	}), err
}
