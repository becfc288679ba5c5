package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

// Files of a run's folder that runs of hosts alone have.
const (
	hostOutput = "host.stdout.log"     // of a host that does not speak the driver protocol
	hostDir    = "host"                // {{run}} of a host file: its config, and what it writes there
	gatewayLog = "gateway-clients.log" // of the clients before a gateway
)

// lastDeaths is how long the ledger may take to report the deaths of swept servers.
const lastDeaths = 5 * time.Second

// Params are what a run is made of.
type Params struct {
	Self     string // the program that is also the fake server, the keeper and the built-in hosts
	Scenario *scenarios.Scenario
	Host     subject.Spec
	Caller   *Caller // the host, where it is there already: Host then only names it
	Dir      string  // folder of the run; made, must not hold a run yet
	Seed     uint64
	Tool     record.Tool
	Command  []string        // what reproduces the run
	Again    string          // why it is made once more, alone; "": it is not
	Settle   record.Duration // 0: the host profile's, else the scenario's
	Confirm  record.Duration // 0: likewise
	Patience record.Duration // 0: the scenario's
	Fast     bool            // what is still running after 2 s is given up, where nothing says that it takes longer
	// Start is how long the host may take to come up: to say hello or, a command, to connect to its first server. 0 is 15 s.
	Start record.Duration
	Soak  *Soak // nil: the scenario is played once
	// Turn waits until the host may be started anew beside those of other runs, and returns what says that it is up. nil: at once.
	Turn func(context.Context) (over func(up bool), err error)
	// OnEvent sees each event once it is in the file. It must not block.
	OnEvent func(record.Event)
	// OnWait is told once of each checkpoint what is still waited for after some time. It must not block.
	OnWait func(Waiting)
	// Sample is how often a census is taken for the curves; 0 is 250 ms.
	Sample time.Duration

	// onLedger lets a test of the bench itself disturb a run.
	onLedger func(*ledger.Ledger)
}

// run is a run under way.
type run struct {
	Params
	*observe.Observer
	terms
	program os.FileInfo // Self as it was
	ledger  *ledger.Ledger

	mu       sync.Mutex
	lives    *history.History
	host     *hostLife // the latest; never nil
	sessions map[string]*session
	opens    opens
	twins    map[record.Identity]string // their labels; of a recycled pid, the server that had it
	sampled  sampled
	wakes
	waits
	failings
	tally
}

// terms are what the host is given, and what it is held to.
type terms struct {
	limits  record.Limits
	labels  []string          // that the host is given
	planned map[string]string // the label that each session of the scenario is opened with
	sharing record.Sharing    // of a gateway, and of a driver whose sessions share an entry
	profile record.Profile    // what the host declares of itself
	hello   record.Hello
}

// wakes wake who waits for events.
type wakes struct {
	changed chan struct{} // closed and replaced at each event
	news    chan struct{} // likewise, but at no census that shows nobody new
	stir    chan struct{} // holds one when a server may have started something
}

// waits are what was waited for in vain, and need not be waited for again.
type waits struct {
	known  map[record.Identity]bool // survivors that an earlier checkpoint has waited for already
	waited map[record.Identity]bool // those of them of the whole run
	missed map[string]bool          // sessions likewise, whose server is missing
	forgot bool                     // known and missed were emptied at the host's end
	cycles cycleWaits
}

// failings are what the host has shown that it does not do: it is not given the time for it again.
type failings struct {
	noRelaunch bool            // a command host that does not launch its server again
	taciturn   atomic.Bool     // no client says that it has taken the answer of a handshake
	unreplaced map[string]bool // labels whose broken server a gateway does not replace
	unclaimed  atomic.Bool     // the host claims to reconnect by itself, and has failed to
	bare       map[string]bool // sessions that had no working server when one was waited for
	occupied   map[string]bool // sessions with a request that the host does not end, and takes no cancel of
}

// tally counts what there has been.
type tally struct {
	steps      int
	changes    int // of sessions
	unopened   int // sessions that should have opened and did not
	unanswered int // steps that had to work; see countUnanswered

	alikeOpens, alikeCalls alike
}

type session struct {
	label  string
	state  record.SessionState
	failed bool  // to open
	opened int64 // the time of the file at which it was
}

