package leaktest

import (
	"context"
	"sync"

	"github.com/leakbench/leakbench/internal/play/lab"
)

// Lab hands out fake servers to a test and counts them.
type Lab struct {
	t   TB
	lab *lab.Lab
}

// labs are those of the tests that run.
var labs sync.Map // TB -> []*Lab

// New makes a lab for a test. When the test ends, none of its servers may be alive.
func New(t TB, options ...Options) *Lab {
	l := &Lab{t: t, lab: lab.New(params(t, one(options)))}
	mine, _ := labs.LoadOrStore(t, &sync.Map{})
	mine.(*sync.Map).Store(l, nil)
	release := holdCollector()
	t.Cleanup(func() {
		t.Helper()
		defer release()
		labs.Delete(t)
		report(t, l.lab.Close(context.WithoutCancel(t.Context())))
	})
	return l
}

// Server returns the command line of a new fake MCP server. It does wrong what the faults say, as the flag of leakbench
// fakeserver --fault has them: "on=eof,do=ignore" is one that does not exit at the end of its stdin.
func (l *Lab) Server(faults ...string) []string {
	l.t.Helper()
	argv, err := l.lab.Server(l.t.Context(), faults...)
	if err != nil {
		l.t.Fatalf("leaktest: %v", err)
	}
	return argv
}

// Flat fails the test unless of each server of the lab exactly the newest n launches are alive, within the settle time:
// an older one is a leak, and a newest one that is missing was killed.
func (l *Lab) Flat(n int) {
	l.t.Helper()
	report(l.t, l.lab.Flat(l.t.Context(), n))
}
