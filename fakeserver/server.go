package fakeserver

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/internal/birth"
)

// server is the running server.
type server struct {
	options        options
	label, session string
	launch         int
	era            string
	faults         []Fault // those due for this launch
	in             io.Reader
	out            output
	bench          bench

	modernVersions atomic.Pointer[[]string]
	greeted        atomic.Bool // initialize was received
	opened         bool        // a first request was received; the reading goroutine's
	flight         flight
	serving        sync.WaitGroup
	ending         sync.Once
	stopping       chan struct{} // closed when the orderly end begins
	ballast        ballast
	held           []*os.File // locks and ports
}

// ballast is memory that is held for nothing.
type ballast struct {
	mu     sync.Mutex
	blocks [][]byte
}

// newServer puts the script in force.
func newServer(o options, script Script, launch int, b bench, in io.Reader, out *os.File) *server {
	s := &server{
		options: o, label: o.label, session: o.session, launch: launch,
		era: script.Era, in: in, bench: b, out: output{file: out},
		stopping: make(chan struct{}),
	}
	if s.era == "" {
		s.era = EraLegacy
	}
	for _, f := range script.Faults {
		if d, _ := deedNamed(f.Do); f.due(launch) && d.launch == nil {
			s.faults = append(s.faults, f)
		}
	}
	s.modernVersions.Store(&[]string{modernVersion})
	return s
}

// run serves until the end of stdin, and longer if the script wants it so. It
// does not return.
func (s *server) run() {
	s.bench.note(birth.Note{Note: birth.NoteReady})
	time.AfterFunc(idleAfter, slim)
	lines := birth.NewLines(s.in, maxMessage)
	for {
		line, err := lines.Next()
		if errors.Is(err, birth.ErrTooLong) {
			s.protest(nil, &rpcError{Code: codeInvalid, Message: "Invalid Request: " + err.Error()})
			continue
		}
		if err != nil {
			break
		}
		s.receive(line)
	}
	s.bench.note(birth.Note{Note: birth.NoteEOF})
	if !s.commit(onEOF, nil) {
		s.end("end of stdin")
	}
	select {}
}

// idleAfter is when a server has most likely answered what hosts wait for.
const idleAfter = 50 * time.Millisecond

// commit announces and does the faults of a moment. It reports whether one of
// them dealt with it. Those that only add to the moment come first.
func (s *server) commit(on string, r *request) bool {
	for _, decides := range []bool{false, true} {
		for _, f := range s.faults {
			if f.On != on || (f.Tool != "" && r != nil && f.Tool != r.params.Name) {
				continue
			}
			if d, _ := deedNamed(f.Do); d.decides == decides && s.do(d, f, r) {
				return true
			}
		}
	}
	return false
}

func (s *server) do(d deed, f Fault, r *request) bool {
	a := f.announcement(s.era)
	if d.targets != nil {
		a.Targets = d.targets(s)
		f.targets = a.Targets
	}
	s.bench.fault(a)
	return d.commit(s, f, r)
}

// cannot says that a fault which was announced could not be committed.
func (s *server) cannot(f Fault, err error) {
	s.bench.note(birth.Note{Note: birth.NoteRefuse, Text: f.Do + " could not be done: " + err.Error()})
}

// lastAnswers is how long the end of stdin waits for answers that are on
// their way: a host that has stopped reading must not hold the server.
const lastAnswers = 250 * time.Millisecond

// end is the orderly end: no call is worked on any more, answers that are
// ready go out, the bench hears that it was by the server's own will.
func (s *server) end(why string) {
	s.ending.Do(func() {
		close(s.stopping)
		s.waitServed()
		s.commit(onExit, nil)
		s.bench.note(birth.Note{Note: birth.NoteBye, Text: why})
		s.exit(0)
	})
}

func (s *server) waitServed() {
	served := make(chan struct{})
	go func() {
		s.serving.Wait()
		close(served)
	}()
	t := time.NewTimer(lastAnswers)
	defer t.Stop()
	select {
	case <-served:
	case <-t.C:
	}
}

func (s *server) exit(code int) { os.Exit(code) }
