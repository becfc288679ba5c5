package keeper

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/stage/proc"
)

// process is the keeper's own side: one goroutine obeys commands, another
// reaps.
type process struct {
	conn  *net.UnixConn
	in    *fdReader
	table *proc.Table
	self  record.Identity
	group *cgroup // nil where none could be made

	out  sync.Mutex
	live sync.Mutex // guards what follows
	host record.Identity
	// others are those that are as little the host's as the keeper is: the
	// bystanders, one in the group of each host that was started, and twins.
	others map[record.Identity]standing
	leash  []*os.File // the stdins of the bystanders
	// lodge is what the host lives below, if it stays; innocent is what it has
	// started with the pid of another.
	lodge    *lodging
	innocent record.Process
	swept    bool                     // from here on the keeper itself ends what is there
	asked    map[record.Identity]bool // whom the bench has signalled while they lived

	reaped chan struct{} // a token after each reaped child; holds one
}

// NoCgroupEnv is set where runs have to do without a cgroup of their own.
const NoCgroupEnv = "LEAKBENCH_NO_CGROUP"

// Main is the keeper process. It returns its exit status.
func Main(args []string) int {
	// PDEATHSIG fires when the thread that forked the host ends (prctl(2)), so
	// the host is started from this one, which ends with the keeper.
	runtime.LockOSThread()
	flags := flag.NewFlagSet("keeper", flag.ContinueOnError)
	socket := flags.String("socket", "", "the bench's socket")
	noCgroup := flags.Bool("no-cgroup", false, "do without a cgroup")
	if flags.Parse(args) != nil || *socket == "" {
		fmt.Fprintln(os.Stderr, "leakbench keeper is started by leakbench run, not by hand")
		return 2
	}
	surviveSignals()
	if err := keep(*socket, *noCgroup); err != nil {
		fmt.Fprintln(os.Stderr, "keeper:", err)
		return 70
	}
	return 0
}

// surviveSignals catches what a terminal or an init system sends to a whole
// session: only the end of the socket ends a keeper. The signals are caught,
// not ignored, since a host would inherit an ignored one (execve(2)).
func surviveSignals() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
}

func keep(socket string, noCgroup bool) error {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil { // the bench is gone already: its folder is ours to remove
		return errors.Join(err, os.RemoveAll(filepath.Dir(socket)))
	}
	defer conn.Close()
	k := &process{
		conn: conn, in: &fdReader{conn: conn}, table: proc.NewTable(), self: proc.Self(),
		reaped: make(chan struct{}, 1), asked: map[record.Identity]bool{}, others: map[record.Identity]standing{},
	}
	hello := Hello{Identity: k.self, Census: proc.CensusName(), Weak: proc.Weak()}
	if err := proc.Adopt(); err != nil {
		hello.Weak = append(hello.Weak, fmt.Sprintf("what the host orphans does not come home to the bench (%v): a server that leaves the host's process tree is seen by the ledger alone", err))
	} else {
		hello.Subreaper = true
	}
	if noCgroup || os.Getenv(NoCgroupEnv) != "" {
		err = errors.New("not wanted")
	} else {
		k.group, err = newCgroup()
	}
	if err == nil {
		hello.Cgroup = k.group.path
	} else {
		hello.Weak = append(hello.Weak, fmt.Sprintf("the run has no cgroup of its own (%v): the last sweep finds processes by looking, and one that forks faster could outlive it", err))
	}
	// Starting the first process makes the os package fork and reap a probe
	// of its own (pidfd support); that must be over before the reaper runs.
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release()
	}
	go k.reapForEver()
	k.say(reply{Hello: &hello})
	k.obey()
	// The bench is gone or done.
	_, err = k.sweep()
	k.group.remove()
	_ = os.RemoveAll(filepath.Dir(socket))
	return err
}

func (k *process) obey() {
	lines := bufio.NewScanner(k.in)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for lines.Scan() {
		var c command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			fmt.Fprintln(os.Stderr, "keeper: not a command:", err)
			return
		}
		r := k.do(c)
		r.ID = c.ID
		k.say(r)
	}
}

