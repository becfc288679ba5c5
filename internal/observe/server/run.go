// Package server plays one check against a server under test: the bench is its client. The server lives below a keeper, as a host
// does, so that all it starts and leaves is seen, and ended. What happens is written into a run file, and nothing is judged.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/outside"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
)

// Params are what a run of a check is made of.
type Params struct {
	Self    string // the program that is also the keeper
	Check   Check
	Name    string   // of the server
	Argv    []string // its command line
	Dir     string   // folder of the run; made, must not hold a run yet
	Tool    record.Tool
	Command []string // what reproduces the run
	Again   string   // why it is made once more, alone; "": it is not
	Limits
	// Call is a tool that is called once the server is up, and in whose midst stdin is closed; nil: none.
	Call *Call
	// OnEvent sees each event once it is in the file. It must not block.
	OnEvent func(record.Event)
}

// Limits are the times of a run. Zero values are the defaults.
type Limits struct {
	Grace time.Duration // how long the server may take to exit
	Watch time.Duration // how long a survivor is watched after that
	Start time.Duration // how long it may take to answer initialize
	Idle  time.Duration // how long it is watched while nothing is asked
}

// The defaults. Published clients wait 2 s to 5 s after they have closed stdin before they send a signal.
const (
	DefaultGrace = 5 * time.Second
	DefaultWatch = 5 * time.Second
	DefaultStart = 30 * time.Second
	DefaultIdle  = 20 * time.Second
)

// Or are the limits with the defaults in the place of zeros.
func (l Limits) Or() Limits {
	return Limits{
		cmp.Or(l.Grace, DefaultGrace), cmp.Or(l.Watch, DefaultWatch), cmp.Or(l.Start, DefaultStart), cmp.Or(l.Idle, DefaultIdle),
	}
}

// Call is a call of a tool.
type Call struct {
	Tool string
	Args json.RawMessage // an object, or nil
}

// exam is a run under way.
type exam struct {
	Params
	*observe.Observer
	wire   *wire
	modern bool // the server speaks the era without initialize
	steps  int

	mu     sync.Mutex
	host   record.Identity
	early  *keeper.Exited // the end of what is not known to be the server yet
	exit   *record.Exit
	words  string        // the end of its stderr, where nobody had asked it to end
	asked  bool          // the bench has done something that the server must end at
	gone   chan struct{} // the process that was started was reaped
	strays int
}

// Run plays a check and leaves its file in p.Dir. The error is nil when the file is complete and the check was played to its end,
// whatever that showed. It wraps observe.ErrHost where the server could not be tested, as it does of a host that did not come up.
func Run(ctx context.Context, p Params) error {
	p.Limits = p.Or()
	x := &exam{Params: p, gone: make(chan struct{})}
	var err error
	x.Observer, err = observe.New(observe.Params{
		Self: p.Self, Dir: p.Dir, Lock: &x.mu, Seen: x.seen, OnExit: x.onExit, OnSignal: x.signalledFromOutside, Left: x.left,
	})
	if err != nil {
		return err
	}
	if err = x.Open(ctx); err == nil {
		err = x.WriteHeader(x.header())
	}
	if err != nil {
		return x.Undo(ctx, err, x.hangUp)
	}
	return x.TearDown(ctx, x.play(ctx), x.hangUp)
}

func (x *exam) seen(e record.Event) {
	if x.OnEvent != nil {
		x.OnEvent(e)
	}
}

func (x *exam) header() record.Header {
	witness := x.Keeper.Hello.Witness
	witness.Ledger = "none"
	return record.Header{
		Tool: x.Tool, Witness: witness,
		Scenario: record.Scenario{Name: x.Check.Scenario(), Title: x.Check.Title},
		Host:     record.Host{Name: x.Name, Kind: record.KindServer, Command: x.Argv},
		Limits: record.Limits{
			Settle: record.Duration(x.Grace), Confirm: record.Duration(x.Watch), Quiet: record.Duration(lookMax),
			Close: record.Duration(x.Grace), Stop: record.Duration(x.Grace),
		},
		Plan: record.Plan{
			Labels: []record.PlanLabel{}, Checkpoints: []string{}, Laws: x.Check.Laws, Evidence: true,
		},
		Command: x.Command, Again: x.Again,
	}
}

