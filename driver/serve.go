package driver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/lines"
)

// Handler is a host: what it does with each request. Its methods are called concurrently, and none is called for an operation
// that is not in Hello.Ops: a host that does not have all of them can embed a Handler that is nil. A context ends when the bench
// cancels the request, when the request's time limit is over, or when Serve returns; context.Cause says which.
type Handler interface {
	// Open connects session to a new server. A connection that the session has already is superseded.
	Open(ctx context.Context, session string, s Server) error
	// Call returns what the tool returned, as JSON.
	Call(ctx context.Context, session, tool string, args map[string]any) (json.RawMessage, error)
	// Close ends a session in an orderly way.
	Close(ctx context.Context, session string) error
	// Forget drops what is held of a session without the orderly end: nobody needs it any more.
	Forget(ctx context.Context, session string) error
	// Reload moves each session to its new server.
	Reload(ctx context.Context, sessions []SessionServer) error
	// Tick runs the jobs in parallel and returns when all have ended. Run them
	// with RunJobs, so that the bench can cancel each one.
	Tick(ctx context.Context, jobs []Job) ([]JobResult, error)
	// Stop ends all sessions in an orderly way.
	Stop(ctx context.Context) error
}

// Sharer is a Handler whose sessions may share the process of a server entry, as those of a host with one list of servers do.
type Sharer interface {
	// Share connects session to s, which other sessions have, too, with the same command line: one process may serve
	// them all. A connection that the session has already is superseded.
	Share(ctx context.Context, session string, s Server) error
}

var (
	// ErrBenchGone is what Serve returns when its input ends before a stop.
	// The process should end at once: nobody is watching any more.
	ErrBenchGone = errors.New("the bench is gone: stdin has ended")
	// ErrCancelled is the cause of a context that the bench cancelled.
	ErrCancelled = errors.New("cancelled by the bench")

	errServeOver = errors.New("the driver is ending")
)

// Serve says hello on out and then serves the requests of in, each in its own goroutine. It returns nil after a stop
// was answered, ErrBenchGone at the end of in, and context.Cause(ctx) when ctx ends. It does not wait for requests
// that are still running then, since the process is about to end.
func Serve(ctx context.Context, in io.Reader, out io.Writer, hello Hello, h Handler) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errServeOver)
	if hello.Protocol == 0 {
		hello.Protocol = Protocol
	}
	if hello.Ops == nil {
		hello.Ops = opsOf(h)
	}
	hello.Ops = slices.DeleteFunc(slices.Clone(hello.Ops), func(op string) bool { return hello.NotApplicable[op] != "" })
	s := &serving{h: h, ops: hello.Ops, out: out, running: newCancels(), over: make(chan error, 1)}
	s.write(Response{Hello: &hello})
	go s.read(ctx, in)
	select {
	case err := <-s.over:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// opsOf are all operations that a handler has.
func opsOf(h Handler) []string {
	_, shares := h.(Sharer)
	return slices.DeleteFunc(slices.Clone(Ops), func(op string) bool { return op == OpShare && !shares || op == OpList && !lists(h) })
}

// serving is one run of Serve.
type serving struct {
	h       Handler
	ops     []string
	running *cancels
	over    chan error  // capacity 1: the first reason to end wins
	stopped atomic.Bool // a stop is being answered: who asked may hang up

	writing sync.Mutex
	out     io.Writer
}

func (s *serving) end(err error) {
	select {
	case s.over <- err:
	default:
	}
}

func (s *serving) read(ctx context.Context, in io.Reader) {
	r := lines.New(bufio.NewReaderSize(in, 64<<10), MaxLine)
	for {
		line, err := r.Next()
		if errors.Is(err, lines.ErrTooLong) {
			s.write(Response{Error: ErrLineTooLong.Error()})
			continue
		}
		if err != nil {
			if !s.stopped.Load() {
				s.end(ErrBenchGone)
			}
			return
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var req Request
		if err := json.Unmarshal(line, &req); err != nil {
			s.write(Response{ID: req.ID, Error: fmt.Sprintf("%s is no request: %v", lines.Quote(line), err)})
			continue
		}
		// Registered here, in the order of the lines, so that a cancel finds every request that was sent before it.
		reqCtx, done, err := s.register(ctx, req)
		if err != nil {
			s.write(Response{Error: err.Error()})
			continue
		}
		go s.serve(reqCtx, done, req)
	}
}

// register makes the context of a request, which a cancel or its time limit
// ends. A request whose answer could be taken for another's is refused.
func (s *serving) register(ctx context.Context, req Request) (context.Context, func(), error) {
	if req.ID <= 0 {
		return nil, nil, fmt.Errorf("a request needs an id greater than 0, this %q has %d", req.Op, req.ID)
	}
	ctx, done, ok := s.running.start(ctx, req.ID)
	if !ok {
		return nil, nil, fmt.Errorf("request %d is still running: its id can't be used again", req.ID)
	}
	if limit := time.Duration(req.TimeoutMS) * time.Millisecond; limit > 0 {
		limited, stop := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not done within the time limit of %s", duration.Text(limit)))
		return limited, func() { stop(); done() }, nil
	}
	return ctx, done, nil
}

func (s *serving) serve(ctx context.Context, done func(), req Request) {
	resp := Response{ID: req.ID}
	err := guard(func() error { return s.perform(ctx, req, &resp) })
	done()
	if resp.OK = err == nil; err != nil {
		resp.Error = err.Error()
		if not := (*NotPlayed)(nil); errors.As(err, &not) {
			resp.NotPlayed = not.Why
		}
	}
	if req.Op != OpStop {
		s.write(resp)
		return
	}
	s.stopped.Store(true)
	s.write(resp)
	s.end(nil)
}

// guard turns a panic into an error: one bad request must not take the whole
// host, and every other session, with it. The stack goes to the host's log.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			log.Printf("panic: %v\n%s", p, debug.Stack())
			err = fmt.Errorf("the driver panicked: %v", p)
		}
	}()
	return f()
}

