// Package keeper starts a host and outlives it.
//
// The bench never starts a host itself: it re-executes itself as a keeper. The keeper is the child subreaper, so that whatever
// the host orphans comes home to it; it starts the host, takes the census of everything below it, reaps what comes home, and
// holds a socket to the bench. When that socket ends (the run is over, ^C, kill -9 of the bench) it kills everything below it:
// host, shells, wrappers, helpers and the parents of zombies. It knows nothing of MCP, of scenarios, or of guilt.
//
// The bench's side is Keeper, the process is Main.
package keeper

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/console"
	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	startTimeout = 20 * time.Second
	// sweepGrace is how long the keeper may take to sweep after its socket
	// ended. Killing 5000 processes takes about 2 s on two cores.
	sweepGrace = 15 * time.Second
	// answerTimeout is how long the keeper may take to answer. A census of 5000
	// processes takes 60 ms, a sweep ends after sweepDeadline.
	answerTimeout = 30 * time.Second
	// stoppedFor is for how long, at how many looks, a keeper is stopped by a signal until it is given up: it answers nothing.
	stoppedFor   = 2 * time.Second
	stoppedLooks = 4
)

// runEnv names the run in the environment of the host and of whatever inherits
// that: what comes home from a keeper that was killed is known by it.
const runEnv = "LEAKBENCH_RUN"

// ErrGone says that the keeper has died or was closed.
var ErrGone = errors.New("the keeper is gone")

// Params say how to start a keeper.
type Params struct {
	Self string // the program that runs Main when its first argument is "keeper"
	Dir  string // folder for the socket; the keeper removes it when the bench is gone
	Log  string // file for what the keeper itself says when something is wrong
	Run  string // stands in the environment of everything below the keeper, as runEnv
	// OnExit is called for each process that the keeper reaped, in order, from one goroutine.
	OnExit func(Exited)
	// Answer is how long the keeper may take to answer before it is given up and killed; 0 is 30 s.
	Answer time.Duration
	// NoCgroup has the keeper do without a cgroup of its own, as it must where none can be made.
	NoCgroup bool
}

// Keeper is the bench's side of a keeper process.
type Keeper struct {
	Hello Hello

	conn *socket.Conn
	cmd  *exec.Cmd
	log  *os.File
	p    Params

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan reply
	died    *bug.Panic // of which it has died
	done    chan struct{}
	waited  chan struct{}
}

// Start starts a keeper and waits until it is ready.
func Start(ctx context.Context, p Params) (*Keeper, error) {
	path := filepath.Join(p.Dir, "k")
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, fmt.Errorf("failed to make the keeper's socket: %w", err)
	}
	defer listener.Close()
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("failed to make the keeper's log: %w", err)
	}
	p.Answer = cmp.Or(p.Answer, answerTimeout)
	k := &Keeper{p: p, log: log, waiting: map[int64]chan reply{}, done: make(chan struct{}), waited: make(chan struct{})}
	// The keeper must outlive the bench's context: it ends when its socket does.
	k.cmd = exec.CommandContext(context.WithoutCancel(ctx), p.Self, "keeper", path)
	k.cmd.Env = os.Environ()
	if p.Run != "" {
		k.cmd.Env = append(k.cmd.Env, runEnv+"="+p.Run)
	}
	if p.NoCgroup {
		k.cmd.Env = append(k.cmd.Env, NoCgroupEnv+"=1")
	}
	k.cmd.Cancel = func() error { return k.cmd.Process.Kill() }
	k.cmd.WaitDelay = sweepGrace
	// No descendant may inherit the bench's own stdout or stderr: a survivor would hold whoever reads them.
	k.cmd.Stderr = log
	k.cmd.SysProcAttr = detached()
	if err := k.cmd.Start(); err != nil {
		log.Close()
		return nil, fmt.Errorf("failed to start the keeper: %w", err)
	}
	go func() {
		defer bug.Ends()
		_ = k.cmd.Wait()
		listener.Close() // accept waits no more
		close(k.waited)
	}()
	if err := k.accept(ctx, listener); err != nil {
		_ = k.cmd.Process.Kill()
		<-k.waited
		log.Close()
		return nil, fmt.Errorf("the keeper did not come up: %w%s", err, firstWords(p.Log))
	}
	return k, nil
}

func (k *Keeper) accept(ctx context.Context, listener *socket.Listener) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, errors.New("no word from it in time"))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { listener.Close() })
	defer stop()
	conn, err := k.acceptOwn(listener)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return errors.New("it exited at once")
	}
	k.conn = conn
	hello := make(chan reply, 1)
	k.waiting[0] = hello
	go k.read()
	select {
	case r := <-hello:
		if r.Hello == nil {
			return fmt.Errorf("%s", r.Error)
		}
		k.Hello = *r.Hello
		return nil
	case <-k.done:
		return k.Gone()
	case <-ctx.Done():
		conn.Close()
		return context.Cause(ctx)
	}
}

