package fakeserver_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// TestLingers tells the ways to be deaf to the end of stdin apart by what the
// first thread waits in.
func TestLingers(t *testing.T) {
	t.Parallel()
	for do, want := range map[string]string{
		// In the kernel: hrtimer_nanosleep; ep_poll, or do_epoll_wait where the
		// compiler has put the one into the other; futex_wait_queue, futex_do_wait.
		"linger-timer": "nanosleep", "linger-socket": "ep_poll epoll", "linger-thread": "futex", "ignore": "futex",
	} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: "eof", Do: do})
			p, id := b.launch("s")
			p.greet()
			require.NoError(t, p.in.Close())
			fault := b.awaitKind(id, record.Faulted).Fault
			assert.True(t, fault.Passive)
			assert.False(t, fault.Breaks)
			waits := func() bool {
				in := wchan(t, p)
				return slices.ContainsFunc(strings.Fields(want), func(name string) bool { return strings.Contains(in, name) })
			}
			require.Eventually(t, waits, patience, time.Millisecond)
			assertIdle(t, p)
			assert.True(t, waits(), wchan(t, p))
			if do == "linger-thread" || do == "ignore" {
				require.Eventually(t, func() bool { return sleepsOn(t, p) == (do == "linger-thread") }, patience, time.Millisecond,
					"another thread is what it waits for, or nothing at all")
			}
			if do == "linger-socket" {
				assert.True(t, listens(t, p), "it has a listening socket")
			}
			// Only deaf on that ear.
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			assert.Equal(t, 0, p.status())
		})
	}
}

// sleepsOn reports whether one of its threads sleeps for a time, whenever one
// looks. A thread of the Go runtime does now and then.
func sleepsOn(t *testing.T, p *process) bool {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range 25 {
		<-tick.C
		sleeps := slices.ContainsFunc(glob(t, p, "task/*/wchan"), func(path string) bool {
			text, err := os.ReadFile(path)
			return err == nil && strings.Contains(string(text), "nanosleep")
		})
		if !sleeps {
			return false
		}
	}
	return true
}

// listens reports whether one of its sockets is a listening one.
func listens(t *testing.T, p *process) bool {
	t.Helper()
	inodes := map[string]bool{}
	for _, fd := range glob(t, p, "fd/*") {
		if target, err := os.Readlink(fd); err == nil && strings.HasPrefix(target, "socket:[") {
			inodes[strings.Trim(target, "socket:[]")] = true
		}
	}
	fields := procFile(t, p.cmd.Process.Pid, "net/tcp")
	for i := range fields {
		// sl local rem st ... inode; the state 0A is LISTEN (include/net/tcp_states.h).
		if strings.HasSuffix(fields[i], ":") && i+9 < len(fields) && fields[i+3] == "0A" && inodes[fields[i+9]] {
			return true
		}
	}
	return false
}

func glob(t *testing.T, p *process, pattern string) []string {
	t.Helper()
	procFile(t, p.cmd.Process.Pid, "stat") // skips where there is no /proc
	paths, err := filepath.Glob("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/" + pattern)
	require.NoError(t, err)
	return paths
}

func wchan(t *testing.T, p *process) string {
	t.Helper()
	return strings.Join(procFile(t, p.cmd.Process.Pid, "wchan"), "")
}

// awaitPipeWrite waits until the first thread is blocked writing to a pipe that
// is one of its descriptors.
func awaitPipeWrite(t *testing.T, p *process, fd int) {
	t.Helper()
	require.Eventually(t, func() bool {
		call := procFile(t, p.cmd.Process.Pid, "syscall") // number, arguments ...
		return strings.Contains(wchan(t, p), "pipe_write") && len(call) > 1 && call[1] == "0x"+strconv.Itoa(fd)
	}, patience, time.Millisecond)
}

// awaitBusy waits until the process has used the processor for a while.
func awaitBusy(t *testing.T, p *process) {
	t.Helper()
	before := cpuTicks(t, p.cmd.Process.Pid)
	require.Eventually(t, func() bool { return cpuTicks(t, p.cmd.Process.Pid)-before >= 20 }, patience, time.Millisecond)
}

// assertSpins: the first thread is busy, and the process eats a processor.
func assertSpins(t *testing.T, p *process) {
	t.Helper()
	pid := p.cmd.Process.Pid
	before := cpuTicks(t, pid)
	require.Eventually(t, func() bool {
		return procFile(t, pid, "stat")[2] == "R" && cpuTicks(t, pid)-before >= 20
	}, patience, time.Millisecond)
}

