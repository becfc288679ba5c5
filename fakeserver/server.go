package fakeserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/lines"
)

// server is the running server.
type server struct {
	options options // launch is the one that the bench says
	era     string
	in      io.Reader
	out     output
	bench   bench
	flight  flight
	ballast ballast
	held    []*os.File // locks and ports
	chosen
	agreed
	goodbye
	firstThread
}

// chosen are the faults that are in force.
type chosen struct {
	script  []Fault
	seed    uint64
	choice  sync.Mutex // guards the three below
	nth     int        // the launch that the faults are for
	faults  []Fault    // those of the script that are due for it
	passed  []int      // how often each of them has let its moment pass (after)
	counted bool       // its number among the launches that open a session was asked for; the reading goroutine's
	number  chan int   // that number
}

// agreed is how far client and server have come with each other.
type agreed struct {
	modernVersions atomic.Pointer[[]string]
	greeted        atomic.Bool                     // initialize was received
	subscribed     atomic.Pointer[json.RawMessage] // the id of the latest subscription to changes of the tools
	refusedVersion atomic.Bool                     // a request of the modern era was refused for its version
	batches        atomic.Bool                     // the version that was agreed on has batches
	opened         bool                            // a first request was received; the reading goroutine's
}

// goodbye is the orderly end.
type goodbye struct {
	serving   sync.WaitGroup
	settling  sync.Once
	ending    sync.Once
	stopping  chan struct{}          // closed when it begins
	lastWords atomic.Pointer[string] // for the bench
	starting  sync.Mutex             // held while it does a fault that starts processes, and for ever once it ends
}

type firstThread struct {
	instead   atomic.Pointer[func()] // what it is to do in place of reading
	takenOver atomic.Bool            // it does
}

// ballast is memory that is held for nothing.
type ballast struct {
	mu     sync.Mutex
	blocks [][]byte
}

// newServer puts the script in force.
func newServer(o options, script Script, play birth.Welcome, b bench, in io.Reader, out *os.File) *server {
	o.launch = play.Launch
	s := &server{
		options: o, era: cmp.Or(script.Era, EraLegacy), in: in, bench: b, out: output{file: out},
		chosen:  chosen{script: script.Faults, seed: play.Seed, number: make(chan int, 1)},
		goodbye: goodbye{stopping: make(chan struct{})}, flight: flight{all: map[string]*request{}},
	}
	s.choose(play.Launch)
	s.modernVersions.Store(&[]string{modernVersion})
	return s
}

// choose puts those faults in force that are for a launch of this number.
func (s *server) choose(launch int) {
	s.choice.Lock()
	defer s.choice.Unlock()
	s.nth, s.faults = launch, nil
	for _, f := range s.script {
		if f.Due(s.seed, s.options.label, launch) && f.action().launch == nil {
			s.faults = append(s.faults, f)
		}
	}
	s.passed = make([]int, len(s.faults))
}

// numberWait is how long the bench may take to say the number of a launch.
const numberWait = 5 * time.Second

// count asks, at the first request of a session, for the number by which faults choose launches from here on: a
// server that was only asked for the era is no launch to them. The reading goroutine waits for it.
func (s *server) count(method string) {
	opens := method == "initialize" || isWork(method)
	chooses := func(f Fault) bool { return f.Launch > 0 || f.Every > 0 || f.Probability > 0 }
	if s.counted || !opens || s.bench.conn == nil || !slices.ContainsFunc(s.script, chooses) {
		return
	}
	s.counted = true
	s.bench.note(birth.Note{Note: birth.NoteOpens})
	select {
	case n := <-s.number:
		s.choose(n)
	case <-time.After(numberWait):
	}
}

// run serves until the end of stdin, and longer if the script wants it so. It does not return.
func (s *server) run() {
	s.commit(onStart)
	s.bench.note(birth.Note{Note: birth.NoteReady})
	time.AfterFunc(idleAfter, dropPages)
	in := lines.New(s.in, maxMessage)
	for {
		line, err := in.Next()
		s.giveWay()
		if errors.Is(err, lines.ErrTooLong) {
			s.protest(nil, &rpcError{Code: codeInvalid, Message: "Invalid Request: " + err.Error()})
			continue
		}
		if err != nil {
			break
		}
		s.receive(line)
	}
	s.bench.note(birth.Note{Note: birth.NoteEOF})
	if !s.commit(onEOF) {
		s.settle()
		s.giveWay() // an answer that was on its way may have met a broken pipe
		s.end("end of stdin")
	}
	select {}
}

// idleAfter is when a server has most likely answered what hosts wait for.
const idleAfter = 50 * time.Millisecond

// commit is struck and strike in one, at a moment that is no request.
func (s *server) commit(on string) bool { return s.strike(s.struck(on, nil), nil) }

