package leaktest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/kit"
	"github.com/leakbench/leakbench/internal/lines"
)

// bench is a leakbench program that works for one test and talks as docs/use/kit-protocol.md says. It ends with its stdin, so a test
// process that is killed leaves nothing. No goroutine reads its answers: who asks does, and goleak finds nothing afterwards.
type bench struct {
	cmd     *exec.Cmd
	kill    context.CancelFunc
	errs    said // what it says to stderr
	answers *bufio.Reader
	end     func() error // ends it, and all that is left of its lab

	asking  sync.Mutex // held from a request to its answer
	writing sync.Mutex
	in      io.WriteCloser
}

// benches are the pids of those that run: children of this process that no test has left.
var benches sync.Map

const (
	// ending is how long the program may take to end what is left of a lab. Then it is killed, and its keeper ends all.
	ending  = 30 * time.Second
	mostSay = 64 << 10
)

// start starts a program that saves runs in a folder.
func start(out string) (*bench, error) {
	path, err := program()
	if err != nil {
		return nil, err
	}
	ctx, kill := context.WithCancel(context.Background())
	b := &bench{kill: kill, errs: said{lines.Head{Max: mostSay}}}
	b.cmd = exec.CommandContext(ctx, path, "lab", "--host", strconv.Itoa(os.Getpid()), "--out", out)
	b.cmd.WaitDelay, b.cmd.Stderr, b.cmd.SysProcAttr = 5*time.Second, &b.errs, apart()
	stdout, err := b.cmd.StdoutPipe()
	if err == nil {
		b.in, err = b.cmd.StdinPipe()
	}
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		kill()
		return nil, err
	}
	b.answers, b.end = bufio.NewReader(stdout), sync.OnceValue(b.wait)
	benches.Store(b.cmd.Process.Pid, nil)
	return b, nil
}

// said is what the program says to stderr. What it waits for is passed on at once.
type said struct{ lines.Head }

func (s *said) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(kit.Waiting)) {
		return os.Stderr.Write(p)
	}
	return s.Head.Write(p)
}

func (b *bench) wait() error {
	defer b.kill()
	defer benches.Delete(b.cmd.Process.Pid)
	late := time.AfterFunc(ending, b.kill)
	defer late.Stop()
	_ = b.in.Close()
	_, _ = io.Copy(io.Discard, b.answers)
	return b.cmd.Wait()
}

// close is end for a program that has answered all. What it has said beside that is for the one who reads the test's output.
func (b *bench) close() {
	if err := b.end(); err != nil {
		tell("the leakbench program: %v", err)
	}
	_, _ = os.Stderr.Write(b.errs.Bytes())
}

func (b *bench) send(r kit.Request) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	_, err = b.in.Write(append(line, '\n'))
	return err
}

// ask makes a request and returns its answer. A line before that, of a play, goes to each. When ctx ends, the program does.
func (b *bench) ask(ctx context.Context, r kit.Request, each func(kit.Answer) error) (kit.Answer, error) {
	b.asking.Lock()
	defer b.asking.Unlock()
	stop := context.AfterFunc(ctx, func() { _ = b.in.Close() })
	defer stop()
	r.ID = 1 // the one that is asked
	if err := b.send(r); err != nil {
		return kit.Answer{}, b.gone(err)
	}
	for {
		line, err := b.answers.ReadBytes('\n')
		if err != nil {
			return kit.Answer{}, b.gone(err)
		}
		var a kit.Answer
		if err := json.Unmarshal(line, &a); err != nil {
			return a, fmt.Errorf("the leakbench program answered %s: %w", lines.Quote(line), err)
		}
		if !a.Begin && a.To == nil && !a.End {
			return a, nil
		}
		if err := each(a); err != nil {
			return a, err
		}
	}
}

// gone says why a program has ended that should not have.
func (b *bench) gone(err error) error {
	if status := b.end(); status != nil {
		err = status
	}
	return fmt.Errorf("the leakbench program has ended: %w\n%s", err, bytes.TrimSpace(b.errs.Bytes()))
}

// play has a scenario played against h, which is served in this process: whatever is between begin and end of the protocol.
func (b *bench) play(ctx context.Context, r kit.Request, h driver.Handler) (kit.Answer, error) {
	var now *served
	defer func() { now.end() }()
	return b.ask(ctx, r, func(a kit.Answer) error {
		switch {
		case r.Driver != nil:
			return fmt.Errorf("the leakbench program knows no %q in %q: it is older than this package", "driver", kit.DoPlay)
		case a.Begin:
			now.end()
			now = b.serve(context.WithoutCancel(ctx), r.Name, h)
		case now == nil:
		case a.End:
			now.end()
		default:
			_, _ = now.to.Write(append(a.To, '\n')) // one that has ended does not hear it
		}
		return nil
	})
}

// served is a driver in this process.
type served struct {
	to   *io.PipeWriter
	over chan struct{}
}

func (b *bench) serve(ctx context.Context, name string, h driver.Handler) *served {
	in, to := io.Pipe()
	d := &served{to, make(chan struct{})}
	go func() {
		defer close(d.over)
		_ = driver.Serve(ctx, in, fromDriver{b}, driver.Hello{Host: name}, h) // it ends with the play
		in.Close()
	}()
	return d
}

func (d *served) end() {
	if d != nil {
		d.to.Close()
		<-d.over
	}
}

// fromDriver wraps the lines of a driver, which writes each one in one piece.
type fromDriver struct{ b *bench }

func (w fromDriver) Write(line []byte) (int, error) {
	return len(line), w.b.send(kit.Request{ID: 1, From: line})
}