// acceptOwn waits for the process that was started, and hangs up on every other one.
func (k *Keeper) acceptOwn(listener *socket.Listener) (*socket.Conn, error) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil, err
		}
		pid, err := socket.PID(conn)
		if socket.Refuse(conn) == nil && (err != nil || pid == 0 || pid == k.cmd.Process.Pid) {
			return conn, nil
		}
		conn.Close()
	}
}

func (k *Keeper) read() {
	defer bug.Ends()
	defer close(k.done)
	for in := json.NewDecoder(k.conn); ; {
		var r reply
		if in.Decode(&r) != nil {
			return
		}
		if r.Exited != nil {
			if k.p.OnExit != nil {
				k.p.OnExit(*r.Exited)
			}
			continue
		}
		k.mu.Lock()
		if r.Bug != nil {
			k.died = r.Bug
			k.mu.Unlock()
			continue
		}
		ch := k.waiting[r.ID]
		delete(k.waiting, r.ID)
		k.mu.Unlock()
		if ch != nil {
			ch <- r
		}
	}
}

// ask sends a command, with the fds that ride along, and waits for its reply. A keeper that does not answer in time, or that
// a signal has stopped, is killed.
func (k *Keeper) ask(ctx context.Context, c command, fds ...*os.File) (reply, error) {
	ch := make(chan reply, 1)
	k.mu.Lock()
	k.next++
	c.ID = k.next
	k.waiting[c.ID] = ch
	_ = k.conn.SetWriteDeadline(time.Now().Add(k.p.Answer))
	err := k.send(c, fds)
	k.mu.Unlock()
	if err != nil {
		_ = k.cmd.Process.Kill()
		<-k.done // what it has said last is read
		if k.died == nil {
			return reply{}, fmt.Errorf("%w: %w", ErrGone, err)
		}
		return reply{}, k.Gone()
	}
	return k.answer(ctx, ch)
}

// answer waits for the reply to a command.
func (k *Keeper) answer(ctx context.Context, ch <-chan reply) (reply, error) {
	timer, look := time.NewTimer(k.p.Answer), time.NewTicker(stoppedFor/stoppedLooks)
	defer timer.Stop()
	defer look.Stop()
	for stopped := 0; ; {
		select {
		case r := <-ch:
			if r.NoPlace {
				return r, fmt.Errorf("%w: %s", ErrPlace, strings.TrimPrefix(r.Error, ErrPlace.Error()+": "))
			}
			if r.NoConsole {
				return r, ErrUnaskable
			}
			if r.Error != "" {
				return r, errors.New(r.Error)
			}
			return r, nil
		case <-k.done:
			return reply{}, k.Gone()
		case <-look.C:
			if row, err := proc.NewTable().One(k.cmd.Process.Pid); err != nil || row.State != record.StateStopped {
				stopped = 0
			} else if stopped++; stopped == stoppedLooks {
				return reply{}, k.giveUp("a signal had stopped it")
			}
		case <-timer.C:
			return reply{}, k.giveUp(fmt.Sprintf("it did not answer within %s", duration.Text(k.p.Answer)))
		case <-ctx.Done():
			return reply{}, context.Cause(ctx)
		}
	}
}

// giveUp kills the keeper: what was below it comes home to the bench.
func (k *Keeper) giveUp(why string) error {
	_ = k.cmd.Process.Kill()
	<-k.done
	return fmt.Errorf("%w: %s, and it was killed", ErrGone, why)
}

// HostParams say how to start the host. They go to the keeper as they are.
type HostParams struct {
	Argv   []string `json:"argv,omitempty"`
	Env    []string `json:"env,omitempty"`    // nil: the bench's own
	Dir    string   `json:"dir,omitempty"`    // "": the bench's own
	Stderr string   `json:"stderr,omitempty"` // file for its stderr, capped
	// Bystander puts a process into the host's group that is none of the host's: it runs Self with the argument
	// "bystander", is in no census, and ends with the keeper. Whoever ends it before that has taken too much. Only where CanStandBy.
	Bystander bool `json:"bystander,omitempty"`
	// Place is where it lives: "" is right below the keeper. An error may be an ErrPlace.
	Place record.Place `json:"place,omitempty"`
	// Files is how many files it may have open; 0: as many as the bench. Only where CanLimitFiles.
	Files int `json:"files,omitempty"`
}

// Host is a started host with the bench's ends of its pipes.
type Host struct {
	Process   record.Process
	Bystander *record.Process // nil: none was asked for, or none can be had here
	Stdin     *os.File
	Stdout    *os.File
}

