package proc_test

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/proc/portable"
)

// TestFollowsOrphans is about systems on which orphans do not come home: what a table has seen below the root is still listed.
func TestFollowsOrphans(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `sh -c 'sleep 300 >/dev/null & echo $!; read line' && echo orphaned && read line`)
	cmd.WaitDelay = patience
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan())
	pid, err := strconv.Atoi(lines.Text())
	require.NoError(t, err)
	id, err := proc.Identify(pid)
	require.NoError(t, err)
	t.Cleanup(func() { _ = proc.Signal(id, syscall.SIGKILL) })
	listed := func(table *portable.Table) bool {
		rows, err := table.Below(cmd.Process.Pid)
		require.NoError(t, err)
		_, ok := find(rows, pid)
		return ok
	}
	table := portable.NewTable()
	require.True(t, listed(table))
	_, err = in.Write([]byte("\n"))
	require.NoError(t, err)
	require.True(t, lines.Scan())
	assert.True(t, listed(table), "it was seen below the root")
	assert.True(t, listed(table), "however often")
	assert.False(t, listed(portable.NewTable()), "who has not seen it there can't know")
	require.NoError(t, proc.Signal(id, syscall.SIGKILL))
	require.NoError(t, proc.WaitGone(t.Context(), id))
	assert.Eventually(t, func() bool { return !listed(table) }, patience, patience/1000)
	require.NoError(t, in.Close())
	_ = cmd.Wait()
}

// byPidfd has Linux tell of deaths, as a kqueue does on macOS. A pipe ends it.
func byPidfd(t *testing.T) (d *portable.Deaths, fail func()) {
	t.Helper()
	poll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	require.NoError(t, err)
	var pipe [2]int
	require.NoError(t, unix.Pipe2(pipe[:], unix.O_CLOEXEC))
	require.NoError(t, unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, pipe[0], &unix.EpollEvent{Events: unix.EPOLLIN, Fd: -1}))
	ended := make(chan struct{})
	fail = sync.OnceFunc(func() { unix.Close(pipe[1]); <-ended })
	t.Cleanup(fail)
	d = &portable.Deaths{
		Watch: func(pid int) error {
			fd, err := unix.PidfdOpen(pid, 0)
			if err != nil {
				return err
			}
			return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(pid)})
		},
		Next: func() (pids []int, err error) {
			events := make([]unix.EpollEvent, 4)
			n, err := unix.EpollWait(poll, events, -1)
			for _, e := range events[:max(n, 0)] {
				if e.Fd < 0 {
					close(ended)
					return nil, errors.New("no more")
				}
				pids = append(pids, int(e.Fd))
			}
			if errors.Is(err, unix.EINTR) {
				err = nil
			}
			return pids, err
		},
	}
	return d, fail
}

func TestDeaths(t *testing.T) {
	t.Parallel()
	d, fail := byPidfd(t)
	fine := func() error { return nil }
	gone := errors.New("gone")
	one, other, third := fake(t, nil, "idle"), fake(t, nil, "idle"), fake(t, nil, "idle")
	wait := func(ctx context.Context, c *child) chan error {
		said := make(chan error, 1)
		watched := make(chan struct{})
		once := sync.OnceFunc(func() { close(watched) })
		go func() {
			said <- d.Wait(ctx, c.id.PID, func() error {
				once()
				if proc.Gone(c.id) {
					return gone
				}
				return nil
			})
		}()
		<-watched
		return said
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	first, second, cancelled, last := wait(t.Context(), one), wait(t.Context(), one), wait(ctx, other), wait(t.Context(), third)
	one.end()
	require.NoError(t, <-first)
	require.NoError(t, <-second, "any number may wait for the same")
	enough := errors.New("enough")
	cancel(enough)
	require.ErrorIs(t, <-cancelled, enough)
	require.ErrorIs(t, d.Wait(t.Context(), other.id.PID, func() error { return enough }), enough, "it is another's pid by now")
	select {
	case err := <-last:
		t.Fatal("nobody has ended it", err)
	default:
	}
	other.end()
	require.ErrorIs(t, d.Wait(t.Context(), other.id.PID, fine), unix.ESRCH)
	fail()
	require.ErrorContains(t, <-last, "no more")
	assert.ErrorContains(t, d.Wait(t.Context(), third.id.PID, fine), "no more")
}

// TestDeathsThatAreNotTold: a kernel that tells nothing is asked, and what it tells of a process that lives is not believed.
func TestDeathsThatAreNotTold(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	next, over := make(chan int), make(chan struct{})
	d := &portable.Deaths{
		Watch: func(int) error { return nil },
		Next: func() ([]int, error) {
			pid, more := <-next
			if !more {
				close(over)
				return nil, gone
			}
			return []int{pid}, nil
		},
	}
	t.Cleanup(func() { close(next); <-over })
	for name, tell := range map[string]func(){"nothing is told": func() {}, "another one's death is told": func() { next <- 7 }} {
		t.Run(name, func(t *testing.T) {
			var ended atomic.Bool
			asked, said := make(chan bool, 100), make(chan error, 1)
			go func() {
				said <- d.Wait(t.Context(), 7, func() error {
					asked <- true
					if ended.Load() {
						return gone
					}
					return nil
				})
			}()
			<-asked
			tell()
			<-asked
			select {
			case err := <-said:
				t.Fatal("it lives", err)
			default:
			}
			ended.Store(true)
			require.ErrorIs(t, <-said, gone)
		})
	}
}
