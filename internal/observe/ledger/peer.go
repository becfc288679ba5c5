package ledger

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/redact"
)

// maxDoubts is how many doubts one peer may cause: a peer that floods the ledger has made its run inconclusive with the first.
const maxDoubts = 8

// peer is one connected server.
type peer struct {
	l       *Ledger
	conn    *socket.Conn
	in      *bufio.Reader // of lines
	lines   *lines.Reader // until it is admitted; what comes later is pulled
	id      string        // "flaky#2"
	birth   record.Birth
	blind   error // why the process could not be identified
	cut     atomic.Bool
	doubts  int
	written int // to stderr

	inbox // guarded by Ledger.order
	ahead

	writing  sync.Mutex    // guards what is written, and the two below
	welcomed bool          // the Welcome is sent
	early    []birth.Order // given before that: none may overtake it
}

func (l *Ledger) serve(c *socket.Conn) {
	defer c.Close()
	defer context.AfterFunc(l.ctx, func() { _ = c.Close() })()
	p := &peer{l: l, conn: c, in: bufio.NewReader(c), ahead: newAhead()}
	p.lines = lines.New(p.in, birth.MaxLine)
	if !p.admit() {
		return
	}
	p.listen()
	p.bury()
}

// admit reads the certificate and sends the Welcome. It reports whether the peer is a server of this run. A launcher,
// a helper and a twin are served here, to their end.
func (p *peer) admit() bool {
	pid, err := socket.PID(p.conn)
	if err != nil {
		p.doubt(record.DoubtLedgerIdentity, "the kernel does not say who connected: "+err.Error())
	}
	if why := socket.Refuse(p.conn); why != nil {
		return p.refuse(pid, why.Error())
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(p.l.p.BirthWait))
	line, err := p.lines.Next()
	if err != nil {
		p.nameless(pid, err)
		return false
	}
	_ = p.conn.SetReadDeadline(time.Time{})
	var c birth.Certificate
	if err := json.Unmarshal(line, &c); err != nil {
		return p.refuse(pid, "its first line is no certificate: "+err.Error())
	}
	if c.Role == birth.RoleMisstarted {
		return p.misstarted(pid, line)
	}
	if c.Run != p.l.p.Run {
		return p.refuse(pid, fmt.Sprintf("it belongs to run %q, this is another", clip(c.Run)))
	}
	script, ok := p.l.script(c.Label)
	if !ok {
		return p.refuse(pid, fmt.Sprintf("this run has no server %q", clip(c.Label)))
	}
	switch c.Role {
	case birth.RoleServer:
		p.identify(pid, c)
		if err := p.enter(c); err != nil {
			return p.refuse(pid, err.Error())
		}
		p.welcome(script)
		return true
	case birth.RoleLauncher:
		p.launcher(c.Label, script)
	case birth.RoleHelper, birth.RoleTwin:
		p.helper()
	default:
		return p.refuse(pid, fmt.Sprintf("it is a %q, which no run has", clip(c.Role)))
	}
	return false
}

// welcome sends the script, and the orders since the birth was reported. A failed write is a death, which the reader sees.
func (p *peer) welcome(script json.RawMessage) {
	p.writing.Lock()
	defer p.writing.Unlock()
	_ = p.sendLocked(birth.Welcome{Launch: p.birth.Launch, Seed: p.l.p.Seed, Script: script})
	for _, o := range p.early {
		_ = p.sendLocked(o)
	}
	p.welcomed, p.early = true, nil
}

func (p *peer) order(o birth.Order) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	if !p.welcomed {
		p.early = append(p.early, o)
		return nil
	}
	return p.sendLocked(o)
}

// nameless says what to make of a connection that ended, or timed out, without a certificate. A server that was
// killed in the moment between connecting and writing is none of our doubts: it is gone.
func (p *peer) nameless(pid int, err error) {
	if p.l.ctx.Err() != nil {
		return
	}
	if errors.Is(err, io.EOF) && p.goneFor(pid) {
		return
	}
	p.doubt(record.DoubtLedgerStranger, fmt.Sprintf("pid %d connected and handed in no certificate: %v", pid, err))
}

func (p *peer) goneFor(pid int) bool {
	id, err := p.l.p.Identify(pid)
	if err != nil {
		return true
	}
	ctx, cancel := context.WithTimeout(p.l.ctx, goneWait/10)
	defer cancel()
	return p.l.p.WaitGone(ctx, id) == nil
}

func (p *peer) refuse(pid int, why string) bool {
	p.doubt(record.DoubtLedgerStranger, fmt.Sprintf("pid %d was refused: %s", pid, why))
	_ = p.send(birth.Welcome{Error: why})
	return false
}

