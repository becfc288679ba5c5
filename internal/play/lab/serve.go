package lab

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// What a library for another language may ask, in lines of JSON. Each request is answered once, with its ID, in any
// order. The end of the requests ends all labs, and kills what is left of them.
const (
	doServer   = "server"   // a server of the lab Name, which begins with its first one
	doFlat     = "flat"     // N servers of each
	doClose    = "close"    // the lab
	doPlay     = "play"     // Scenario against a client in the asking process
	doChildren = "children" // what is below the asking process, less Known
)

type request struct {
	ID       int64             `json:"id"`
	Do       string            `json:"do"`
	Name     string            `json:"name"`
	Out      string            `json:"out,omitempty"`    // folder for runs
	Faults   []string          `json:"faults,omitempty"` // of a server
	N        int               `json:"n,omitempty"`
	Scenario string            `json:"scenario,omitempty"`
	Settle   float64           `json:"settle,omitempty"` // seconds
	Confirm  float64           `json:"confirm,omitempty"`
	Known    []record.Identity `json:"known,omitempty"`
	Mark     string            `json:"mark,omitempty"` // children: what is in the environment of orphans: NAME=VALUE

	// A line of a driver, of the play with this ID.
	From json.RawMessage `json:"from_driver,omitempty"`
}

type answer struct {
	ID      int64             `json:"id"`
	Error   string            `json:"error,omitempty"`   // nothing was tested
	Outcome string            `json:"outcome,omitempty"` // of what has failed: "leak" or "inconclusive"
	Text    string            `json:"text,omitempty"`
	Page    string            `json:"page,omitempty"`
	Argv    []string          `json:"argv,omitempty"`
	Left    []record.Identity `json:"left,omitempty"`

	// Begin starts a driver for the play with this ID, To is a line for it, and End ends it.
	Begin bool            `json:"begin,omitempty"`
	To    json.RawMessage `json:"to_driver,omitempty"`
	End   bool            `json:"end,omitempty"`
}

type server struct {
	p   Params
	wg  sync.WaitGroup
	out sync.Mutex
	w   io.Writer

	mu    sync.Mutex
	labs  map[string]*Lab
	plays map[int64]*io.PipeWriter // the drivers' lines
}

// Serve obeys a library until its requests end.
func Serve(ctx context.Context, p Params, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &server{p: p, w: out, labs: map[string]*Lab{}, plays: map[int64]*io.PipeWriter{}}
	r := lines.New(bufio.NewReader(in), driver.MaxLine)
	var err error
	for err == nil {
		var line []byte
		line, err = r.Next()
		if len(line) == 0 {
			continue
		}
		var req request
		if bad := json.Unmarshal(line, &req); bad != nil {
			err = fmt.Errorf("a request: %w", bad)
			break
		}
		if req.From != nil {
			s.pass(req)
			continue
		}
		s.wg.Go(func() {
			defer bug.Ends()
			a := s.do(ctx, req)
			a.ID = req.ID
			s.say(a)
		})
	}
	cancel()
	s.hangUp()
	s.wg.Wait()
	for _, l := range s.labs {
		_ = l.Close(ctx) // nobody hears it
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	if errors.Is(err, lines.ErrTooLong) {
		return fmt.Errorf("a request: %w", driver.ErrLineTooLong)
	}
	return err
}

func (s *server) say(a answer) {
	line, err := json.Marshal(a)
	if err != nil {
		return
	}
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = s.w.Write(append(line, '\n')) // one who does not hear is gone
}

// pass hands a driver's line to its play. A line for a play that has ended is late, and nobody's.
func (s *server) pass(req request) {
	s.mu.Lock()
	to := s.plays[req.ID]
	s.mu.Unlock()
	if to != nil {
		_, _ = to.Write(append(req.From, '\n'))
	}
}

func (s *server) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, to := range s.plays {
		to.Close()
	}
}

