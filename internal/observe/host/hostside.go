package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

// startTimeout is how long a host may take to come up where the user does not
// say so: births behind a package runner can come seconds late.
const startTimeout = 15 * time.Second

var errHostGone = errors.New("the host has exited")

// script is that of a label's server.
func (r *run) script(label string) fakeserver.Script {
	i := slices.IndexFunc(r.Scenario.Servers, func(s scenarios.Server) bool { return s.Label == label })
	return r.Scenario.Servers[i].Script
}

// server is how the host launches a label for a session.
func (r *run) server(label, session string) driver.Server {
	argv := r.script(label).Argv(r.Self, r.ledger.Path(), r.ID, label, session)
	return driver.Server{Name: label, Command: argv[0], Args: argv[1:]}
}

// files is how many files the host may have open, where the scenario limits that and the system can.
func (r *run) files() int {
	if r.limits.NoFile > 0 && !keeper.CanLimitFiles {
		r.Doubt(record.DoubtNoLimit, "the host's open files could not be limited to %d on this system", r.limits.NoFile)
		return 0
	}
	return r.limits.NoFile
}

// prepare fills in what only the run knows: the servers, a port, a folder.
func (r *run) prepare() (subject.Prepared, error) {
	setting := subject.Setting{Self: r.Self, Again: r.livesSoFar() > 0, Tmp: ledger.HostDir(r.Tmp)}
	if !r.Host.Kind.Driven() {
		for _, label := range r.labels {
			setting.Servers = append(setting.Servers, r.server(label, ""))
		}
	}
	if r.Host.File != "" {
		dir, err := filepath.Abs(filepath.Join(r.Dir, hostDir))
		if err != nil {
			return subject.Prepared{}, err
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return subject.Prepared{}, err
		}
		setting.Run = dir
	}
	if r.Host.Kind == record.KindOneshot {
		return r.scheduler(setting)
	}
	p, err := r.Host.Prepare(setting)
	if err != nil {
		return p, fmt.Errorf("%w: %w", observe.ErrHost, err)
	}
	return p, nil
}

// scheduler is the process that runs a oneshot host's command for each job.
func (r *run) scheduler(s subject.Setting) (subject.Prepared, error) {
	params, err := json.Marshal(subject.OneshotParams{Host: r.Host, Self: r.Self, Run: s.Run, Tmp: s.Tmp})
	return subject.Prepared{
		Argv: []string{r.Self, "host", "oneshot"}, Env: []string{subject.OneshotEnv + "=" + string(params)},
	}, err
}

// startHost starts the host and waits until it is up, in the way of its kind.
func (r *run) startHost(ctx context.Context) error {
	if r.Caller != nil {
		return r.attach(ctx)
	}
	p, err := r.prepare()
	if err != nil {
		return err
	}
	started, err := r.launchHost(ctx, p)
	if err != nil {
		return err
	}
	if r.Host.Kind.Driven() {
		return r.greet(ctx, started.Stdout, started.Stdin)
	}
	// The stdin of a host that is not driven by it stays open, as a terminal's would.
	r.current().stdin = started.Stdin
	go guarded(func() { <-r.Keeper.Done(); started.Stdin.Close() })()
	lines, err := observe.KeepOutput(started.Stdout, filepath.Join(r.Dir, hostOutput))
	if err != nil {
		r.Doubt(record.DoubtNoOutput, "the host's stdout could not be kept: %v", err)
	}
	if r.Host.Kind == record.KindGateway {
		return r.startGateway(ctx, p, lines)
	}
	if p.Ready.HTTP != "" || p.Ready.Output != "" {
		if err := r.awaitReady(ctx, p.Ready, lines); err != nil {
			return err
		}
	}
	return r.awaitServers(ctx)
}

