package host

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
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/redact"
	"github.com/leakbench/leakbench/internal/subject"
)

// readyPause is between two looks at a host that says nothing by itself.
const readyPause = 50 * time.Millisecond

// awaitReady waits until the host says that it is up, in the way that its file tells. One that does not in time can't be tested.
func (r *run) awaitReady(ctx context.Context, ready subject.Ready, lines *observe.Output) error {
	late := &observe.Late{What: "the host was not ready", Limit: r.Start}
	limited, cancel := context.WithTimeoutCause(ctx, r.Start.D(), late)
	defer cancel()
	defer lines.Forget()
	looks := r.looks(ready, lines)
	for {
		why := looks(limited)
		if why == nil {
			return nil
		}
		if err := r.pauseUnlessGone(limited); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if errors.Is(err, late) {
				err = fmt.Errorf("%w: %s", err, redact.Text(why.Error()))
			}
			return fmt.Errorf("%w: %w%s", observe.ErrHost, err, r.lastWords(ctx))
		}
	}
}

// looks is one look at what being ready means. Its error says why the host is not.
func (r *run) looks(ready subject.Ready, lines *observe.Output) func(context.Context) error {
	switch {
	case ready.Output != "":
		word := regexp.MustCompile("(?m)" + ready.Output) // the file's reader has compiled it
		not := fmt.Errorf("no line of its output matches %q", ready.Output)
		return func(context.Context) error {
			if lines.Has(word) || r.stderrHas(word) {
				return nil
			}
			return not
		}
	case ready.Server:
		return func(context.Context) error {
			r.mu.Lock()
			defer r.mu.Unlock()
			for _, s := range r.lives.Servers() {
				if s.Established != history.Never {
					return nil
				}
			}
			return errors.New("none of its servers has finished the handshake")
		}
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, ready.HTTP, nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if ctx.Err() != nil {
			return fmt.Errorf("no answer to GET %s", ready.HTTP)
		}
		if err != nil {
			return err
		}
		res.Body.Close() // whatever it says, it answers
		return nil
	}
}

// stderrHas searches what the keeper has written of the host's stderr.
func (r *run) stderrHas(word *regexp.Regexp) bool {
	text, err := os.ReadFile(filepath.Join(r.Dir, observe.HostLog))
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
