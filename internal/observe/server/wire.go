package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/lines"
)

const (
	// maxMessage is the longest line that is taken for a message.
	maxMessage = 64 << 20
	// writeWithin is how long a server may leave a request unread: a pipe takes 64 KiB before it does not.
	writeWithin = 10 * time.Second
)

var (
	errSilent = errors.New("there was no answer")
	errHungUp = errors.New("it closed its stdout")
)

// refusal is an error that the server answered.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string {
	return fmt.Sprintf("it answered error %d: %.200q", r.Code, r.Message)
}

// methodNotFound is what a server answers that does not have the method (JSON-RPC 2.0).
const methodNotFound = -32601

// message is any message of JSON-RPC 2.0.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *refusal        `json:"error,omitempty"`
}

// wire is the client's side of a server's stdin and stdout.
type wire struct {
	in    *os.File
	out   *os.File
	stray func(what string) // takes each line that is no message

	writing sync.Mutex    // one message at a time; a server that does not read must not keep what it writes from being read
	replies chan message  // to its requests
	over    chan struct{} // stdout has ended

	mu      sync.Mutex
	next    int
	waiting map[string]chan message
}

// mostReplies is how many answers may wait for a server that does not read its stdin: the ones after that are dropped.
const mostReplies = 100

func newWire(in, out *os.File, stray func(string)) *wire {
	w := &wire{
		in: in, out: out, stray: stray, waiting: map[string]chan message{}, over: make(chan struct{}), replies: make(chan message, mostReplies),
	}
	go w.read()
	go w.reply()
	return w
}

// read takes in stdout to its end.
func (w *wire) read() {
	defer bug.Ends()
	defer close(w.over)
	for in := lines.New(w.out, maxMessage); ; {
		line, err := in.Next()
		switch {
		case errors.Is(err, lines.ErrTooLong):
			w.stray(fmt.Sprintf("a line of more than %d MiB", maxMessage>>20))
			continue
		case errors.Is(err, os.ErrClosed): // by the bench
			return
		case err != nil:
			if len(line) > 0 {
				w.stray("a line without its end: " + quote(line))
			}
			return
		}
		w.take(line)
	}
}

// take takes in a line: a message, or a batch of them (2025-03-26).
func (w *wire) take(line []byte) {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) > 0 && trimmed[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(trimmed, &batch) == nil && len(batch) > 0 {
			for _, one := range batch {
				w.takeOne(one)
			}
			return
		}
	}
	w.takeOne(trimmed)
}

func (w *wire) takeOne(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil || m.Version != "2.0" || m.kinds() != 1 {
		w.stray(quote(line))
		return
	}
	switch {
	case m.Method != "" && len(m.ID) > 0:
		w.answer(m)
	case m.Method == "" && len(m.ID) > 0:
		w.mu.Lock()
		ch := w.waiting[string(m.ID)]
		delete(w.waiting, string(m.ID))
		w.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

// kinds counts what a message claims to be; one that is one has 1.
func (m *message) kinds() (n int) {
	for _, is := range []bool{m.Method != "", len(m.Result) > 0, m.Error != nil} {
		if is {
			n++
		}
	}
	return n
}

// answer answers a request of the server's. The bench offers nothing but to be alive.
func (w *wire) answer(m message) {
	reply := message{ID: m.ID}
	if m.Method == "ping" {
		reply.Result = json.RawMessage("{}")
	} else {
		reply.Error = &refusal{methodNotFound, "leakbench has no such method"}
	}
	select {
	case w.replies <- reply:
	default:
	}
}

// reply sends the answers to the server's requests, beside the reading.
func (w *wire) reply() {
	defer bug.Ends()
	for {
		select {
		case m := <-w.replies:
			_ = w.say(m) // one that is gone or does not read is seen by what it is asked
		case <-w.over:
			return
		}
	}
}

func (w *wire) say(m message) error {
	m.Version = "2.0"
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	w.writing.Lock()
	defer w.writing.Unlock()
	_ = w.in.SetWriteDeadline(time.Now().Add(writeWithin))
	if _, err = w.in.Write(append(line, '\n')); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it did not read its stdin for %v", writeWithin)
	}
	return err
}

// begin sends a request. What it returns waits for the answer.
func (w *wire) begin(method string, params any) (func(context.Context) (json.RawMessage, error), error) {
	ch := make(chan message, 1)
	w.mu.Lock()
	w.next++
	id := json.RawMessage(strconv.Itoa(w.next))
	w.waiting[string(id)] = ch
	w.mu.Unlock()
	if err := w.say(message{ID: id, Method: method, Params: params}); err != nil {
		return nil, err
	}
	return func(ctx context.Context) (json.RawMessage, error) {
		select {
		case m := <-ch:
			return m.outcome()
		case <-w.over:
			select { // it may have come with the end
			case m := <-ch:
				return m.outcome()
			default:
				return nil, errHungUp
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}, nil
}

func (m *message) outcome() (json.RawMessage, error) {
	if m.Error != nil {
		return nil, m.Error
	}
	return m.Result, nil
}

// ask sends a request and waits for its answer.
func (w *wire) ask(ctx context.Context, within time.Duration, method string, params any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, errSilent)
	defer cancel()
	wait, err := w.begin(method, params)
	if err != nil {
		return nil, err
	}
	return wait(ctx)
}

// hangUp closes the read end of stdout.
func (w *wire) hangUp() {
	_ = w.out.Close()
	<-w.over
}

func quote(line []byte) string {
	if len(line) == 0 {
		return "an empty line"
	}
	const most = 160
	if len(line) > most {
		return fmt.Sprintf("%q and %d bytes more", line[:most], len(line)-most)
	}
	return fmt.Sprintf("%q", line)
}