func (r *run) launchHost(ctx context.Context, p subject.Prepared) (*keeper.Host, error) {
	var env []string
	if len(p.Env) > 0 {
		env = append(os.Environ(), p.Env...)
	}
	h := &hostLife{}
	r.locked(func() { r.host = h })
	started, err := r.Keeper.StartHost(ctx, keeper.HostParams{
		Argv: p.Argv, Env: env, Dir: p.Workdir, Stderr: filepath.Join(r.Dir, observe.HostLog),
		Bystander: keeper.CanStandBy, Files: r.files(), Place: r.Scenario.Place,
	})
	if err != nil {
		if errors.Is(err, keeper.ErrGone) || errors.Is(err, keeper.ErrPlace) || ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", observe.ErrHost, err)
	}
	started.Process.Args = redact.Args(p.Argv)
	r.Emit(record.Event{Kind: record.HostStarted, Process: &started.Process})
	r.mu.Lock()
	h.id = started.Process.Identity
	early := h.early
	r.mu.Unlock()
	if early != nil {
		r.onExit(*early)
	}
	if started.Bystander != nil {
		r.Emit(record.Event{Kind: record.BystanderSeen, Process: started.Bystander})
	} else if keeper.CanStandBy {
		r.Doubt(record.DoubtNoBystander,
			"no bystander could be put into the host's process group, so it is unknown whether the host signals others in its group")
	}
	return started, nil
}

