// Package ledger is both ends of the birth socket: each fake server dials it, hands in its birth certificate, and
// keeps the connection for life. Its end is the server's death, whatever the cause, so nothing is polled and no pid
// is mistaken for another. What the notes and orders mean is not known here.
package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
)

// Times a ledger waits. A dead peer never makes it wait: these are for peers that live and do not do their part.
const (
	defaultBirthWait = 10 * time.Second // for a certificate
	goneWait         = 2 * time.Second  // for a process to be gone after its connection ended
	writeWait        = 5 * time.Second  // for a peer to take a line
)

// socketName is the ledger's socket in its folder.
const socketName = "ledger.sock"

// Params say what a ledger is for.
type Params struct {
	Dir     string                     // where the socket is made; see NewDir
	Run     string                     // the token that every certificate must carry
	Scripts map[string]json.RawMessage // label -> script; other labels are refused
	Seed    uint64                     // of the run, for what a script leaves to chance

	// OnEvent gets Born, Ready, RPC, Faulted, SawEOF, SawSignal, WroteStderr, Bye, Died, Lost and Doubted events,
	// those of one server in order, from many goroutines, one at a time. Seq and T are left to the receiver. Births
	// of one label come in the order of their launch numbers. It may call Order and Cut, but neither Drain nor Close.
	OnEvent func(record.Event)
	// Identify and WaitGone are what package proc offers under these names.
	Identify func(pid int) (record.Identity, error)
	WaitGone func(context.Context, record.Identity) error
	// Describe is what the process table shows of a peer. It is asked where a
	// server's own numbers are those of another pid namespace; nil: they stay.
	Describe func(pid int) (record.Process, error)

	// BirthWait is how long a peer may take for its certificate; 0 is 10 s.
	BirthWait time.Duration
}

// Ledger is the bench's end.
type Ledger struct {
	p        Params
	listener *socket.Listener
	// complaints hears those who can't reach it; nil where there is no such way.
	complaints *socket.Listener
	ctx        context.Context
	stop       context.CancelCauseFunc
	wg         sync.WaitGroup

	// order is held while a server's words are read and reported. So the ledger reports
	// the words of all servers in the order in which they were said.
	order sync.Mutex

	// births keeps the order of launch numbers and of Born events the same.
	births   sync.Mutex
	launches map[string]int
	opens    map[string]int // how many servers of a label were asked to open a session; guarded by order
	// reserved are the launch numbers that launchers hold for their servers, by server id, with what they said of the launch.
	reserved map[string][][]byte

	mu    sync.Mutex       // guards p.Scripts, too
	peers map[string]*peer // by server id; only those connected
}

// Listen opens the birth socket in p.Dir.
func Listen(p Params) (*Ledger, error) {
	if p.OnEvent == nil || p.Identify == nil || p.WaitGone == nil {
		return nil, errors.New("ledger: OnEvent, Identify and WaitGone must be set")
	}
	if p.BirthWait == 0 {
		p.BirthWait = defaultBirthWait
	}
	path := filepath.Join(p.Dir, socketName)
	if len(path) > socket.MaxSocketPath {
		return nil, fmt.Errorf("ledger: the socket path %q has %d bytes, the system allows %d", path, len(path), socket.MaxSocketPath)
	}
	listener, err := socket.Listen(path)
	if err != nil {
		return nil, fmt.Errorf("failed to open the birth socket: %w", err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	l := &Ledger{
		p: p, listener: listener, ctx: ctx, stop: stop,
		launches: map[string]int{}, opens: map[string]int{}, reserved: map[string][][]byte{},
		peers: map[string]*peer{},
	}
	l.hear()
	l.wg.Go(l.accept)
	return l, nil
}

// Add adds a label with its script.
func (l *Ledger) Add(label string, script json.RawMessage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.p.Scripts[label] = script
}

func (l *Ledger) script(label string) (script json.RawMessage, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	script, ok = l.p.Scripts[label]
	return script, ok
}

// Path is the socket's path, for the argv of the servers.
func (l *Ledger) Path() string { return filepath.Join(l.p.Dir, socketName) }

// ErrNotConnected is what Order and Cut return for a server that is not connected: it was never born, or it is dead.
var ErrNotConnected = errors.New("not connected to the ledger")

var errClosed = errors.New(string(record.LostAtEnd))

// Order sends do to a server.
func (l *Ledger) Order(server string, do json.RawMessage) error {
	p, err := l.peer(server)
	if err != nil {
		return err
	}
	if err := p.order(birth.Order{Do: do}); err != nil {
		return fmt.Errorf("failed to send an order to %s: %w", server, err)
	}
	return nil
}

// Cut drops the connection of a server, which then is Lost, and takes the
// bench for dead. It is there to test what a run makes of it.
func (l *Ledger) Cut(server string) error {
	p, err := l.peer(server)
	if err != nil {
		return err
	}
	p.cut.Store(true)
	return p.conn.Close()
}

// Close ends all connections, and with them all servers, and returns when nothing of the ledger runs any more.
// Servers that were still connected are reported as Lost.
func (l *Ledger) Close() error {
	l.stop(errClosed)
	err := l.listener.Close()
	if l.complaints != nil {
		err = errors.Join(err, l.complaints.Close())
	}
	l.wg.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (l *Ledger) peer(server string) (*peer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.peers[server]
	if p == nil {
		return nil, fmt.Errorf("%s: %w", server, ErrNotConnected)
	}
	return p, nil
}

func (l *Ledger) accept() {
	defer bug.Ends()
	for {
		c, err := l.listener.Accept()
		switch {
		case l.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			if err == nil {
				_ = c.Close()
			}
			return
		case err == nil:
			l.wg.Go(func() {
				defer bug.Ends()
				l.serve(c)
			})
		default:
			l.doubt("", record.DoubtLedgerAccept, err.Error())
			select {
			case <-time.After(100 * time.Millisecond): // out of descriptors: that does not go away at once
			case <-l.ctx.Done():
				return
			}
		}
	}
}

func (l *Ledger) doubt(server string, code record.DoubtCode, text string) {
	l.p.OnEvent(record.Event{Kind: record.Doubted, Server: server, Doubt: &record.Doubt{Code: code, Text: clip(text)}})
}