// hangUp ends the conversation with the server, once it is swept.
func (x *exam) hangUp(context.Context) error {
	if x.wire != nil {
		_ = x.wire.in.Close()
		x.wire.hangUp()
	}
	return nil
}

// left is what is known of what a keeper that has died has left: what it does not mark itself is not known.
func (x *exam) left() keeper.Left {
	x.mu.Lock()
	defer x.mu.Unlock()
	return keeper.Left{Host: x.host, Knows: func(record.Identity) bool { return false }}
}

// start starts the server, and notes the pipes that it was given.
func (x *exam) start(ctx context.Context, argv []string) error {
	started, err := x.Keeper.StartHost(ctx, keeper.HostParams{Argv: argv, Stderr: filepath.Join(x.Dir, observe.HostLog)})
	if err != nil {
		if errors.Is(err, keeper.ErrGone) || ctx.Err() != nil {
			return err
		}
		return notUp(err.Error())
	}
	started.Process.Args = redact.Args(argv)
	x.Emit(record.Event{Kind: record.HostStarted, Process: &started.Process})
	x.mu.Lock()
	x.host = started.Process.Identity
	early := x.early
	x.mu.Unlock()
	if early != nil {
		x.onExit(*early)
	}
	x.wire = newWire(started.Stdin, started.Stdout, x.stray)
	return nil
}

// onExit writes down what the keeper reaped.
func (x *exam) onExit(e keeper.Exited) {
	x.mu.Lock()
	if e.Host && x.host.PID == 0 {
		x.early = &e
		x.mu.Unlock()
		return
	}
	kind, words := record.Reaped, ""
	is := e.Host || x.host.PID != 0 && e.Identity == x.host
	if is {
		kind, e.Exit.Asked = record.HostExited, e.Asked || x.asked
		x.exit = &e.Exit
	}
	x.mu.Unlock()
	if is && !e.Exit.Asked {
		words = x.lastWords()
	}
	x.Emit(record.Event{Kind: kind, Process: &e.Process, Exit: &e.Exit, Text: words})
	if is {
		if !e.Exit.Asked && e.Exit.Signal == "SIGKILL" && x.KilledForMemory(e.PID) {
			x.Doubt(record.DoubtOutside,
				"the server may have been killed by the kernel for want of memory (oom_kill in /proc/vmstat, and /dev/kmsg)")
		}
		x.mu.Lock()
		x.words = words
		x.mu.Unlock()
		close(x.gone)
	}
}

// signalledFromOutside writes down that somebody else has sent the server a signal that may end it.
func (x *exam) signalledFromOutside(s outside.Signal) {
	x.mu.Lock()
	is := x.host.PID != 0 && s.To == x.host.PID
	x.mu.Unlock()
	if is {
		x.Doubt(record.DoubtOutside, "the server was sent %s by %q (pid %d), which neither the server nor leakbench has started",
			proc.SignalName(s.Signal), s.Comm, s.From)
	}
}

const (
	// wordsWithin is how long the end of stderr may take from the pipe to the file once the server has exited.
	wordsWithin = 300 * time.Millisecond
	wordsLook   = 20 * time.Millisecond
)

// lastWords is the end of what a server wrote to stderr that has exited: the keeper may still be writing it down.
func (x *exam) lastWords() (words string) {
	for until := time.Now().Add(wordsWithin); time.Now().Before(until); {
		now := observe.LogTail(filepath.Join(x.Dir, observe.HostLog))
		if now != "" && now == words {
			break
		}
		words = now
		time.Sleep(wordsLook) // sleep-ok: a file tells nobody that it was written to
	}
	return words
}

// mostStrays is how many lines that are no messages are written down.
const mostStrays = 20

func (x *exam) stray(what string) {
	x.mu.Lock()
	x.strays++
	n := x.strays
	x.mu.Unlock()
	if n <= mostStrays {
		x.Emit(record.Event{Kind: record.WroteStdout, Text: what})
	}
}
