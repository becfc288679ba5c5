package progress_test

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/progress"
	"github.com/leakbench/leakbench/internal/record"
)

func born(id string) record.Event {
	return record.Event{Kind: record.Born, Server: id, Birth: &record.Birth{Identity: record.Identity{PID: 7, Start: 1}, Label: "s", Launch: 1}}
}

func checkpoint(name string, quiet bool) record.Event {
	return record.Event{Kind: record.CheckpointEnded, Checkpoint: &record.Checkpoint{Name: name, Quiet: quiet, Waited: record.Duration(120 * time.Millisecond)}}
}

func TestPlainSaysEachCheckpoint(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := progress.Start(progress.Params{Out: &out, Mode: progress.Plain, Scenario: "storm", Host: "ho\x1b[31mst\u202e"})
	l.Event(born("s#1"))
	l.Event(checkpoint("up", true))
	l.Event(checkpoint("do\x1bwn", false))
	l.Stop()
	assert.Equal(t, "storm on ho?[31mst?\n"+
		"  up: 1 live, 1 spawned, as expected after 120 ms\n"+
		"  do?wn: 1 live, 1 spawned, unexpected state after 120 ms\n", out.String())
}

// blocked is a reader that does not read until it is let.
type blocked struct {
	let chan struct{}
	mu  sync.Mutex
	got bytes.Buffer
}

func (b *blocked) Write(p []byte) (int, error) {
	<-b.let
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.got.Write(p)
}

func TestRunDoesNotWaitForItsAudience(t *testing.T) {
	t.Parallel()
	out := &blocked{let: make(chan struct{})}
	l := progress.Start(progress.Params{Out: out, Mode: progress.Plain, Scenario: "storm", Host: "h"})
	for range 5000 { // returns although nothing is read
		l.Event(checkpoint("c", true))
	}
	close(out.let)
	l.Stop()
	lines := strings.Count(out.got.String(), "\n")
	assert.Greater(t, lines, 900)
	assert.Less(t, lines, 5000)
}

func TestLiveShowsAndClearsItsLine(t *testing.T) {
	t.Parallel()
	for width, bar := range map[int]string{80: "░░░░░░░░░░ 0/2", 200: "░░░░░░░░░░░░░░░░░░░░ 0/2"} {
		r, w := io.Pipe()
		l := progress.Start(progress.Params{Out: w, Mode: progress.Live, Scenario: "storm", Host: "h", Steps: 2, Width: width})
		l.Event(born("s#1"))
		l.Event(record.Event{Kind: record.StepBegun, Step: &record.Step{N: 1, Op: "open", Session: "a"}})
		var text strings.Builder
		buf := make([]byte, 4096)
		for deadline := time.Now().Add(time.Minute); !strings.Contains(text.String(), "live 1  faults 0") || !strings.Contains(text.String(), "open a"); {
			require.True(t, time.Now().Before(deadline), "%q", text.String())
			n, err := r.Read(buf)
			require.NoError(t, err)
			text.Write(buf[:n])
		}
		assert.Contains(t, text.String(), "storm on h "+bar)
		assert.Equal(t, width == 200, strings.Contains(text.String(), "(1 spawned)"))
		go func() { l.Stop(); _ = w.Close() }()
		rest, err := io.ReadAll(r)
		require.NoError(t, err)
		assert.True(t, strings.HasSuffix(string(rest), "\r\x1b[K"), "%q", rest)
	}
}
