package birth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/lines"
)

// How long a newborn server waits for the bench.
const (
	dialWait    = 15 * time.Second // until the connection stands
	welcomeWait = 60 * time.Second // until the script is there
)

// ErrRefused wraps the reason for which the ledger turned a server away.
var ErrRefused = errors.New("the bench refuses this server")

// stream is a connection: an *os.File around a socket, or a net.Conn.
type stream interface {
	io.ReadWriteCloser
	SetReadDeadline(time.Time) error
}

// Conn is a server's end.
type Conn struct {
	conn   stream
	orders chan Order
	quit   chan struct{}
	once   sync.Once
	mu     sync.Mutex // one note at a time
}

// Dial hands in the certificate and waits for the Welcome. The error wraps ErrRefused where the ledger does not want this server.
func Dial(path string, c Certificate) (*Conn, Welcome, error) {
	conn, err := dial(path, time.Now().Add(dialWait))
	if err != nil {
		complain(c, path, err)
		return nil, Welcome{}, fmt.Errorf("failed to reach the bench: %w", err)
	}
	in := lines.New(conn, MaxLine)
	w, err := greet(conn, in, c)
	if err != nil {
		_ = conn.Close()
		return nil, w, err
	}
	s := &Conn{conn: conn, orders: make(chan Order), quit: make(chan struct{})}
	go s.read(in)
	return s, w, nil
}

// dial tries again while the listener's backlog is full, which a socket in
// this domain reports at once as EAGAIN instead of waiting (connect(2)).
func dial(path string, deadline time.Time) (stream, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		conn, err := connect(path)
		if err == nil || !isBacklogFull(err) || time.Now().Add(wait).After(deadline) {
			return conn, err
		}
		time.Sleep(wait) // sleep-ok: the kernel offers nothing to wait for here
	}
}

func greet(conn stream, in *lines.Reader, c Certificate) (Welcome, error) {
	var w Welcome
	line, err := EncodeLine(c)
	if err != nil {
		return w, err
	}
	if _, err := conn.Write(line); err != nil {
		return w, fmt.Errorf("failed to hand in the birth certificate: %w", err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(welcomeWait))
	if line, err = in.Next(); err != nil {
		return w, fmt.Errorf("the bench sent no welcome: %w", err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	if err := json.Unmarshal(line, &w); err != nil {
		return w, fmt.Errorf("the bench's welcome could not be read: %w", err)
	}
	if w.Error != "" {
		return w, fmt.Errorf("%w: %s", ErrRefused, w.Error)
	}
	return w, nil
}

// read hands on orders until the connection ends. A line that is no order
// ends it too: a bench that can't be understood is as good as gone.
func (c *Conn) read(in *lines.Reader) {
	defer close(c.orders)
	for {
		line, err := in.Next()
		if err != nil {
			return
		}
		var o Order
		if json.Unmarshal(line, &o) != nil {
			return
		}
		select {
		case c.orders <- o:
		case <-c.quit:
			return
		}
	}
}

// Note sends n. It returns when the bench's kernel buffer has it: it is then read even if this process dies at once.
func (c *Conn) Note(n Note) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n.At = now()
	line, err := EncodeLine(n)
	if err != nil {
		return err
	}
	_, err = c.conn.Write(line)
	return err
}

// Orders gives what the bench wants done. It is closed when the bench is gone.
func (c *Conn) Orders() <-chan Order { return c.orders }

// Close ends the connection, which to the bench is this server's death.
func (c *Conn) Close() {
	c.once.Do(func() {
		close(c.quit)
		_ = c.conn.Close()
	})
}

// EncodeLine is message as one line of JSON.
func EncodeLine(message any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(message); err != nil {
		return nil, err
	}
	if b.Len() > MaxLine {
		return nil, fmt.Errorf("a line of %d bytes is longer than %d", b.Len(), MaxLine)
	}
	return b.Bytes(), nil
}
