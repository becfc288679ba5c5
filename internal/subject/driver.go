package subject

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/text"
)

// maxQueue is how many requests may wait for a driver that does not read.
const maxQueue = 1024

var (
	errClosed = errors.New("the connection to the driver is closed")
	errDeaf   = errors.New("the driver does not read its stdin: too many requests are waiting")
)

// Driver is a conversation with a host's driver. It is safe for concurrent use, and no method blocks on a driver that
// does not read or answer for longer than its context allows.
type Driver struct {
	stdin  io.WriteCloser
	stdout io.Reader
	queue  chan []byte
	quit   chan struct{} // closed by Close
	done   chan struct{} // closed when stdout has ended

	mu      sync.Mutex
	lastID  int64
	pending map[int64]chan answer
	excused map[int64]bool // failed by the bench: may be answered yet
	hello   chan answer    // capacity 1
	greeted bool
	before  string // what it printed first, before its hello
	broken  error  // what the driver wrote against the protocol, not reported yet
	ended   error  // set once done is closed

	closing sync.Once
}

type answer struct {
	resp driver.Response
	err  error
}

// Connect begins a conversation over a driver's stdout and stdin. Both are the Driver's from now on.
func Connect(stdout io.Reader, stdin io.WriteCloser) *Driver {
	d := &Driver{
		stdin: stdin, stdout: stdout, queue: make(chan []byte, maxQueue), quit: make(chan struct{}), done: make(chan struct{}),
		pending: map[int64]chan answer{}, excused: map[int64]bool{}, hello: make(chan answer, 1),
	}
	go d.write()
	go d.read()
	return d
}

// Done is closed when the driver's stdout has ended: the driver is gone, or as good as.
func (d *Driver) Done() <-chan struct{} { return d.done }

// Close ends the driver's stdin, which tells it that the bench is gone. Requests that are not answered fail.
func (d *Driver) Close() {
	d.closing.Do(func() {
		close(d.quit)
		d.stdin.Close()
		if c, ok := d.stdout.(io.Closer); ok {
			c.Close()
		}
	})
}

// Hello waits for the driver's first line. It is to be called once.
func (d *Driver) Hello(ctx context.Context) (driver.Hello, error) {
	a, err := d.await(ctx, d.hello)
	if err != nil {
		return driver.Hello{}, fmt.Errorf("no hello from the driver: %w%s", err, d.instead())
	}
	hello := tidy(*a.Hello)
	if hello.Protocol != driver.Protocol {
		return hello, fmt.Errorf("the driver speaks version %d of the driver protocol, leakbench version %d", hello.Protocol, driver.Protocol)
	}
	return hello, nil
}

// Longest texts of a driver that go on to the run file, in bytes.
const (
	maxName  = 200
	maxError = 4000
)

// tidy keeps of a hello what means something, at a sane length.
func tidy(h driver.Hello) driver.Hello {
	h.Host, h.Version = text.ClipBytes(h.Host, maxName, "..."), text.ClipBytes(h.Version, maxName, "...")
	var ops []string
	reasons := map[string]string{}
	for _, op := range driver.Ops {
		if slices.Contains(h.Ops, op) {
			ops = append(ops, op)
		}
		if why := h.NotApplicable[op]; why != "" {
			reasons[op] = text.ClipBytes(why, maxName, "...")
		}
	}
	h.Ops, h.NotApplicable = ops, reasons
	if !slices.Contains(driver.Kinds, h.Kind) {
		h.Kind = "" // of a later version, or a slip: it changes no verdict
	}
	if h.Profile != nil && h.Profile.Servers != driver.PerRequest {
		p := *h.Profile
		p.Servers, h.Profile = "", &p
	}
	return h
}

// Do sends a request, whose ID it assigns, and waits for the answer. An answer that says "failed" is no error of Do.
func (d *Driver) Do(ctx context.Context, req driver.Request) (driver.Response, error) {
	p, err := d.Begin(req)
	if err != nil {
		return driver.Response{}, err
	}
	return p.Wait(ctx)
}

// Pending is a request that was sent.
type Pending struct {
	ID int64 // what a cancel's Target names

	op     string
	d      *Driver
	answer chan answer
}

// Begin sends a request without waiting for its answer.
func (d *Driver) Begin(req driver.Request) (*Pending, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.unwell(); err != nil {
		return nil, fmt.Errorf("%s: %w", req.Op, err)
	}
	d.lastID++
	req.ID = d.lastID
	line, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("failed to encode the request: %w", err)
	}
	if len(line) > driver.MaxLine {
		return nil, fmt.Errorf("%s: the request has %d bytes, more than the %d of a line", req.Op, len(line), driver.MaxLine)
	}
	select {
	case d.queue <- append(line, '\n'):
	default:
		return nil, fmt.Errorf("%s: %w", req.Op, errDeaf)
	}
	p := &Pending{ID: req.ID, op: req.Op, d: d, answer: make(chan answer, 1)}
	d.pending[req.ID] = p.answer
	return p, nil
}

// unwell says why nothing can be asked; what a driver wrote against the protocol is said once.
func (d *Driver) unwell() error {
	select {
	case <-d.quit:
		return errClosed
	default:
	}
	if d.ended != nil {
		return d.ended
	}
	broken := d.broken
	d.broken = nil
	return broken
}