// awaitServers waits until a command host is up: it sends no hello, its servers tell, each of them. One that has ended,
// or that keeps its handshake waiting, is not waited for.
func (r *run) awaitServers(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.Start.D(), errTooSlow)
	defer cancel()
	err := r.wait(limited, func(l *history.History) bool {
		return r.host.end || isShutOut(l) || r.allLabels(l, func(s *history.Server) bool {
			return established(s) || s.Broken != history.Never || s.Died != history.Never || s.KeepsWaiting()
		})
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := r.shutOut(); err != nil {
		return err
	}
	if !r.hasLaunched() {
		return r.launchedNothing(ctx)
	}
	if err == nil && !r.gone() {
		brief, cancel := context.WithTimeout(ctx, takenMoment)
		defer cancel()
		_ = r.wait(brief, func(l *history.History) bool {
			return r.host.end || r.allLabels(l, func(s *history.Server) bool { return !established(s) || working(s) })
		})
		r.Emit(record.Event{Kind: record.HostReady, Hello: &record.Hello{Host: r.Host.Name}})
	}
	return nil
}

// launchedNothing is the error of a host that can't be tested.
func (r *run) launchedNothing(ctx context.Context) error {
	if r.gone() {
		return fmt.Errorf("%w: it ended before it launched a server%s", observe.ErrHost, r.lastWords(ctx))
	}
	late := &observe.Late{What: "the host launched no server", Limit: r.Start}
	return fmt.Errorf("%w: %w%s", observe.ErrHost, late, r.lastWords(ctx))
}

// allLabels says that each label that must be launched has a server of the host's present life that is so.
func (r *run) allLabels(l *history.History, is func(*history.Server) bool) bool {
	return !slices.ContainsFunc(r.Scenario.Servers, func(v scenarios.Server) bool {
		return !v.Optional && !slices.ContainsFunc(l.Servers(), func(s *history.Server) bool {
			return s.Label == v.Label && s.Life == len(l.Hosts()) && is(s)
		})
	})
}

// hasLaunched says that the host's present life has launched a server.
func (r *run) hasLaunched() bool {
	return under(r, func() bool {
		return slices.ContainsFunc(r.lives.Servers(), func(s *history.Server) bool { return s.Life == len(r.lives.Hosts()) })
	})
}

// greet waits for the driver's hello.
func (r *run) greet(ctx context.Context, stdout io.Reader, stdin io.WriteCloser) error {
	d := subject.Connect(stdout, stdin)
	h := r.current()
	r.locked(func() { h.driver = d })
	ctx, cancel := context.WithTimeoutCause(ctx, r.Start.D(), &observe.Late{What: "no hello", Limit: r.Start})
	defer cancel()
	hello, err := d.Hello(ctx)
	if err != nil {
		var stop observe.Interrupted
		if errors.As(err, &stop) {
			return err
		}
		return fmt.Errorf("%w: %w%s", observe.ErrHost, err, r.lastWords(ctx))
	}
	said := record.Hello{
		Host: hello.Host, Version: hello.Version, Ops: hello.Ops, NotApplicable: hello.NotApplicable, Kind: record.Duty(hello.Kind),
	}
	if r.livesSoFar() > 1 { // it has said already what it is, and others read that now
		r.Emit(record.Event{Kind: record.HostReady, Hello: &said})
		return nil
	}
	r.hello = said
	if hello.Profile != nil {
		if profile := fit.Declared(r.Host.Profile, *hello.Profile); profile != r.Host.Profile {
			r.limits, r.profile = fit.Limits(r.Scenario, r.Host, profile, r.wish()), profile
			r.hello.Profile, r.hello.Limits = &profile, &r.limits
			r.sharing = cmp.Or(r.sharing, profile.Servers)
		}
	}
	r.Emit(record.Event{Kind: record.HostReady, Hello: &r.hello})
	return nil
}

// onExit writes down what the keeper reaped.
func (r *run) onExit(e keeper.Exited) {
	if e.Bystander || e.Twin || e.Recycled {
		r.bystanderEnded(e)
		return
	}
	kind := record.Reaped
	if e.Host {
		r.ledger.Drain()
	}
	r.mu.Lock()
	if e.Host && r.host.id.PID == 0 { // its start is not written down yet
		r.host.early = &e
		r.mu.Unlock()
		return
	}
	if h := r.host; e.Host || (h.id.PID != 0 && e.Identity == h.id) {
		kind = record.HostExited
		e.Exit.Asked = e.Asked || h.asked
		h.end, h.exit = true, e.Exit
	}
	r.mu.Unlock()
	words := ""
	if kind == record.HostExited && !e.Exit.Asked {
		words = observe.LogTail(filepath.Join(r.Dir, observe.HostLog))
	}
	r.Emit(record.Event{Kind: kind, Process: &e.Process, Exit: &e.Exit, Text: words})
}

// gone says that the host was reaped.
func (r *run) gone() bool { return under(r, func() bool { return r.host.end }) }

// noSignals says that this system is Windows, where only CTRL_C asks.
const noSignals = proc.Asks != "SIGTERM"

// stopHost ends the host in the orderly way of its kind and waits for that.
func (r *run) stopHost(ctx context.Context) error {
	stop := r.Host.Stop
	switch {
	case r.Host.Kind.Driven(), stop.EOF && stop.Signal == "":
		return r.endHost(ctx, record.OpStop, "", 0)
	case stop.Signal == "" || stop.Signal == "SIGTERM":
		return r.endHost(ctx, record.OpTerm, proc.Asks, 0)
	case stop.Signal == "SIGINT" && noSignals:
		return r.endHost(ctx, record.OpStop, proc.Asks, 0)
	}
	return r.endHost(ctx, record.OpStop, stop.Signal, 0)
}

// errUnasked says that the host could not be asked to end, and was not ended in another way either: what a step that can't be played would
// have shown stays unknown.
var errUnasked = errors.New("the host could not be asked to end")

// endHost asks the host to end, by a signal or, where that is "", by the driver's stop, and waits as long as the limit allows, or
// for the grace where there is one. A host that does not end is killed: the run goes on, and the file says so.
func (r *run) endHost(ctx context.Context, op record.Op, signal string, grace record.Duration) error {
	h := r.current()
	how := r.farewell(h, op, signal)
	step := r.begin(record.Step{Op: how.op, Detail: how.detail(), Grace: grace})
	limit := cmp.Or(grace, r.limits.Stop)
	begun := time.Now()
	limited, cancel := context.WithTimeoutCause(ctx, limit.D(), errTooSlow)
	defer cancel()
	err := r.bid(limited, h, how)
	switch {
	case errors.Is(err, keeper.ErrUnaskable):
		r.skipBegun(step, err.Error())
		r.Doubt(record.DoubtNotAskable, "the host could not be asked to end: %v", err)
		return errUnasked
	case how.signal != "" && err != nil && limited.Err() == nil && !r.gone(): // that is no fault of the host
		r.end(step, begun, err)
		return fmt.Errorf("failed to send %s to the host: %w", how.signal, err)
	case err == nil:
		err = r.wait(limited, func(*history.History) bool { return h.end })
	}
	switch {
	case err == nil || r.gone():
		r.end(step, begun, nil)
		return nil
	case ctx.Err() != nil:
		r.end(step, begun, context.Cause(ctx))
		return context.Cause(ctx)
	}
	return r.killHost(ctx, step, begun, fmt.Errorf("the host did not end within %v and was killed", limit))
}

// farewell is how the host is asked to end: over its stdin, by a signal, or else by the driver's stop.
type farewell struct {
	op     record.Op
	signal string
	stdin  io.Closer // nil: it stays open
}

func (r *run) farewell(h *hostLife, op record.Op, signal string) farewell {
	if op == record.OpTerm && r.Host.Kind.Driven() && noSignals { // it is asked over its driver instead
		op, signal = record.OpStop, ""
	}
	how := farewell{op: op, signal: signal}
	if r.Host.Stop.EOF && op != record.OpKill {
		how.stdin = h.stdin
	}
	return how
}

func (f farewell) detail() string {
	switch {
	case f.stdin == nil:
		return f.signal
	case f.signal == "":
		return record.DetailEOF
	}
	return record.DetailEOF + " and " + f.signal
}

// bid asks the host to end.
func (r *run) bid(ctx context.Context, h *hostLife, f farewell) error {
	r.mu.Lock()
	h.asked = h.asked || f.signal == "" || f.stdin != nil // of a signal alone the keeper knows whether it came in time
	id := h.id
	r.mu.Unlock()
	if f.stdin != nil {
		f.stdin.Close()
	}
	switch {
	case f.signal != "":
		return r.Keeper.Signal(ctx, id, f.signal)
	case r.Host.Kind.Driven():
		return r.askStop(ctx)
	}
	return nil
}

// killHost ends a host that did not end when it was asked to.
func (r *run) killHost(ctx context.Context, step record.Step, begun time.Time, why error) error {
	r.end(step, begun, why)
	h := r.current()
	if err := r.Keeper.Signal(ctx, h.id, "SIGKILL"); err != nil && !r.gone() {
		return err
	}
	return r.wait(ctx, func(*history.History) bool { return h.end })
}

var errTooSlow = errors.New("not within the limit")

// askStop asks the driver to stop. A driver that exits without an answer has stopped as well.
func (r *run) askStop(ctx context.Context) error {
	resp, err := r.current().driver.Do(ctx, driver.Request{Op: driver.OpStop, TimeoutMS: r.limits.Stop.D().Milliseconds()})
	if err == nil && !resp.OK {
		return errors.New(resp.Error)
	}
	return context.Cause(ctx)
}

// lastWords says how a host that did not come up ended, where it did, and the end of what it wrote to stderr.
func (r *run) lastWords(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	words := ""
	if h := r.current(); r.wait(ctx, func(*history.History) bool { return h.end }) == nil {
		words = fmt.Sprintf("; it exited with %d", h.exit.Code)
		if h.exit.Signal != "" {
			words = "; it was ended by " + h.exit.Signal
		}
	}
	if tail := observe.LogTail(filepath.Join(r.Dir, observe.HostLog)); tail != "" {
		words += record.StderrFollows + tail
	}
	return words
}