func TestSpinsOnEOF(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "eof", Do: "spin"})
	p, id := b.launch("s")
	p.greet()
	require.NoError(t, p.in.Close())
	fault := b.awaitKind(id, record.Faulted).Fault
	assert.True(t, fault.Passive)
	assert.False(t, fault.Breaks)
	assertSpins(t, p)
	require.NoError(t, b.ledger.Close())
	assert.Equal(t, 72, p.status(), "a spinner hears the bench go all the same")
}

// hangUp closes the read end of a server's stdout, and waits until nobody has a copy: what another test is forking has one until its exec.
func hangUp(t *testing.T, p *process) {
	t.Helper()
	own := "/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/"
	out, err := os.Readlink(own + "fd/1")
	require.NoError(t, p.out.Close())
	if err != nil {
		return // there is no /proc
	}
	require.Eventually(t, func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*/fd/*")
		return !slices.ContainsFunc(all, func(fd string) bool {
			to, _ := os.Readlink(fd)
			return to == out && !strings.HasPrefix(fd, own)
		})
	}, patience, time.Millisecond)
}

// TestSpinsOnEPIPE: the host is gone, the server has something left to say,
// says it again and again, and SIGPIPE does not end it.
func TestSpinsOnEPIPE(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		more []fakeserver.Fault
		ask  func(*process)
	}{
		"after the end of stdin": {
			[]fakeserver.Fault{{On: "eof", Do: "write"}},
			func(p *process) { _ = p.in.Close() },
		},
		"with an answer": { // another thread met it; the first one joins when stdin ends
			nil, func(p *process) { p.send(callEcho); _ = p.in.Close() },
		},
		"while stdin is open": {nil, func(p *process) { p.send(callEcho) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", append(c.more, fakeserver.Fault{On: "epipe", Do: "spin"})...)
			p, id := b.launch("s")
			p.greet()
			hangUp(t, p)
			c.ask(p)
			b.await("epipe", func(e record.Event) bool { return e.Server == id && e.Fault != nil && e.Fault.On == "epipe" })
			if name == "while stdin is open" {
				awaitBusy(t, p)  // another thread
				p.send(callEcho) // brings the first one back
			}
			assertSpins(t, p)
			masks := signalMasks(t, p)
			assert.True(t, masks.ignored(syscall.SIGPIPE))
			require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			assert.Equal(t, 0, p.status())
		})
	}
}

func TestExitsOnEPIPE(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "epipe", Do: "exit", Code: 9})
	p, id := b.launch("s")
	p.greet()
	hangUp(t, p)
	p.send(callEcho)
	assert.Equal(t, 9, p.status())
	assert.Equal(t, record.Moment("epipe"), b.awaitKind(id, record.Faulted).Fault.On)
}

// TestWritesAfterEOF: its last words tell what became of the line.
func TestWritesAfterEOF(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on, want string
		gone     bool
	}{
		"met EPIPE":          {"eof", "end of stdin; a line written on eof met EPIPE", true},
		"was taken":          {"eof", "end of stdin; a line written on eof was taken", false},
		"at the very end":    {"exit", "end of stdin; a line written on exit met EPIPE", true},
		"after SIGTERM too":  {"term", "SIGTERM; a line written on term met EPIPE", true},
		"taken after a TERM": {"term", "SIGTERM; a line written on term was taken", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := one(t, "", fakeserver.Fault{On: c.on, Do: "write"})
			p, id := b.launch("s")
			p.greet()
			if c.gone {
				hangUp(t, p)
			}
			if c.on == "term" {
				require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
			} else {
				require.NoError(t, p.in.Close())
			}
			assert.Equal(t, 0, p.status(), "it survives SIGPIPE")
			assert.Equal(t, c.want, b.awaitKind(id, record.Bye).Text)
			if !c.gone {
				line, err := p.recv()
				require.NoError(t, err)
				assert.Contains(t, line, "one more line")
			}
		})
	}
}

// TestDeafToTerm tells the ways to be deaf to SIGTERM apart by the process's
// signal masks.
func TestDeafToTerm(t *testing.T) {
	t.Parallel()
	t.Run("ignored by the kernel", func(t *testing.T) {
		t.Parallel()
		for _, on := range []string{"start", "eof"} {
			b := one(t, "", fakeserver.Fault{On: on, Do: "ignore-term"}, fakeserver.Fault{On: "eof", Do: "linger-timer"})
			p, id := b.launch("s")
			p.greet()
			if on == "eof" {
				assert.False(t, signalMasks(t, p).ignored(syscall.SIGTERM))
				require.NoError(t, p.in.Close())
			}
			b.awaitKind(id, record.Faulted)
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				require.Eventually(t, func() bool { return signalMasks(t, p).ignored(sig) }, patience, time.Millisecond)
				assert.False(t, signalMasks(t, p).caught(sig))
				require.NoError(t, p.cmd.Process.Signal(sig))
			}
			assertIdle(t, p)
			assert.NotContains(t, b.kinds(id), record.SawSignal, "it never hears of it")
			require.NoError(t, p.cmd.Process.Kill())
			assert.Equal(t, -1, p.status())
		}
	})
	t.Run("caught, and nothing done", func(t *testing.T) {
		t.Parallel()
		b := one(t, "", fakeserver.Fault{On: "term", Do: "ignore"})
		p, id := b.launch("s")
		p.greet()
		assert.True(t, signalMasks(t, p).caught(syscall.SIGTERM))
		assert.False(t, signalMasks(t, p).ignored(syscall.SIGTERM))
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		b.awaitKind(id, record.SawSignal)
		p.lives()
	})
	t.Run("exits after a while", func(t *testing.T) {
		t.Parallel()
		const slow = 300 * time.Millisecond
		b := one(t, "", fakeserver.Fault{On: "term", Do: "delay", For: fakeserver.Duration(slow)})
		p, id := b.launch("s")
		p.greet()
		asked := time.Now()
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
		b.awaitKind(id, record.Faulted)
		p.lives()
		require.NoError(t, p.cmd.Process.Signal(syscall.SIGINT)) // heard meanwhile
		b.await("SIGINT", func(e record.Event) bool { return e.Kind == record.SawSignal && e.Signal == "SIGINT" })
		assert.Equal(t, 0, p.status())
		assert.GreaterOrEqual(t, time.Since(asked), slow)
		b.awaitKind(id, record.Bye) // for the one or the other: each gets its time
	})
}

// TestExitsAWhileAfterEOF is the same for the end of stdin.
func TestExitsAWhileAfterEOF(t *testing.T) {
	t.Parallel()
	const slow = 200 * time.Millisecond
	p, _ := one(t, "", fakeserver.Fault{On: "eof", Do: "delay", For: fakeserver.Duration(slow)}).launch("s")
	p.greet()
	asked := time.Now()
	require.NoError(t, p.in.Close())
	assert.Equal(t, 0, p.status())
	assert.GreaterOrEqual(t, time.Since(asked), slow)
}

type masks struct{ ign, cgt uint64 }

func (m masks) ignored(sig syscall.Signal) bool { return m.ign>>(sig-1)&1 == 1 }
func (m masks) caught(sig syscall.Signal) bool  { return m.cgt>>(sig-1)&1 == 1 }

func signalMasks(t *testing.T, p *process) masks {
	t.Helper()
	var m masks
	fields := procFile(t, p.cmd.Process.Pid, "status")
	for i, f := range fields {
		if f == "SigIgn:" || f == "SigCgt:" {
			v, err := strconv.ParseUint(fields[i+1], 16, 64)
			require.NoError(t, err)
			*map[string]*uint64{"SigIgn:": &m.ign, "SigCgt:": &m.cgt}[f] = v
		}
	}
	return m
}

// TestSwellsWhenIdle: it grows though nobody asks it anything, to its bound.
func TestSwellsWhenIdle(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "start", Do: "swell", MiB: 60, Step: 5, Each: fakeserver.Duration(time.Millisecond)})
	p, id := b.launch("s")
	b.awaitKind(id, record.Ready)
	require.Eventually(t, func() bool { return rss(t, p.cmd.Process.Pid) >= 60<<20 }, patience, time.Millisecond)
	p.lives()
	// It is bounded: without a bound it would never be still for so long.
	require.Eventually(t, func() bool {
		before := rss(t, p.cmd.Process.Pid)
		<-time.After(100 * time.Millisecond)
		return rss(t, p.cmd.Process.Pid)-before < 1<<20
	}, patience, time.Millisecond)
}