func (s *serving) perform(ctx context.Context, req Request, resp *Response) (err error) {
	if req.Op != OpStop && slices.Contains(Ops, req.Op) && !slices.Contains(s.ops, req.Op) {
		return fmt.Errorf("this host does not offer %s", req.Op)
	}
	switch req.Op {
	case OpOpen, OpShare:
		return s.connect(ctx, req)
	case OpCall:
		resp.Result, err = s.h.Call(ctx, req.Session, req.Tool, req.Args)
		return err
	case OpList:
		resp.Result, err = s.list(ctx, req)
		return err
	case OpCancel:
		return s.cancel(req)
	case OpClose:
		return s.h.Close(ctx, req.Session)
	case OpForget:
		return s.h.Forget(ctx, req.Session)
	case OpReload:
		return s.h.Reload(ctx, req.Sessions)
	case OpTick:
		resp.Jobs, err = s.h.Tick(context.WithValue(ctx, cancelsKey{}, s.running), req.Jobs)
		return err
	case OpStop:
		return s.h.Stop(ctx)
	}
	return fmt.Errorf("unknown op %q", req.Op)
}

func (s *serving) connect(ctx context.Context, req Request) error {
	if req.Server == nil {
		return fmt.Errorf("%s needs a server", req.Op)
	}
	if req.Op == OpOpen {
		return s.h.Open(ctx, req.Session, *req.Server)
	}
	h, shares := s.h.(Sharer)
	if !shares {
		return errors.New("this driver has no Share")
	}
	return h.Share(ctx, req.Session, *req.Server)
}

func (s *serving) cancel(req Request) error {
	switch {
	case req.Session != "" && !s.running.cancel(req.Session):
		return fmt.Errorf("no job of session %q is running", req.Session)
	case req.Session == "" && !s.running.cancel(req.Target):
		return fmt.Errorf("request %d is not running", req.Target)
	}
	return nil
}

// write sends one line. A failed write needs no handling of its own: the
// bench at the other end is gone, and the end of the input says so as well.
func (s *serving) write(r Response) {
	line, err := json.Marshal(r)
	if err != nil {
		line, _ = json.Marshal(Response{ID: r.ID, Error: fmt.Sprintf("failed to encode the answer: %v", err)})
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	_, _ = s.out.Write(append(line, '\n'))
}
