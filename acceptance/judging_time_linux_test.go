package acceptance_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/report"
)

// wanting is a saved run whose checkpoints want n servers more, each of a session of its own.
func wanting(t *testing.T, n int) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/runs/storm-naive.jsonl")
	require.NoError(t, err)
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		var event map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &event))
		if cp, has := event["checkpoint"].(map[string]any); has {
			wants, _ := cp["wants"].([]any)
			for i := range n {
				wants = append(wants, map[string]any{"label": "flaky", "session": fmt.Sprintf("s%d", i), "live": 1})
			}
			cp["wants"] = wants
		}
		require.NoError(t, json.NewEncoder(&out).Encode(event))
	}
	return out.Bytes()
}

// fastest is the shortest processor time of five tries: other processes take processors away, and fill their caches.
func fastest(do func()) time.Duration {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // what a collection costs depends on what else is kept
	best := time.Hour
	for range 5 {
		runtime.GC()
		begun := processorTime()
		do()
		best = min(best, processorTime()-begun)
	}
	return best
}

func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// TestWantsGrowLinearly: to judge and to render a file takes at most five times as long as to decode it, and eight times the file takes at
// most 24 times as long (a quadratic judge takes 64 times as long). A hostile file must not be a computation without an end.
func TestWantsGrowLinearly(t *testing.T) {
	tier.Only(t, tier.Slow)
	sizes := [2]int{12_500, 100_000}
	var took [2]time.Duration
	for i, n := range sizes {
		text := wanting(t, n)
		var run *record.Run
		decode := fastest(func() {
			var err error
			run, err = record.Decode(bytes.NewReader(text))
			require.NoError(t, err)
		})
		took[i] = fastest(func() {
			j := verdict.NewJudged(run, "")
			for _, r := range report.Reporters() {
				if r.Name == "text" || r.Name == "json" {
					require.NoError(t, r.Write(io.Discard, report.Subject{Runs: []verdict.Judged{j}}, report.Options{}))
				}
			}
		})
		t.Logf("%d wants: decoded in %v, judged and rendered in %v", n, decode, took[i])
		assert.LessOrEqual(t, took[i], 5*decode)
	}
	assert.LessOrEqual(t, took[1], 24*took[0])
}
