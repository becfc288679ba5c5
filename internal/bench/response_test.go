package bench_test

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n"

// BenchmarkFirstResponse takes the time from before the start of a server to
// its answer to initialize, for all contenders in turn. -benchtime 200x.
func BenchmarkFirstResponse(b *testing.B) {
	all := contenders(b)
	times := map[string][]float64{}
	for b.Loop() {
		for _, c := range all {
			begun := time.Now()
			s := launch(b, c)
			times[c.name] = append(times[c.name], time.Since(begun).Seconds()*1e3)
			s.end()
		}
	}
	report(b, "ms", times)
}

// idle is long enough for a server to have given back what its start needed.
const idle = 300 * time.Millisecond

// BenchmarkIdleRSS takes the resident memory of a server that answered
// initialize and waits. -benchtime 20x.
func BenchmarkIdleRSS(b *testing.B) {
	all := contenders(b)
	sizes := map[string][]float64{}
	for b.Loop() {
		for _, c := range all {
			s := launch(b, c)
			time.Sleep(idle) // sleep-ok: that it did nothing for a while is what is measured
			sizes[c.name] = append(sizes[c.name], float64(rss(b, s.cmd.Process.Pid))/(1<<20))
			s.end()
		}
	}
	report(b, "MiB", sizes)
}

// served is a server that has answered initialize.
type served struct {
	b   *testing.B
	cmd *exec.Cmd
	in  io.WriteCloser
}

func launch(b *testing.B, c contender) served {
	b.Helper()
	// A server that does not answer ends with the benchmark's patience.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	b.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	require.NoError(b, err)
	out, err := cmd.StdoutPipe()
	require.NoError(b, err)
	require.NoError(b, cmd.Start())
	_, err = io.WriteString(in, initialize)
	require.NoError(b, err)
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(b, err)
	require.Contains(b, line, "protocolVersion")
	return served{b, cmd, in}
}

func (s served) end() {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func rss(b *testing.B, pid int) int64 {
	b.Helper()
	fields := strings.Fields(read(b, pid, "statm"))
	return number(b, fields[1]) * int64(os.Getpagesize())
}
