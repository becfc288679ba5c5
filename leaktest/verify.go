package leaktest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/kit"
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
	if mine, ok := labs.Load(t); ok {
		mine.(*sync.Map).Range(func(l, _ any) bool {
			l.(*Lab).verify()
			return true
		})
	}
	if childless() || isParallel(t) {
		return
	}
	switch text, err := one(options).wait(nil); {
	case err != nil:
		t.Fatalf("leaktest: %v", err)
	case text != "":
		t.Errorf("leaktest: %s", text)
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
	before, err := present()
	code := m.Run()
	if code == 0 {
		var text string
		if err == nil {
			text, err = o.wait(before)
		}
		if err != nil {
			text = err.Error()
		}
		if text != "" {
			tell("%s", text)
			code = 1
		}
	}
	exit(code)
}

// exit is another one in tests.
var exit = os.Exit

const defaultSettle = 5 * time.Second

// wait describes what is left when the settle time is over: nothing that was there before, or that is to be ignored.
func (o Options) wait(known []kit.Process) (text string, err error) {
	if childless() {
		return "", nil
	}
	b, err := start(os.TempDir())
	if err != nil {
		return "", err
	}
	defer b.close()
	end := time.Now().Add(cmp.Or(o.Settle, defaultSettle)) // a build does not count
	for settle := time.Until(end); ; settle = max(0, time.Until(end)) {
		if o.Ignore != nil {
			all, err := b.children(0, known)
			if err != nil {
				return "", err
			}
			known = append(slices.Clone(known), slices.DeleteFunc(all.Left, func(p kit.Process) bool { return !o.ignores(p) })...)
		}
		a, err := b.children(settle, known)
		if err != nil || len(a.Left) == 0 {
			return "", err
		}
		if !slices.ContainsFunc(a.Left, o.ignores) {
			return a.Text, nil
		}
	}
}

func (o Options) ignores(p kit.Process) bool {
	return o.Ignore != nil && o.Ignore(Process{PID: p.PID, PPID: p.PPID, Command: p.Command, State: p.State})
}

// children are those of this process that are left after the settle time, beside the known ones.
func (b *bench) children(settle time.Duration, known []kit.Process) (kit.Answer, error) {
	a, err := b.ask(context.Background(), kit.Request{Do: kit.DoChildren, Settle: settle.Seconds(), Known: known}, nil)
	if err == nil && a.Error != "" {
		err = fmt.Errorf("reading the process table: %s", a.Error)
	}
	return a, err
}

// present are the children that are there now.
func present() ([]kit.Process, error) {
	if childless() {
		return nil, nil
	}
	b, err := start(os.TempDir())
	if err != nil {
		return nil, err
	}
	defer b.close()
	a, err := b.children(0, nil)
	return a.Left, err
}

// childless reports whether this process has no child but programs of this package. It is much faster than to ask one; false may mean
// that it can't be seen. The children of a thread that ends meanwhile are another one's, which was perhaps looked at before: no answer.
func childless() bool {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return false
	}
	for _, task := range tasks {
		children, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			return false
		}
		for child := range strings.FieldsSeq(string(children)) {
			pid, err := strconv.Atoi(child)
			if err != nil {
				return false
			}
			if _, own := benches.Load(pid); !own {
				return false
			}
		}
	}
	return true
}
