package patience

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain also plays a process with some threads, for the benchmark.
func TestMain(m *testing.M) {
	if os.Getenv("LEAKBENCH_TEST_THREADS") != "" {
		for range 8 {
			go func() { // a raw read(2) that blocks takes a thread of its own
				buf := make([]byte, 1)
				_, _ = syscall.Read(0, buf)
			}()
		}
		_, _ = io.WriteString(os.Stdout, "up\n")
		select {}
	}
	os.Exit(m.Run())
}

// BenchmarkEndAfterALook is what the parent of a process pays at its end, once its threads were looked at: time of its own, not waiting.
func BenchmarkEndAfterALook(b *testing.B) {
	var spent time.Duration
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range b.N {
		cmd := exec.Command(os.Args[0])
		cmd.Env, cmd.WaitDelay = append(os.Environ(), "LEAKBENCH_TEST_THREADS=1"), time.Second
		_, err := cmd.StdinPipe()
		require.NoError(b, err)
		out, err := cmd.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, cmd.Start())
		_, err = out.Read(make([]byte, 8))
		require.NoError(b, err)
		_, _, known := schedstat(strconv.Itoa(cmd.Process.Pid))
		require.True(b, known)
		require.NoError(b, cmd.Process.Kill())
		var before, after syscall.Rusage
		require.NoError(b, syscall.Getrusage(1, &before)) // RUSAGE_THREAD, of getrusage(2)
		_, _ = syscall.Wait4(cmd.Process.Pid, nil, 0, nil)
		require.NoError(b, syscall.Getrusage(1, &after))
		spent += time.Duration(after.Stime.Nano() - before.Stime.Nano())
		_ = cmd.Process.Release()
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "µs-sys/end")
}
