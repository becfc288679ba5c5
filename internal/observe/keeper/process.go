package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/console"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// process is the keeper's own side: one goroutine obeys commands, another reaps.
type process struct {
	hold

	conn  *socket.Conn
	in    *fdReader
	table *proc.Table

	out  sync.Mutex
	live sync.Mutex      // guards what follows
	host record.Identity // set by the goroutine that obeys
	// attached is a host that the keeper has not started; nil where it has.
	attached *attached
	// others are those that are as little the host's as the keeper is: the
	// bystanders, one in the group of each host that was started, and twins.
	others map[record.Identity]standing
	leash  []*os.File // the stdins of the bystanders
	// placement is what the host lives below, if it stays; recycled is what it has started with the pid of another.
	placement *placementLink
	recycled  record.Process
	swept     bool                     // from here on the keeper itself ends what is there
	asked     map[record.Identity]bool // whom the bench has signalled while they lived
	stderr    *stderrLog               // of the host; nil: nobody keeps it

	reaped chan struct{} // a token after each reaped child; holds one
}

const (
	// bugStatus is how the keeper exits that could not do its work.
	bugStatus = 70
	// lastWordsWithin is how long a keeper may take to say what it dies of.
	lastWordsWithin = time.Second
)

// NoCgroupEnv is set where runs have to do without a cgroup of their own.
const NoCgroupEnv = "LEAKBENCH_NO_CGROUP"

// Main is the keeper process. It returns its exit status.
func Main(args []string) int {
	// PDEATHSIG fires when the thread that forked the host ends (prctl(2)), so
	// the host is started from this one, which ends with the keeper.
	runtime.LockOSThread()
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "leakbench keeper is started by leakbench run, not by hand")
		return 2
	}
	// Only the end of the socket ends a keeper, not what a terminal or an init system sends to a whole session. The
	// signals are caught, not ignored, since a host would inherit an ignored one (execve(2)).
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	endure()
	if err := keep(args[0]); err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		return bugStatus
	}
	return 0
}

func keep(path string) error {
	conn, err := socket.Dial(path)
	if err != nil { // the bench is gone already: its folder is ours to remove
		return errors.Join(err, os.RemoveAll(filepath.Dir(path)))
	}
	defer conn.Close()
	k := &process{
		conn: conn, in: &fdReader{conn: conn}, table: proc.NewTable(),
		reaped: make(chan struct{}, 1), asked: map[record.Identity]bool{}, others: map[record.Identity]standing{},
	}
	bug.OnPanic(k.confess)
	defer bug.Ends() // while the bench can still be told: it kills a keeper that has hung up
	hello := Hello{proc.Self(), record.Witness{Census: proc.CensusName, Weak: proc.Weak()}}
	if err := k.contain(&hello); err != nil {
		return err
	}
	go bug.Guarded(k.reapForEver)()
	k.say(reply{Hello: &hello})
	k.obey()
	// The bench is gone or done.
	_, err = k.sweep()
	k.release()
	_ = os.RemoveAll(filepath.Dir(path))
	return err
}

// confess tells the bench of a bug of the keeper's, and ends the keeper. What is below it is left to the bench, as after a kill, since a
// sweep may meet the bug again.
func (k *process) confess(p *bug.Panic) {
	fmt.Fprintln(os.Stderr, "keeper:", p)
	_ = k.conn.SetWriteDeadline(time.Now().Add(lastWordsWithin))
	k.say(reply{Bug: p})
	os.Exit(bugStatus)
}

func (k *process) obey() {
	for in := json.NewDecoder(k.in); ; {
		var c command
		if in.Decode(&c) != nil {
			return
		}
		k.in.receive(c)
		r := k.do(c)
		r.ID = c.ID
		k.say(r)
	}
}