func (s *server) do(ctx context.Context, r request) (a answer) {
	var err error
	switch r.Do {
	case doServer:
		a.Argv, err = s.lab(r).Server(ctx, r.Faults...)
	case doFlat:
		err = s.lab(r).Flat(ctx, r.N)
	case doClose:
		l := s.lab(r)
		s.mu.Lock()
		delete(s.labs, r.Name)
		s.mu.Unlock()
		err = l.Close(ctx)
	case doPlay:
		err = s.play(ctx, r)
	case doChildren:
		return s.children(r)
	default:
		err = fmt.Errorf("unknown request %q", r.Do)
	}
	var f *Failure
	if errors.As(err, &f) {
		a.Outcome, a.Text, a.Page = string(f.Outcome), f.Text, f.Page
	} else if err != nil {
		a.Error = err.Error()
	}
	return a
}

func (s *server) params(r request) Params {
	p := s.p
	p.Name, p.Out = cmp.Or(r.Name, p.Name), cmp.Or(r.Out, p.Out)
	p.Settle, p.Confirm = cmp.Or(seconds(r.Settle), p.Settle), cmp.Or(seconds(r.Confirm), p.Confirm)
	return p
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func (s *server) lab(r request) *Lab {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.labs[r.Name] == nil {
		s.labs[r.Name] = New(s.params(r))
	}
	return s.labs[r.Name]
}

func (s *server) play(ctx context.Context, r request) error {
	scenario, err := scenarios.Builtin(r.Scenario)
	if err != nil {
		return err
	}
	if scenario, err = scenario.Inside(); err != nil {
		return err
	}
	p := s.params(r)
	return Play(ctx, p, scenario, Host(p.Name), func() (*host.Caller, error) {
		lines, to := io.Pipe()
		s.mu.Lock()
		s.plays[r.ID] = to
		s.mu.Unlock()
		s.say(answer{ID: r.ID, Begin: true})
		return &host.Caller{PID: p.PID, Stdin: &toDriver{s: s, id: r.ID}, Stdout: lines}, nil
	})
}

// toDriver wraps the lines for a driver. The bench writes each one in one piece.
type toDriver struct {
	s  *server
	id int64
}

func (d *toDriver) Write(line []byte) (int, error) {
	d.s.say(answer{ID: d.id, To: slices.Clone(line)})
	return len(line), nil
}

func (d *toDriver) Close() error {
	d.s.say(answer{ID: d.id, End: true})
	return nil
}

// children says what is left of them when the settle time is over.
func (s *server) children(r request) (a answer) {
	left, err := Await(seconds(r.Settle), func() ([]record.Evidence, error) { return s.below(r) })
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, e := range left {
		a.Left = append(a.Left, e.Identity)
	}
	if len(left) > 0 {
		a.Text = Describe(left)
	}
	return a
}

func (s *server) below(r request) ([]record.Evidence, error) {
	left, err := Children(s.p.PID, os.Getpid())
	if err == nil && r.Mark != "" {
		var orphans []record.Evidence
		if orphans, err = marked(r.Mark, left); err == nil {
			left = append(left, orphans...)
		}
	}
	return slices.DeleteFunc(left, func(e record.Evidence) bool { return slices.Contains(r.Known, e.Identity) }), err
}

// marked are the orphans of the whole system that were started with a variable in their environment after this process
// was. Nothing else tells that they were once below another one.
func marked(mark string, besides []record.Evidence) ([]record.Evidence, error) {
	rows, err := proc.NewTable().Below(1)
	if errors.Is(err, proc.ErrGone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	self := proc.Self()
	var ids []record.Identity
	for _, p := range rows {
		known := slices.ContainsFunc(besides, func(e record.Evidence) bool { return e.Identity == p.Identity })
		if p.PPID == 1 && p.Start >= self.Start && !known && proc.HasEnv(p.Identity, mark) {
			ids = append(ids, p.Identity)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return proc.Examine(ids), nil
}