// Wait waits for the answer. The request stays sent when ctx ends first.
func (p *Pending) Wait(ctx context.Context) (driver.Response, error) {
	resp, err := p.d.await(ctx, p.answer)
	if err != nil {
		return resp, fmt.Errorf("%s: %w", p.op, err)
	}
	return resp, nil
}

func (d *Driver) await(ctx context.Context, from chan answer) (driver.Response, error) {
	select {
	case a := <-from:
		return a.resp, a.err
	default:
	}
	select {
	case a := <-from:
		return a.resp, a.err
	case <-ctx.Done():
		return driver.Response{}, context.Cause(ctx)
	case <-d.quit:
		return driver.Response{}, errClosed
	}
}

// write sends what is queued. A driver that does not read blocks this goroutine alone, until Close or the driver's end.
func (d *Driver) write() {
	for {
		select {
		case line := <-d.queue:
			if _, err := d.stdin.Write(line); err != nil {
				return // the end of stdout tells what became of the driver
			}
		case <-d.quit:
			return
		}
	}
}

func (d *Driver) read() {
	defer close(d.done)
	r := lines.New(bufio.NewReaderSize(d.stdout, 64<<10), driver.MaxLine)
	var last []byte
	for {
		line, err := r.Next()
		if errors.Is(err, lines.ErrTooLong) {
			d.fail(fmt.Errorf("the driver's stdout: %w", driver.ErrLineTooLong))
			continue
		}
		if len(bytes.TrimSpace(line)) > 0 {
			last = append(last[:0], line...)
			d.receive(line)
		}
		if err != nil {
			d.finish(last, err)
			return
		}
	}
}

// receive takes one line: the hello, the answer to a request, or nonsense.
func (d *Driver) receive(line []byte) {
	var resp driver.Response
	err := json.Unmarshal(line, &resp)
	switch {
	case err == nil && resp.Hello != nil:
		err = d.greet(resp)
	case err == nil && resp.ID == 0 && resp.Error != "":
		err = fmt.Errorf("the driver reported: %s", lines.Quote([]byte(resp.Error)))
	case err == nil:
		err = d.answered(resp, line)
	case d.prologue(line):
		err = nil
	default:
		err = fmt.Errorf("the driver wrote a line that is not an answer (its stdout is for the protocol alone, logs go to stderr): %s",
			lines.Quote(line))
	}
	if err != nil {
		d.fail(err)
	}
}

// prologue says that a line is what a library prints when it is imported, before the driver has a chance to send it elsewhere.
func (d *Driver) prologue(line []byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.greeted || json.Valid(line) || bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
		return false
	}
	if d.before == "" {
		d.before = lines.Quote(line)
	}
	return true
}

// instead is what a driver that said no hello has printed.
func (d *Driver) instead() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.before == "" || d.ended != nil { // its last line is in the error then
		return ""
	}
	return "; its stdout began with " + d.before
}

func (d *Driver) greet(resp driver.Response) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.greeted {
		return errors.New("the driver said hello twice")
	}
	d.greeted = true
	d.deliver(d.hello, answer{resp: resp})
	return nil
}

// answered delivers an answer.
func (d *Driver) answered(resp driver.Response, line []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	waiting, open := d.pending[resp.ID]
	switch {
	case open:
		delete(d.pending, resp.ID)
		d.deliver(waiting, answer{resp: presentable(resp)})
	case d.excused[resp.ID]:
		delete(d.excused, resp.ID)
	case 0 < resp.ID && resp.ID <= d.lastID:
		return fmt.Errorf("the driver answered request %d twice: %s", resp.ID, lines.Quote(line))
	default:
		return fmt.Errorf("the driver answered a request that was never made: %s", lines.Quote(line))
	}
	return nil
}

// presentable makes a refusal say something, and nothing at length.
func presentable(resp driver.Response) driver.Response {
	if !resp.OK && resp.Error == "" {
		resp.Error = "the driver says that it failed, and not why"
	}
	resp.Error = text.ClipBytes(resp.Error, maxError, "...")
	for i := range resp.Jobs {
		resp.Jobs[i].Error = text.ClipBytes(resp.Jobs[i].Error, maxError, "...")
	}
	return resp
}

func (d *Driver) deliver(to chan answer, a answer) {
	select {
	case to <- a:
	default:
	}
}

// fail fails whatever is open: nobody knows which request a line that can't be
// read was meant for. With nothing open it fails the next request.
func (d *Driver) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.pending) == 0 {
		d.broken = err
	}
	d.failAll(err)
}

func (d *Driver) failAll(err error) {
	d.deliver(d.hello, answer{err: err})
	for id, waiting := range d.pending {
		delete(d.pending, id)
		d.excused[id] = true
		d.deliver(waiting, answer{err: err})
	}
}

// finish fails everything, now and later, with the driver's last words.
func (d *Driver) finish(last []byte, cause error) {
	err := errors.New("the driver has ended: its stdout is closed")
	if !errors.Is(cause, io.EOF) {
		err = fmt.Errorf("the driver's stdout can't be read: %w", cause)
	}
	if len(last) > 0 {
		err = fmt.Errorf("%w; its last line was %s", err, lines.Quote(last))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = err
	d.failAll(err)
}