// Run plays a scenario and leaves its file in p.Dir. The error is nil when the file is complete and the play was
// played to its end, whatever that showed; it wraps observe.ErrHost, an observe.Interrupted, or keeper.ErrGone, or is a failure of
// the bench. The file is closed and the machine is clean in every case.
func Run(ctx context.Context, p Params) error {
	r, err := newRun(p)
	if err != nil {
		return err
	}
	if err := r.setUp(ctx); err != nil {
		return r.Undo(ctx, r.sameProgram(err), r.hangUp)
	}
	r.startTwins(ctx)
	finish := r.startControls(ctx)
	err = bug.Catch(func() error { return r.play(ctx) })
	if errors.Is(err, errUnasked) {
		err = nil // a doubt tells; nothing that would come after it could be judged
	}
	err = r.sameProgram(err)
	err = errors.Join(err, finish(err == nil))
	return r.TearDown(ctx, err, r.hangUp)
}

// newRun makes a run that has its file, and nothing else yet.
func newRun(p Params) (*run, error) {
	r := &run{
		Params: p, host: &hostLife{}, sessions: map[string]*session{}, twins: map[record.Identity]string{},
		wakes:    wakes{changed: make(chan struct{}), news: make(chan struct{}), stir: make(chan struct{}, 1)},
		waits:    waits{known: map[record.Identity]bool{}, waited: map[record.Identity]bool{}, missed: map[string]bool{}},
		failings: failings{unreplaced: map[string]bool{}, bare: map[string]bool{}, occupied: map[string]bool{}},
	}
	parts, why := fit.Cast(p.Scenario, p.Host)
	if why != "" {
		return nil, &fit.NotApplicable{Why: why}
	}
	r.Scenario = parts[0] // a caller that wants another one has chosen it
	r.limits, r.labels = r.Limits(), lists.Map(r.Scenario.Servers, func(s scenarios.Server) string { return s.Label })
	r.profile, r.sharing = p.Host.Profile, p.Host.Recorded().Servers
	if p.Host.Kind == record.KindDriver && slices.Contains(r.Scenario.Ops(), record.OpShare) {
		r.sharing = record.Either
	}
	r.planned = r.Scenario.Sessions()
	r.Start = cmp.Or(p.Start, p.Host.Start, record.Duration(startTimeout))
	var err error
	r.Observer, err = observe.New(r.observed())
	if err != nil {
		return nil, err
	}
	r.lives = history.New(r.ID)
	return r, nil
}

// observed says what the run has others observe.
func (r *run) observed() observe.Params {
	p := observe.Params{
		Self: r.Self, Dir: r.Dir, Lock: &r.mu, Seen: r.seen, OnExit: r.onExit, OnSignal: r.signalledFromOutside, Roles: r.roles, Left: r.left,
	}
	if r.Caller != nil { // it was there before: it may get signals from anybody, and what is below it is not the keeper's
		p.NoCgroup, p.OnSignal, p.Known = true, nil, r.launched
	}
	return p
}

// setUp makes the witnesses and writes the header.
func (r *run) setUp(ctx context.Context) error {
	var err error
	if r.program, err = os.Stat(r.Self); err != nil {
		return fmt.Errorf("%w: %w", observe.ErrProgram, err)
	}
	scripts := map[string]json.RawMessage{}
	for _, s := range r.Scenario.Servers {
		if scripts[s.Label], err = json.Marshal(s.Script); err != nil {
			return err
		}
	}
	if err := r.Open(ctx); err != nil {
		return err
	}
	r.ledger, err = ledger.Listen(ledger.Params{
		Dir: r.Tmp, Run: r.ID, Seed: r.Seed, Scripts: scripts, OnEvent: r.Emit,
		Identify: proc.Identify, WaitGone: proc.WaitGone,
		Describe: func(pid int) (record.Process, error) { return proc.NewTable().One(pid) },
	})
	if err != nil {
		return err
	}
	if r.onLedger != nil {
		r.onLedger(r.ledger)
	}
	if err := r.WriteHeader(r.header()); err != nil {
		return err
	}
	go guarded(r.watchKeeper)()
	return nil
}

// sameProgram is err, or where no server can be launched any more, that: it is then why anything failed.
func (r *run) sameProgram(err error) error {
	if r.program == nil || errors.Is(err, record.ErrWrite) || errors.As(err, new(observe.Interrupted)) {
		return err
	}
	if now, gone := os.Stat(r.Self); gone == nil && os.SameFile(r.program, now) {
		return err
	}
	return fmt.Errorf("%w: %s", observe.ErrProgram, r.Self)
}

var guarded = bug.Guarded