func (k *process) do(c command) (r reply) {
	var err error
	switch c.Cmd {
	case cmdStart:
		r.Started, r.Bystander, err = k.startHost(c.HostParams)
	case cmdTwin:
		r.Started, err = k.startTwin(c.HostParams)
	case cmdAttach:
		r.Started, err = k.attach(c.PID, c.Mark)
	case cmdRecycle:
		r.Started, err = k.recycle(c.PID)
	case cmdSignal:
		err = k.signal(c)
	case cmdCensus:
		r.Census, err = k.census(c.Of)
	case cmdEvidence:
		r.Evidence = proc.Examine(c.Of)
	case cmdSweep:
		r.SweptUp, err = k.sweep()
	default:
		err = fmt.Errorf("unknown command %q", c.Cmd)
	}
	if err != nil {
		r.Error, r.NoPlace, r.NoConsole = err.Error(), errors.Is(err, ErrPlace), errors.Is(err, console.ErrNone)
	}
	return r
}

// say writes a line. A bench that is gone is noticed by obey.
func (k *process) say(r reply) {
	k.out.Lock()
	defer k.out.Unlock()
	_ = tell(k.conn, r)
}

// startTwin starts a process that is none of the host's, and looks like one of its servers.
func (k *process) startTwin(c HostParams) (*record.Process, error) {
	if len(c.Argv) == 0 {
		return nil, errors.New("no command")
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	k.live.Lock() // until it is known to be none of the host's
	defer k.live.Unlock()
	return k.startBeside(c.Argv, &os.ProcAttr{Env: c.Env, Files: []*os.File{null, null, null}})
}

// standing is why a process below the keeper is none of the host's.
type standing int

const (
	isHosts     standing = iota // it is the host's
	inHostGroup                 // a bystander
	isTwin
	isPlacement // what the host lives below
	isRecycled
)

// tellExit tells how a process ended: nothing of one that was none of the host's, and that the keeper itself has ended.
func (k *process) tellExit(row record.Process, exit record.Exit) {
	k.live.Lock()
	stood, swept := k.others[row.Identity], k.swept
	e := Exited{
		Process: row, Exit: exit, Host: row.Identity == k.host, Asked: k.asked[row.Identity] || swept && exit.Signal == "SIGKILL",
		Bystander: stood == inHostGroup, Twin: stood == isTwin, Recycled: stood == isRecycled,
	}
	stderr := k.stderr
	k.live.Unlock()
	if e.Host && stderr != nil {
		stderr.flush() // who is told reads what it wrote last
	}
	if stood == isHosts || stood != isPlacement && !swept {
		k.say(reply{Exited: &e})
	}
}

// noteReaped wakes a sweep.
func (k *process) noteReaped() {
	select {
	case k.reaped <- struct{}{}:
	default:
	}
}

// isOther says that a process is none of the host's.
func (k *process) isOther(id record.Identity) bool {
	k.live.Lock()
	defer k.live.Unlock()
	return k.others[id] != isHosts
}

func (k *process) census(known []record.Identity) (*record.Census, error) {
	rows, err := k.rows(known...)
	if err != nil {
		return nil, err
	}
	census := &record.Census{Processes: make([]record.Process, 0, len(rows))}
	for _, row := range rows {
		switch {
		case row.Identity == k.host:
			census.Host = &row
		case !k.isOther(row.Identity):
			census.Processes = append(census.Processes, row)
		}
	}
	return census, nil
}

// signal refuses what is not below the keeper: the bench owns nothing else. A host that ended before the signal came is no
// error, since the keeper reports its exit.
func (k *process) signal(c command) error {
	send := asks(c.Signal)
	if sig, ok := proc.ParseSignal(c.Signal); ok && send == nil {
		send = func(id record.Identity) error { return proc.Signal(id, sig) }
	}
	if send == nil || len(c.Of) != 1 {
		return fmt.Errorf("bad signal %q", c.Signal)
	}
	rows, err := k.rows()
	if err != nil {
		return err
	}
	id, err := c.Of[0], proc.ErrGone
	if slices.ContainsFunc(rows, func(row record.Process) bool { return row.Identity == id && row.State != record.StateZombie }) {
		// It is noted before it is sent: its effect may be reaped before the call returns.
		before := k.setAsked(id, true)
		if err = send(id); err != nil {
			k.setAsked(id, before)
		}
	}
	if errors.Is(err, proc.ErrGone) && id == k.host {
		return nil
	}
	return err
}

func (k *process) setAsked(id record.Identity, asked bool) (before bool) {
	k.live.Lock()
	defer k.live.Unlock()
	before, k.asked[id] = k.asked[id], asked
	return before
}