func (k *process) do(c command) reply {
	switch c.Cmd {
	case cmdStart:
		host, bystander, err := k.startHost(c)
		if err != nil {
			return reply{Error: err.Error(), NoPlace: errors.Is(err, ErrPlace)}
		}
		return reply{Started: host, Bystander: bystander}
	case cmdTwin:
		twin, err := k.startTwin(c)
		if err != nil {
			return reply{Error: err.Error()}
		}
		return reply{Started: twin}
	case cmdRecycle:
		row, err := k.recycle(c)
		if err != nil {
			return reply{Error: err.Error()}
		}
		return reply{Started: row}
	case cmdSignal:
		return errReply(k.signal(c))
	case cmdCensus:
		census, err := k.census()
		if err != nil {
			return reply{Error: err.Error()}
		}
		return reply{Census: census}
	case cmdEvidence:
		return reply{Evidence: proc.Examine(c.Of)}
	case cmdSweep:
		swept, err := k.sweep()
		r := errReply(err)
		r.SweptUp = swept
		return r
	}
	return reply{Error: fmt.Sprintf("unknown command %q", c.Cmd)}
}

func errReply(err error) reply {
	if err != nil {
		return reply{Error: err.Error()}
	}
	return reply{}
}

// say writes a line. A bench that is gone is noticed by obey.
func (k *process) say(r reply) {
	line, err := json.Marshal(r)
	if err != nil {
		line, _ = json.Marshal(reply{ID: r.ID, Error: err.Error()})
	}
	k.out.Lock()
	defer k.out.Unlock()
	_, _ = k.conn.Write(append(line, '\n'))
}

func (k *process) hostIdentity() record.Identity {
	k.live.Lock()
	defer k.live.Unlock()
	return k.host
}

// standing is why a process below the keeper is none of the host's.
type standing int

const (
	isHosts     standing = iota // it is the host's
	inHostGroup                 // a bystander
	isTwin
	isLodge // what the host lives below
	isRecycled
)

// withoutOthers leaves out what is as little the host's as the keeper is.
func (k *process) withoutOthers(rows []record.Process) []record.Process {
	k.live.Lock()
	defer k.live.Unlock()
	return slices.DeleteFunc(rows, func(row record.Process) bool { return k.others[row.Identity] != isHosts })
}

// isOther says that a process is none of the host's.
func (k *process) isOther(id record.Identity) bool {
	stood, _ := k.standingOf(id)
	return stood != isHosts
}

// standingOf is what a process is, and whether the keeper ends everything now.
func (k *process) standingOf(id record.Identity) (s standing, swept bool) {
	k.live.Lock()
	defer k.live.Unlock()
	return k.others[id], k.swept
}

func (k *process) census() (*record.Census, error) {
	rows, err := k.table.Below(os.Getpid())
	if err != nil {
		return nil, err
	}
	host := k.hostIdentity()
	rows = k.withoutOthers(rows)
	census := &record.Census{Processes: make([]record.Process, 0, len(rows))}
	for _, row := range rows {
		if row.Identity == host {
			census.Host = &row
			continue
		}
		census.Processes = append(census.Processes, row)
	}
	return census, nil
}

// signal refuses what is not below the keeper: the bench owns nothing else.
func (k *process) signal(c command) error {
	sig, ok := proc.ParseSignal(c.Signal)
	if !ok || len(c.Of) != 1 {
		return fmt.Errorf("bad signal %q", c.Signal)
	}
	rows, err := k.table.Below(os.Getpid())
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Identity == c.Of[0] && row.State != record.StateZombie {
			return k.signalOne(row.Identity, sig)
		}
	}
	return errors.New("not a process of this run any more")
}

// signalOne notes the signal before it is sent, since its effect may be reaped
// before the call returns.
func (k *process) signalOne(id record.Identity, sig syscall.Signal) error {
	k.live.Lock()
	before := k.asked[id]
	k.asked[id] = true
	k.live.Unlock()
	err := proc.Signal(id, sig)
	if err != nil {
		k.live.Lock()
		k.asked[id] = before
		k.live.Unlock()
	}
	return err
}

func (k *process) wasAsked(id record.Identity) bool {
	k.live.Lock()
	defer k.live.Unlock()
	return k.asked[id]
}
