package runner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/host"
)

const (
	// readyPause is between two looks at a host that says nothing by itself.
	readyPause = 50 * time.Millisecond
	// maxOutput caps what is kept of a host's stdout, in bytes.
	maxOutput = 8 << 20
	maxLine   = 64 << 10 // of what is searched for a word of being ready
)

// output is the stdout of a host, as it was so far.
type output struct {
	mu    sync.Mutex
	lines []string // until somebody has found what he looks for
	over  bool
}

// keepOutput drains the host's stdout into a file of the run, up to a cap, and keeps its lines for whom waits for one.
func (r *run) keepOutput(stdout io.ReadCloser) *output {
	o := &output{}
	log, err := os.OpenFile(filepath.Join(r.Dir, hostOutput), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		r.doubt(record.DoubtNoOutput, "the host's stdout is not kept: %v", err)
	}
	go func() {
		defer stdout.Close()
		left := maxOutput
		in := bufio.NewReaderSize(stdout, maxLine)
		for {
			line, err := in.ReadSlice('\n')
			if n := min(len(line), left); log != nil && n > 0 {
				_, _ = log.Write(line[:n])
				left -= n
			}
			o.add(string(line))
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if log != nil {
			log.Close()
		}
	}()
	return o
}

func (o *output) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.over && len(o.lines) < 10_000 {
		o.lines = append(o.lines, line)
	}
}

func (o *output) has(word *regexp.Regexp) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, line := range o.lines {
		if word.MatchString(strings.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}

// forget ends the keeping of lines.
func (o *output) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines, o.over = nil, true
}

// awaitReady waits until the host says that it is up, in the way that its file tells. One that does not in time can't be tested.
func (r *run) awaitReady(ctx context.Context, ready host.Ready, lines *output) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.Start.D(), fmt.Errorf("it was not ready within %v", r.Start))
	defer cancel()
	defer lines.forget()
	looks := r.looks(ready, lines)
	for {
		if looks(limited) {
			return nil
		}
		if err := r.pauseUnlessGone(limited); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: %w%s", ErrHost, err, r.lastWords(ctx))
		}
	}
}

// looks is one look at what being ready means.
func (r *run) looks(ready host.Ready, lines *output) func(context.Context) bool {
	switch {
	case ready.Output != "":
		word := regexp.MustCompile("(?m)" + ready.Output) // the file's reader has compiled it
		return func(context.Context) bool { return lines.has(word) || r.stderrHas(word) }
	case ready.Server:
		return func(context.Context) bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, s := range r.lives.Servers() {
				if s.Established != history.Never {
					return true
				}
			}
			return false
		}
	}
	client := &http.Client{Timeout: r.Start.D(), Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, ready.HTTP, nil)
		if err != nil {
			return false
		}
		res, err := client.Do(req)
		if err != nil {
			return false
		}
		res.Body.Close() // whatever it says, it answers
		return true
	}
}

// stderrHas searches what the keeper has written of the host's stderr.
func (r *run) stderrHas(word *regexp.Regexp) bool {
	text, err := os.ReadFile(filepath.Join(r.Dir, HostLog))
	return err == nil && word.Match(text)
}

var errEndedEarly = errors.New("it ended before it was ready")

func (r *run) pauseUnlessGone(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, readyPause)
	defer cancel()
	err := r.wait(limited, func(*history.History) bool { return r.host.end })
	switch {
	case err == nil:
		return errEndedEarly
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}
