package play

import (
	"context"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/subject"
)

// slowStart is how long a start takes that may make others late, and be made late by them: a host that imports for seconds.
const slowStart = 3 * time.Second

// perStart is how many processors a slow start gets to itself: a runtime compiles and collects garbage beside the import.
const perStart = 2

// starts makes slow starts wait for each other in runs that are played side by side. A host that was not seen to start yet counts as
// slow, so that the first start of each is measured without others beside it.
type starts struct {
	places chan struct{}

	mu   sync.Mutex
	slow map[string]bool // by program, of those that have started
}

func newStarts(processors int) *starts {
	return &starts{places: make(chan struct{}, max(1, processors/perStart)), slow: map[string]bool{}}
}

// Over says that a start is over: the host is up, or it is not and something else ended the start. Later calls change nothing.
type Over func(up bool)

// turn waits until a host may start.
func (s *starts) turn(ctx context.Context, h subject.Spec) (Over, error) {
	program := programOf(h)
	if s.quick(program) {
		return s.watch(program, func() {}), nil
	}
	select {
	case s.places <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if s.quick(program) { // as another run has shown meanwhile
		<-s.places
		return s.watch(program, func() {}), nil
	}
	return s.watch(program, func() { <-s.places }), nil
}

// watch notes how long a start takes. A program that has once taken long stays a slow one: alone it may take less.
func (s *starts) watch(program string, leave func()) Over {
	begun := time.Now()
	var once sync.Once
	return func(up bool) {
		once.Do(func() {
			defer leave()
			s.mu.Lock()
			defer s.mu.Unlock()
			if long := time.Since(begun) >= slowStart; long || up {
				s.slow[program] = s.slow[program] || long
			}
		})
	}
}

func (s *starts) quick(program string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	slow, known := s.slow[program]
	return known && !slow
}

// programOf names what starts. The built-in hosts are one program.
func programOf(h subject.Spec) string {
	if len(h.Argv) == 3 && h.Argv[1] == "host" && h.Argv[2] == h.Name {
		return h.Argv[0]
	}
	return h.Given + "\n" + h.Name + "\n" + h.Version
}
