package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/stage/hostlog"
	"github.com/leakbench/leakbench/internal/subject/host"
)

// readyPause is between two looks at a host that says nothing by itself.
const readyPause = 50 * time.Millisecond

// awaitReady waits until the host says that it is up, in the way that its file tells. One that does not in time can't be tested.
func (r *run) awaitReady(ctx context.Context, ready host.Ready, lines *hostlog.Output) error {
	limited, cancel := context.WithTimeoutCause(ctx, r.Start.D(), fmt.Errorf("the host was not ready within %v", r.Start))
	defer cancel()
	defer lines.Forget()
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
func (r *run) looks(ready host.Ready, lines *hostlog.Output) func(context.Context) bool {
	switch {
	case ready.Output != "":
		word := regexp.MustCompile("(?m)" + ready.Output) // the file's reader has compiled it
		return func(context.Context) bool { return lines.Has(word) || r.stderrHas(word) }
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

var errEndedEarly = errors.New("the host ended before it was ready")

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