// struck are the faults that a moment is due for. Those of requests are counted, so only the reading goroutine may ask for them.
func (s *server) struck(on string, r *request) []Fault {
	s.choice.Lock()
	defer s.choice.Unlock()
	var due []Fault
	for i, f := range s.faults {
		switch {
		case f.On != on || (f.Tool != "" && r != nil && f.Tool != r.params.Name):
		case s.passed[i] < f.After:
			s.passed[i]++
		default:
			due = append(due, f)
		}
	}
	return due
}

// strike announces and does the faults of a moment. It reports whether one of
// them dealt with it. Those that only add to the moment come first.
func (s *server) strike(faults []Fault, r *request) bool {
	for _, decides := range []bool{false, true} {
		for _, f := range faults {
			if a := f.action(); a.decides == decides && s.do(a, f, r) {
				return true
			}
		}
	}
	return false
}

// do announces a fault and commits it. It reports whether the moment is dealt with.
func (s *server) do(a action, f Fault, r *request) bool {
	announced := f.announcement(s.era)
	s.choice.Lock()
	if s.nth != s.options.launch {
		announced.Launch = s.nth
	}
	s.choice.Unlock()
	if a.targets != nil {
		announced.Targets = a.targets(s)
		f.targets = announced.Targets
	}
	if a.starts {
		s.starting.Lock()
		defer s.starting.Unlock()
	}
	s.bench.fault(announced)
	a.commit(s, f, r)
	return a.decides || r != nil && r.dropped
}

// cannot says that a fault which was announced could not be committed.
func (s *server) cannot(f Fault, err error) {
	s.bench.note(birth.Note{Note: birth.NoteRefuse, Text: f.Do + " could not be done: " + err.Error()})
}

// lastAnswers is how long the end of stdin waits for answers that are on
// their way: a host that has stopped reading must not hold the server.
const lastAnswers = 250 * time.Millisecond

// settle is how an end begins: no call is worked on any more, answers that are ready go out.
func (s *server) settle() {
	s.settling.Do(func() {
		close(s.stopping)
		served := make(chan struct{})
		go func() {
			s.serving.Wait()
			close(served)
		}()
		select {
		case <-served:
		case <-time.After(lastAnswers):
		}
	})
}

// end is the orderly end: the bench hears that it was by the server's own will.
func (s *server) end(why string) {
	s.ending.Do(func() {
		s.settle()
		s.commit(onExit)
		s.starting.Lock()
		if words := s.lastWords.Load(); words != nil {
			why += "; " + *words
		}
		s.bench.note(birth.Note{Note: birth.NoteBye, Text: why})
		os.Exit(0)
	})
}

// say writes a line to stdout.
func (s *server) say(line []byte) { s.onWriteError(s.out.line(line)) }

// onWriteError takes the result of a write to stdout. That nobody can read stdout any more is a moment like others.
func (s *server) onWriteError(err error) {
	if isBrokenPipe(err) {
		s.commit(onEPIPE)
	}
}

// asking are the signals that ask a server to end.
var asking = map[os.Signal]string{
	syscall.SIGTERM: "SIGTERM",
	syscall.SIGINT:  "SIGINT",
	syscall.SIGHUP:  "SIGHUP",
}

// catchSignals must come before the server is ready: a signal that arrives from here on is seen, not died of.
func catchSignals() chan os.Signal {
	// A write to a closed stdout or stderr would end a Go program otherwise (package os/signal, "SIGPIPE").
	signal.Ignore(syscall.SIGPIPE)
	caught := make(chan os.Signal, 16)
	for sig := range asking {
		signal.Notify(caught, sig)
	}
	return caught
}

func (s *server) watchSignals(caught <-chan os.Signal) {
	for sig := range caught {
		name, stdin := asking[sig], stdinState()
		s.bench.note(birth.Note{Note: birth.NoteSignal, Text: name, Stdin: stdin})
		go func() { // a server that takes its time still hears the next one
			if !s.commit(onTerm) {
				s.end(name)
			}
		}()
	}
}

// The first thread reads stdin. It is the one that /proc shows for the whole process, so an action that keeps the
// server from reading is done by it: the process is then seen busy, asleep or blocked as a server with one thread is.
// It can't be called away from a read; who needs it meanwhile begins alone.

// takeOver makes f, again and again, all that the server does. It returns only
// where the first thread has taken over from the caller.
func (s *server) takeOver(f func()) {
	s.instead.Store(&f)
	for !s.takenOver.Load() {
		f()
	}
}

// handOver has the first thread do f, once it is back from its read.
func (s *server) handOver(f func()) { s.instead.Store(&f) }

// giveWay is called by the first thread each time it has read something. What it has read is then dropped.
func (s *server) giveWay() {
	f := s.instead.Load()
	if f == nil {
		return
	}
	s.takenOver.Store(true)
	for {
		(*f)()
	}
}
