//go:build linux

package bench_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sort"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/record"
)

// BenchmarkDeaths1000 kills a thousand servers at once and takes the time from
// each one's kill(2) to its death on the ledger. Beside it stands the time to
// the moment at which the kernel itself says that the process has ended (its
// pidfd becomes readable): what lies between the two is the ledger's own, what
// lies before it is the work of taking a thousand processes down. -benchtime 3x.
func BenchmarkDeaths1000(b *testing.B) {
	const n = 1000
	var died, kernel, lag, loop []float64
	for b.Loop() {
		m := massKill(b, n)
		loop = append(loop, m.loop)
		died, kernel, lag = append(died, m.died...), append(kernel, m.kernel...), append(lag, m.lag...)
	}
	for name, values := range map[string][]float64{"died": died, "kernel": kernel, "lag": lag} {
		sort.Float64s(values)
		b.ReportMetric(values[len(values)/2], name+"-p50-ms")
		b.ReportMetric(values[len(values)*99/100], name+"-p99-ms")
		b.ReportMetric(values[len(values)-1], name+"-max-ms")
	}
	b.ReportMetric(median(loop), "killing-ms")
	b.ReportMetric(0, "ns/op")
}

// measured is one mass death, in milliseconds.
type measured struct {
	died, kernel, lag []float64
	loop              float64 // how long the killing itself took
}

func massKill(b *testing.B, n int) measured {
	b.Helper()
	w := newWard(b, n)
	defer w.close()
	begun := time.Now()
	killed := make([]time.Time, n)
	for i, c := range w.cmds {
		killed[i] = time.Now()
		_ = syscall.Kill(c.Process.Pid, syscall.SIGKILL)
	}
	m := measured{loop: ms(time.Since(begun))}
	for range n {
		<-w.gone
	}
	ended := w.watched()
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, c := range w.cmds {
		pid := c.Process.Pid
		m.died = append(m.died, ms(w.died[pid].Sub(killed[i])))
		m.kernel = append(m.kernel, ms(ended[pid].Sub(killed[i])))
		m.lag = append(m.lag, ms(w.died[pid].Sub(ended[pid])))
	}
	return m
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// ward is a ledger with many ready servers.
type ward struct {
	b      *testing.B
	dir    string
	ledger *ledger.Ledger
	cmds   []*exec.Cmd
	stdins []io.Closer
	ready  chan struct{}
	gone   chan struct{}
	ended  chan map[int]time.Time

	mu   sync.Mutex
	pids map[string]int
	died map[int]time.Time
}

func newWard(b *testing.B, n int) *ward {
	b.Helper()
	dir, err := ledger.NewDir()
	require.NoError(b, err)
	w := &ward{
		b: b, dir: dir, pids: map[string]int{}, died: map[int]time.Time{},
		ready: make(chan struct{}, n), gone: make(chan struct{}, n), ended: make(chan map[int]time.Time, 1),
	}
	w.ledger, err = ledger.Listen(ledger.Params{
		Dir: dir, Run: "r", Scripts: map[string]json.RawMessage{"s": nil},
		Identify: identify, WaitGone: waitGone, OnEvent: w.see,
	})
	require.NoError(b, err)
	self, err := os.Executable()
	require.NoError(b, err)
	argv := fakeserver.Argv(self, w.ledger.Path(), "r", "s", "")
	for range n {
		w.start(argv)
		<-w.ready
	}
	w.watch()
	return w
}

func (w *ward) start(argv []string) {
	cmd := exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	require.NoError(w.b, err)
	require.NoError(w.b, cmd.Start())
	w.cmds, w.stdins = append(w.cmds, cmd), append(w.stdins, in)
}

func (w *ward) see(e record.Event) {
	now := time.Now()
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case record.Born:
		w.pids[e.Server] = e.Birth.PID
	case record.Ready:
		w.ready <- struct{}{}
	case record.Died, record.Lost:
		w.died[w.pids[e.Server]] = now
		w.gone <- struct{}{}
	}
}

// watch notes when the kernel says that each process has ended.
func (w *ward) watch() {
	set, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	require.NoError(w.b, err)
	pids := map[int32]int{}
	for _, c := range w.cmds {
		fd, err := unix.PidfdOpen(c.Process.Pid, 0)
		require.NoError(w.b, err)
		pids[int32(fd)] = c.Process.Pid
		require.NoError(w.b, unix.EpollCtl(set, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}))
	}
	go func() {
		ended := map[int]time.Time{}
		events := make([]unix.EpollEvent, 64)
		for len(ended) < len(w.cmds) {
			n, err := unix.EpollWait(set, events, -1)
			now := time.Now()
			for i := range max(n, 0) {
				fd := events[i].Fd
				ended[pids[fd]] = now
				_ = unix.Close(int(fd))
			}
			if n < 0 && err != unix.EINTR {
				break
			}
		}
		_ = unix.Close(set)
		w.ended <- ended
	}()
}

func (w *ward) watched() map[int]time.Time { return <-w.ended }

func (w *ward) close() {
	for i, c := range w.cmds {
		_ = w.stdins[i].Close()
		_ = c.Process.Kill()
		_ = c.Wait()
	}
	_ = w.ledger.Close()
	_ = os.RemoveAll(w.dir)
}

// identify is enough here: the servers are children that are reaped last.
func identify(pid int) (record.Identity, error) { return record.Identity{PID: pid, Start: 1}, nil }

func waitGone(ctx context.Context, id record.Identity) error {
	fd, err := unix.PidfdOpen(id.PID, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	for ctx.Err() == nil {
		if n, _ := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 100); n > 0 {
			return nil
		}
	}
	return ctx.Err()
}
