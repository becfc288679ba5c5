//go:build linux

package attach_test

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

// BenchmarkThousandChildren watches a host (this process) with 1000 children, each with pipes for stdin and stdout, for half a minute at
// one look a second. It reports how much of a processor that took between the third
// look and the 28th, and with the first and the last ones, which read more.
func BenchmarkThousandChildren(b *testing.B) {
	for range 1000 {
		cmd := exec.CommandContext(b.Context(), "cat")
		cmd.WaitDelay = time.Second
		_, err := cmd.StdinPipe()
		require.NoError(b, err)
		_, err = cmd.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, cmd.Start())
		b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}
	for b.Loop() {
		ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
		looks, oldest, steady := 0, time.Duration(0), time.Duration(0)
		before, begun, since := used(b), time.Now(), time.Time{}
		err := attach.Run(ctx, attach.Params{
			Host: proc.Self(), Add: func(record.Event) error { return nil },
			OnLook: func(l attach.Look) {
				looks++
				if looks == 3 {
					steady, since = used(b), time.Now()
				}
				if looks == 28 {
					b.ReportMetric(100*float64(used(b)-steady)/float64(time.Since(since)), "%-of-a-core")
				}
				for _, f := range l.Facts {
					if looks > 15 && !f.At.IsZero() {
						oldest = max(oldest, l.At.Sub(f.At))
					}
				}
			},
		}, 0)
		cancel()
		require.NoError(b, err)
		b.ReportMetric(100*float64(used(b)-before)/float64(time.Since(begun)), "%-with-first-and-last")
		b.ReportMetric(oldest.Seconds(), "s-oldest-fact")
		b.ReportMetric(float64(looks), "looks")
	}
}

// used is the processor time of this process.
func used(b *testing.B) time.Duration {
	var t unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &t))
	return time.Duration(t.Utime.Nano() + t.Stime.Nano())
}