// StartHost starts the host below the keeper, in a process group of its own. It may be started again once it has ended.
func (k *Keeper) StartHost(ctx context.Context, p HostParams) (*Host, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		inR.Close()
		inW.Close()
		return nil, err
	}
	r, err := k.ask(ctx, command{Cmd: cmdStart, HostParams: p}, inR, outW)
	inR.Close()
	outW.Close()
	if err != nil {
		inW.Close()
		outR.Close()
		return nil, err
	}
	return &Host{Process: *r.Started, Bystander: r.Bystander, Stdin: inW, Stdout: outR}, nil
}

// StartTwin starts a process that is none of the host's: in a session of its own, in no census, and ended with the
// keeper. The keeper reports its end only if it is a subreaper.
func (k *Keeper) StartTwin(ctx context.Context, argv, env []string) (record.Process, error) {
	return k.start(ctx, command{Cmd: cmdTwin, HostParams: HostParams{Argv: argv, Env: env}})
}

// Recycle has a process, which is none of the host's, of a pid that was another one's in the host's namespace; it
// leads a process group of that number. Only in record.PlaceInit.
func (k *Keeper) Recycle(ctx context.Context, pid int) (record.Process, error) {
	return k.start(ctx, command{Cmd: cmdRecycle, PID: pid})
}

func (k *Keeper) start(ctx context.Context, c command) (record.Process, error) {
	r, err := k.ask(ctx, c)
	if err != nil {
		return record.Process{}, err
	}
	return *r.Started, nil
}

// ErrUnaskable says that a process can't be asked to end, other than by the end of its stdin.
var ErrUnaskable = console.ErrNone

// Signal signals a process below the keeper, if it is still the one named. An error may be ErrUnaskable.
func (k *Keeper) Signal(ctx context.Context, id record.Identity, signal string) error {
	_, err := k.ask(ctx, command{Cmd: cmdSignal, Of: []record.Identity{id}, Signal: signal})
	return err
}

// Census returns the process table below the keeper. Of an attached host, it also has those that are known to be of the run.
func (k *Keeper) Census(ctx context.Context, known ...record.Identity) (*record.Census, error) {
	r, err := k.ask(ctx, command{Cmd: cmdCensus, Of: known})
	return r.Census, err
}

// Evidence examines processes.
func (k *Keeper) Evidence(ctx context.Context, of []record.Identity) ([]record.Evidence, error) {
	r, err := k.ask(ctx, command{Cmd: cmdEvidence, Of: of})
	return r.Evidence, err
}

// Sweep kills everything below the keeper and returns what that was. An error names what could not be killed.
func (k *Keeper) Sweep(ctx context.Context) ([]record.Process, error) {
	r, err := k.ask(ctx, command{Cmd: cmdSweep})
	return r.SweptUp, err
}

// Done is closed when the keeper is gone.
func (k *Keeper) Done() <-chan struct{} { return k.done }

// Gone is ErrGone, once the keeper is, with the bug of which it has died, if it was one.
func (k *Keeper) Gone() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.died == nil {
		return ErrGone
	}
	return fmt.Errorf("%w: %w", ErrGone, k.died)
}

// Close lets the keeper sweep and exit, and waits for that.
func (k *Keeper) Close() error {
	k.conn.Close()
	<-k.done
	defer func() { // what a keeper that was killed left of it
		killCgroup(k.Hello.Cgroup)
		_ = os.Remove(k.Hello.Cgroup)
	}()
	timer := time.NewTimer(sweepGrace)
	defer timer.Stop()
	defer k.log.Close()
	select {
	case <-k.waited:
		return nil
	case <-timer.C:
		_ = k.cmd.Process.Kill()
		<-k.waited
		return fmt.Errorf("the keeper did not finish its sweep within %s", duration.Text(sweepGrace))
	}
}

// firstWords is the first line of the keeper's log, for an error message: what follows it may be a stack.
func firstWords(path string) string {
	text, err := os.ReadFile(path)
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if err != nil || line == "" {
		return ""
	}
	return fmt.Sprintf(" (it said: %.200q)", line)
}

// TryPlace says why a host can't be put into such a place here.
func TryPlace(place record.Place) error {
	if place == "" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lb-place-")
	if err != nil {
		return err
	}
	k, err := Start(context.Background(), Params{Self: self, Dir: dir, Log: os.DevNull})
	if err != nil {
		return err
	}
	defer k.Close()
	h, err := k.StartHost(context.Background(), HostParams{Argv: []string{"cat"}, Place: place})
	if err == nil {
		h.Stdin.Close()
		h.Stdout.Close()
	}
	return err
}
