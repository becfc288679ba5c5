package leaktest

import (
	"context"
	"sync"

	"github.com/leakbench/leakbench/internal/kit"
)

// Lab hands out fake servers to a test and counts them.
type Lab struct {
	t     TB
	o     Options
	mu    sync.Mutex
	bench *bench // nil before the first server
}

// labs are those of the tests that run.
var labs sync.Map // TB -> []*Lab

// New makes a lab for a test. When the test ends, none of its servers may be alive.
func New(t TB, options ...Options) *Lab {
	t.ArtifactDir() // without -artifacts it is removed after what is registered for the end of the test from here on
	l := &Lab{t: t, o: one(options)}
	mine, _ := labs.LoadOrStore(t, &sync.Map{})
	mine.(*sync.Map).Store(l, nil)
	release := holdCollector()
	t.Cleanup(func() {
		t.Helper()
		defer release()
		labs.Delete(t)
		if b := l.started(); b != nil {
			defer b.close()
			report(t)(b.ask(context.WithoutCancel(t.Context()), l.o.request(t, kit.DoClose), nil))
		}
	})
	return l
}

func (l *Lab) started() *bench {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bench
}

// start starts the program, with the first server.
func (l *Lab) start() (b *bench, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.bench == nil {
		l.bench, err = start(l.t.ArtifactDir())
	}
	return l.bench, err
}

// Server returns the command line of a new fake MCP server. It does wrong what the faults say, as the flag of leakbench
// fakeserver --fault has them: "on=eof,do=ignore" is one that does not exit at the end of its stdin.
func (l *Lab) Server(faults ...string) []string {
	l.t.Helper()
	b, err := l.start()
	if err != nil {
		l.t.Fatalf("leaktest: %v", err)
		return nil
	}
	r := l.o.request(l.t, kit.DoServer)
	r.Faults = faults
	a, err := b.ask(l.t.Context(), r, nil)
	report(l.t)(a, err)
	return a.Argv
}

// verify is Flat(0), and much faster where no server is alive.
func (l *Lab) verify() {
	l.t.Helper()
	b := l.started()
	if b == nil {
		return
	}
	if a, err := b.ask(l.t.Context(), l.o.request(l.t, kit.DoAlive), nil); err != nil || a.Error != "" {
		report(l.t)(a, err)
	} else if a.N > 0 {
		l.Flat(0)
	}
}

// Flat fails the test unless of each server of the lab exactly the newest n launches are alive, within the settle time:
// an older one is a leak, and a newest one that is missing was killed.
func (l *Lab) Flat(n int) {
	l.t.Helper()
	if b := l.started(); b != nil {
		r := l.o.request(l.t, kit.DoFlat)
		r.N = n
		report(l.t)(b.ask(l.t.Context(), r, nil))
	}
}
