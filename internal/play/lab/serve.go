package lab

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/bug"
	"github.com/leakbench/leakbench/internal/kit"
	"github.com/leakbench/leakbench/internal/lines"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

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
		var req kit.Request
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

func (s *server) say(a kit.Answer) {
	line, err := json.Marshal(a)
	if err != nil {
		return
	}
	s.out.Lock()
	defer s.out.Unlock()
	_, _ = s.w.Write(append(line, '\n')) // one who does not hear is gone
}

// pass hands a driver's line to its play. A line for a play that has ended is late, and nobody's.
func (s *server) pass(req kit.Request) {
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

func (s *server) do(ctx context.Context, r kit.Request) (a kit.Answer) {
	var err error
	switch r.Do {
	case kit.DoServer:
		a.Argv, err = s.lab(r).Server(ctx, r.Faults...)
	case kit.DoAlive:
		a.N = s.lab(r).Alive()
	case kit.DoFlat:
		err = s.lab(r).Flat(ctx, r.N)
	case kit.DoClose:
		l := s.lab(r)
		s.mu.Lock()
		delete(s.labs, r.Name)
		s.mu.Unlock()
		err = l.Close(ctx)
	case kit.DoPlay:
		err = s.play(ctx, r)
	case kit.DoChildren:
		return s.children(r)
	default:
		err = fmt.Errorf("unknown request %q", r.Do)
	}
	var f *Failure
	if errors.As(err, &f) {
		a.Outcome, a.Text, a.Page = string(f.Outcome), f.Text, f.Page
	} else if err != nil {
		a.Error, a.OwnHost = err.Error(), errors.As(err, new(*ownHost))
	}
	return a
}

func (s *server) params(r kit.Request) Params {
	p := s.p
	p.Name, p.Out = cmp.Or(r.Name, p.Name), cmp.Or(r.Out, p.Out)
	p.Settle, p.Confirm = cmp.Or(seconds(r.Settle), p.Settle), cmp.Or(seconds(r.Confirm), p.Confirm)
	if p.Fast = p.Fast || r.Fast; p.Fast { // what was told to end has as long as ever
		p.Settle, p.Confirm = cmp.Or(p.Settle, defaultSettle), cmp.Or(p.Confirm, defaultConfirm)
	}
	return p
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

func (s *server) lab(r kit.Request) *Lab {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.labs[r.Name] == nil {
		s.labs[r.Name] = New(s.params(r))
	}
	return s.labs[r.Name]
}

// ownHost says that a scenario can't be played against a client in the asking process.
type ownHost struct{ error }

func (s *server) play(ctx context.Context, r kit.Request) error {
	scenario, err := scenarios.Builtin(r.Scenario)
	if err != nil {
		return err
	}
	p := s.params(r)
	if r.Driver != nil {
		return separate(ctx, p, scenario, *r.Driver)
	}
	if scenario, err = scenario.Inside(); err != nil {
		return &ownHost{err}
	}
	return playOne(ctx, p, scenario, inProcess(p), func() (*host.Caller, error) {
		lines, to := io.Pipe()
		s.mu.Lock()
		s.plays[r.ID] = to
		s.mu.Unlock()
		s.say(kit.Answer{ID: r.ID, Begin: true})
		return &host.Caller{PID: p.PID, Stdin: &toDriver{s: s, id: r.ID}, Stdout: lines}, nil
	})
}

// separate plays a scenario against a driver in a process of its own, below a keeper: all laws are judged.
func separate(ctx context.Context, p Params, s *scenarios.Scenario, d kit.Driver) error {
	if len(d.Argv) == 0 {
		return errors.New("the driver has no command line")
	}
	if s.Place != "" {
		return errors.New("scenario " + s.Name + " asks for a place of its own, which a test cannot have: use leakbench run")
	}
	spec := inProcess(p)
	spec.About, spec.Argv, spec.Env = "a test, in a process of its own", d.Argv, d.Env
	return playOne(ctx, p, s, spec, nil)
}

// toDriver wraps the lines for a driver. The bench writes each one in one piece.
type toDriver struct {
	s  *server
	id int64
}

func (d *toDriver) Write(line []byte) (int, error) {
	d.s.say(kit.Answer{ID: d.id, To: slices.Clone(line)})
	return len(line), nil
}

func (d *toDriver) Close() error {
	d.s.say(kit.Answer{ID: d.id, End: true})
	return nil
}

// children says what is left of them when the settle time is over.
func (s *server) children(r kit.Request) (a kit.Answer) {
	left, err := await(seconds(r.Settle), func() ([]record.Evidence, error) { return s.below(r) })
	if err != nil {
		return kit.Answer{Error: err.Error()}
	}
	for _, e := range left {
		a.Left = append(a.Left, kit.Process{PID: e.PID, Start: e.Start, PPID: e.PPID, Command: e.Args, State: string(e.State)})
	}
	if len(left) > 0 {
		a.Text = describe(left, s.p.PID, r.Launched)
	}
	return a
}

func (s *server) below(r kit.Request) ([]record.Evidence, error) {
	left, err := children(s.p.PID)
	if err == nil && r.Mark != "" {
		var orphans []record.Evidence
		if orphans, err = marked(r.Mark, left); err == nil {
			left = append(left, orphans...)
		}
	}
	return slices.DeleteFunc(left, func(e record.Evidence) bool {
		return slices.ContainsFunc(r.Known, kit.Process{PID: e.PID, Start: e.Start}.Is)
	}), err
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