// watchKeeper writes down that the keeper died before its time.
func (r *run) watchKeeper() {
	<-r.Keeper.Done()
	if !r.Over() {
		r.Doubt(record.DoubtKeeperLost, "the keeper died during the run, so processes left by the host may have been missed")
	}
}

// play is the run as the scenario tells it.
func (r *run) play(ctx context.Context) error {
	ctx, cancel := r.WhileKept(ctx)
	defer cancel()
	if err := r.startHost(ctx); errors.Is(err, keeper.ErrPlace) {
		r.Doubt(record.DoubtNoPlace, "%v: the scenario was not run", err)
		return nil
	} else if errors.Is(err, errCutOff) {
		return r.stopUnlessGone(ctx)
	} else if err != nil {
		return err
	}
	if r.current().driver != nil {
		if err := r.leaveOutLists(); err != nil {
			return err
		}
		if err := fit.Unaskable(r.Scenario, r.hello); err != nil {
			return err
		}
	}
	if err := r.lookAtStart(ctx); err != nil {
		return err
	}
	stopSampling := r.sample(ctx)
	err := r.playToEnd(ctx)
	stopSampling()
	if err == nil && r.Caller == nil && r.lacksFinalCheckpoint() {
		err = r.checkpoint(ctx, scenarios.FinalCheckpoint, nil)
	}
	return err
}

// playToEnd plays the steps, and ends the host or, of a caller, its sessions.
func (r *run) playToEnd(ctx context.Context) error {
	err := r.playSteps(ctx)
	if not := r.unlisted(); err == nil && not != nil {
		return not
	}
	if errors.Is(err, errHostGone) && !r.hasLaunched() && r.livesSoFar() == 1 && r.Host.Kind != record.KindOneshot {
		err = r.launchedNothing(ctx)
	}
	// That the host is gone, or cut off, an event tells; the judge says what it means.
	if err != nil && !errors.Is(err, errHostGone) && !errors.Is(err, errCutOff) {
		return err
	}
	if r.Caller != nil {
		return r.closeAll(ctx, allClosed)
	}
	return r.stopUnlessGone(ctx)
}

func (r *run) stopUnlessGone(ctx context.Context) error {
	if r.gone() {
		return nil
	}
	return r.stopHost(ctx)
}

// hangUp ends the conversations with the host and with its servers, once they are swept.
func (r *run) hangUp(ctx context.Context) error {
	err := r.current().hangUp()
	if r.ledger != nil {
		// A swept server's death takes a moment to reach the ledger; one that
		// is still connected at its close is written down as lost.
		last, cancel := context.WithTimeout(ctx, lastDeaths)
		_ = r.wait(last, func(l *history.History) bool { return len(l.Alive()) == 0 })
		cancel()
		err = errors.Join(err, r.ledger.Close())
	}
	return err
}

// seen takes in an event that is in the file, and wakes whoever waits for one.
func (r *run) seen(e record.Event) {
	if e.Kind != record.CensusTaken || r.showsNewcomers(e.Census) {
		close(r.news)
		r.news = make(chan struct{})
	}
	r.lives.Apply(e)
	if stirs(&e) {
		select {
		case r.stir <- struct{}{}:
		default:
		}
	}
	close(r.changed)
	r.changed = make(chan struct{})
	if r.OnEvent != nil {
		r.OnEvent(e)
	}
	if s := r.lives.Server(e.Server); e.Kind == record.Died && s != nil && s.Silent() && r.KilledForMemory(s.Birth.PID) {
		r.Write(record.Event{Kind: record.Doubted, Server: e.Server, Doubt: &record.Doubt{
			Code: record.DoubtOutside,
			Text: e.Server + " may have been killed by the kernel for want of memory (oom_kill in /proc/vmstat, and /dev/kmsg)",
		}})
	}
}

// locked does something that may meet a bug: what ends the run after a panic needs the lock, too.
func (r *run) locked(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// under is what get says, likewise.
func under[T any](r *run, get func() T) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return get()
}

// wait blocks until ok, which is called under the lock, holds.
func (r *run) wait(ctx context.Context, ok func(*history.History) bool) error {
	for {
		var changed chan struct{}
		var yes bool
		r.locked(func() { changed, yes = r.changed, ok(r.lives) })
		if yes {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (r *run) alive() []history.Server {
	r.mu.Lock()
	defer r.mu.Unlock()
	var alive []history.Server
	for _, s := range r.lives.Alive() {
		alive = append(alive, *s)
	}
	return alive
}