// misstarted takes down what a server was started with instead of what the bench gave. The line is its own, not yet read.
func (p *peer) misstarted(pid int, line []byte) bool {
	var m birth.Misstart
	if err := json.Unmarshal(line, &m); err != nil {
		return p.refuse(pid, "its first line is no certificate: "+err.Error())
	}
	p.doubt(record.DoubtServerArguments, fmt.Sprintf(
		"pid %d is a server that can't read its arguments (%s): it got %s, and leakbench gave fakeserver --ledger ... --run ... --label ...",
		pid, clip(redact.Text(m.Error)), clip(strings.Trim(fmt.Sprintf("%q", redact.Args(m.Args)), "[]"))))
	_ = p.send(birth.Welcome{Error: m.Error})
	return false
}

// identify fills the birth from the certificate and from what the kernel says, which wins.
func (p *peer) identify(pid int, c birth.Certificate) {
	p.birth = record.Birth{
		PPID: c.PPID, PGID: c.PGID, SID: c.SID,
		Label: c.Label, Session: clip(c.Session), DeathSignal: c.DeathSignal,
	}
	switch {
	case socket.Attested == "none":
		pid = c.PID
	case pid != c.PID:
		p.birth.Claimed = c.PID
	}
	id, err := p.l.p.Identify(pid)
	if err != nil {
		// Either it was killed meanwhile, which its first note would disprove, or it can't be seen from here.
		p.blind = err
		id = record.Identity{PID: pid}
	}
	p.birth.Identity = id
	if p.birth.Claimed != 0 && p.l.p.Describe != nil {
		if row, err := p.l.p.Describe(pid); err == nil && row.Identity == id {
			p.birth.PPID, p.birth.PGID, p.birth.SID = row.PPID, row.PGID, row.SID
		}
	}
}

// enter gives the server its launch number, a new one or the one that its launcher was given, and tells of its birth.
func (p *peer) enter(c birth.Certificate) error {
	l := p.l
	l.order.Lock()
	defer l.order.Unlock()
	l.drain()
	l.births.Lock()
	defer l.births.Unlock()
	if p.birth.Launch = c.Launch; c.Launch == 0 {
		p.birth.Launch = l.nextLaunch(c.Label)
	}
	p.id = serverID(c.Label, p.birth.Launch)
	announced, reserved := l.reserved[p.id]
	if c.Launch != 0 {
		if !reserved {
			return fmt.Errorf("no launcher was given launch %d of %q, or its server is born already", c.Launch, clip(c.Label))
		}
		delete(l.reserved, p.id)
	}
	l.mu.Lock()
	l.peers[p.id] = p
	l.mu.Unlock()
	born := p.birth
	l.p.OnEvent(record.Event{Kind: record.Born, Server: p.id, Birth: &born})
	for _, line := range announced { // the faults of the launch are the server's, and are committed before it is born
		p.take(line)
	}
	early, _ := p.in.Peek(p.in.Buffered())
	p.feed(early)
	flush([]*peer{p})
	return nil
}

// nextLaunch is for who holds births.
func (l *Ledger) nextLaunch(label string) int {
	l.launches[label]++
	return l.launches[label]
}

func serverID(label string, launch int) string { return label + "#" + strconv.Itoa(launch) }

// bury tells how the connection ended, if nobody has yet.
func (p *peer) bury() {
	l := p.l
	l.forget(p)
	why := record.LossReason("")
	switch {
	case p.cut.Load():
		why = record.LostByCut
	case l.ctx.Err() != nil:
		why = record.LostAtEnd
	default:
		if err := p.waitGone(goneWait); err != nil {
			why = clip(record.LostUnseen + record.LossReason(fmt.Sprintf("pid %d was not seen to end: %v", p.birth.PID, err)))
		}
	}
	l.order.Lock()
	defer l.order.Unlock()
	l.drain()
	p.tellEnd(why)
}

// waitGone waits until the process is gone; one that could not be identified is taken for gone.
func (p *peer) waitGone(most time.Duration) error {
	if p.blind != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.l.ctx, most)
	defer cancel()
	return p.l.p.WaitGone(ctx, p.birth.Identity)
}

// tellEnd is for who holds order. why is the reason for which the peer is lost and not dead.
func (p *peer) tellEnd(why record.LossReason) {
	switch {
	case p.told:
		return
	case why != "":
		p.l.p.OnEvent(record.Event{Kind: record.Lost, Server: p.id, Text: string(why)})
	default:
		p.l.p.OnEvent(record.Event{Kind: record.Died, Server: p.id})
	}
	p.told = true
}

func (p *peer) send(message any) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	return p.sendLocked(message)
}

func (p *peer) sendLocked(message any) error {
	line, err := birth.EncodeLine(message)
	if err != nil {
		return err
	}
	_ = p.conn.SetWriteDeadline(time.Now().Add(writeWait))
	_, err = p.conn.Write(line)
	return err
}

func (p *peer) doubt(code record.DoubtCode, text string) {
	p.doubts++
	if p.doubts <= maxDoubts {
		p.l.doubt(p.id, code, text)
	}
}
