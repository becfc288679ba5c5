//go:build linux

package keeper_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "keeper":
			os.Exit(keeper.Main(os.Args[2:]))
		case "bystander":
			os.Exit(keeper.Bystander())
		case "placement":
			os.Exit(keeper.Placement(os.Args[2:]))
		case "tree":
			tree(os.Args[2:])
		case "bench":
			benchThatDies(os.Args[2])
		}
	}
	goleak.VerifyTestMain(m)
}

// tree is a host for these tests: it ignores what it can, starts one child for
// each argument, prints their pids, and blocks until stdin ends, or for ever.
//
//	plain    a child in the host's group
//	setsid   a child in a session of its own
//	orphan   a grandchild whose parent exits: it comes home to the keeper
//	zombie   a child that exits and is not waited for
//	forks    a child that forks and exits, and whose child does the same, for ever
//	revives  a child that starts another one anew whenever that ends
//	threads  no child: threads, one after the other
//	flood    no child: 9 MiB on stderr
func tree(kinds []string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	for _, kind := range kinds {
		switch kind {
		case "plain", "setsid":
			c := exec.Command("sleep", "300")
			c.SysProcAttr = &syscall.SysProcAttr{Setsid: kind == "setsid"}
			_ = c.Start()
			fmt.Println(kind, c.Process.Pid)
		case "orphan":
			out, _ := exec.Command("sh", "-c", "sleep 300 </dev/null >/dev/null 2>&1 & echo $!").Output()
			fmt.Println(kind, strings.TrimSpace(string(out)))
		case "zombie":
			p, _ := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
			fmt.Println(kind, p.Pid)
		case "threads":
			go startThreads()
			fmt.Println(kind, os.Getpid())
		case "forks":
			fmt.Println(kind, forkForEver())
		case "revives":
			out, _ := exec.Command("sh", "-c", "(exec </dev/null >/dev/null 2>&1; while :; do sh -c 'sleep 300; :'; done) & echo $!").Output()
			fmt.Println(kind, strings.TrimSpace(string(out)))
		case "flood":
			line := strings.Repeat("x", 1<<20)
			for range 9 {
				fmt.Fprint(os.Stderr, line)
			}
			fmt.Println(kind, 0)
		}
	}
	fmt.Println("ready", os.Getpid())
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(3)
}

// startThreads starts one thread after the other, and ends none of them.
func startThreads() {
	for range 500 {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
		time.Sleep(100 * time.Microsecond) // sleep-ok: a thread now and then is what is tried
	}
}

// forkForEver starts a process that forks and exits for ever, each with a
// number of its own. Only raw calls may follow a raw fork.
func forkForEver() int {
	pid, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if pid != 0 {
		return int(pid)
	}
	for {
		if pid, _, _ = syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0); pid != 0 {
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
}

// benchThatDies starts a keeper and a host and says so; the test kills it.
func benchThatDies(dir string) {
	self, _ := os.Executable()
	k, err := keeper.Start(context.Background(), keeper.Params{Self: self, Dir: dir, Log: filepath.Join(dir, "..", "log")})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	h, err := k.StartHost(context.Background(), keeper.HostParams{Argv: []string{self, "tree", "plain", "setsid", "orphan"}})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println("keeper", k.Hello.PID)
	_, _ = io.Copy(os.Stdout, h.Stdout)
	select {}
}

type fixture struct {
	*keeper.Keeper
	host  *keeper.Host
	exits chan keeper.Exited
	pids  map[string]int
	dir   string

	killed bool
}

// bare is a keeper without a host.
func bare(t *testing.T) *fixture {
	t.Helper()
	return bareWith(t, keeper.Params{})
}

func bareWith(t *testing.T, p keeper.Params) *fixture {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	f := &fixture{exits: make(chan keeper.Exited, 100), dir: t.TempDir()}
	tell := func(e keeper.Exited) {
		select {
		case f.exits <- e:
		default:
		}
	}
	sockets, err := os.MkdirTemp("", "lbk")
	require.NoError(t, err)
	p.Self, p.Dir, p.Log, p.OnExit = self, sockets, filepath.Join(f.dir, "keeper.log"), tell
	f.Keeper, err = keeper.Start(t.Context(), p)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, f.Close())
		if f.killed {
			_ = os.RemoveAll(sockets)
		}
		assert.NoDirExists(t, sockets, "the keeper removes its folder")
	})
	return f
}

func start(t *testing.T, kinds ...string) *fixture {
	t.Helper()
	return startWith(t, keeper.Params{}, kinds...)
}

func startWith(t *testing.T, p keeper.Params, kinds ...string) *fixture {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	f := bareWith(t, p)
	f.host, err = f.StartHost(t.Context(), keeper.HostParams{
		Argv: append([]string{self, "tree"}, kinds...), Stderr: filepath.Join(f.dir, "host.log"),
	})
	require.NoError(t, err)
	t.Cleanup(func() { f.host.Stdin.Close(); f.host.Stdout.Close() })
	f.pids = readPIDs(t, f.host.Stdout)
	return f
}

// readPIDs reads "kind pid" lines up to and with "ready".
func readPIDs(t *testing.T, r io.Reader) map[string]int {
	t.Helper()
	pids := map[string]int{}
	for lines := bufio.NewScanner(r); lines.Scan(); {
		kind, pid, _ := strings.Cut(lines.Text(), " ")
		n, err := strconv.Atoi(pid)
		require.NoError(t, err, lines.Text())
		pids[kind] = n
		if kind == "ready" {
			return pids
		}
	}
	t.Fatal("the host did not get ready")
	return nil
}

func (f *fixture) identify(t *testing.T) []record.Identity {
	t.Helper()
	var ids []record.Identity
	for kind, pid := range f.pids {
		if kind == "flood" {
			continue
		}
		id, err := proc.Identify(pid)
		require.NoError(t, err, kind)
		ids = append(ids, id)
	}
	return ids
}

func (f *fixture) exit(t *testing.T) keeper.Exited {
	t.Helper()
	select {
	case e := <-f.exits:
		return e
	case <-time.After(30 * time.Second):
		t.Fatal("no exit was told")
		return keeper.Exited{}
	}
}

func gone(t *testing.T, ids []record.Identity) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for _, id := range ids {
		assert.NoError(t, proc.WaitGone(ctx, id), "pid %d", id.PID)
	}
}

func TestCensusSeesEveryKindOfDescendant(t *testing.T) {
	t.Parallel()
	f := start(t, "plain", "setsid", "orphan", "zombie")
	require.True(t, f.Hello.Subreaper)
	var census *record.Census
	require.Eventually(t, func() bool { // the zombie's exit is not announced
		var err error
		census, err = f.Census(t.Context())
		require.NoError(t, err)
		for _, p := range census.Processes {
			if p.PID == f.pids["zombie"] {
				return p.State == "Z"
			}
		}
		return false
	}, 10*time.Second, 5*time.Millisecond)
	require.NotNil(t, census.Host)
	assert.Equal(t, f.host.Process.Identity, census.Host.Identity)
	assert.Equal(t, census.Host.PID, census.Host.PGID, "the host leads a group of its own")
	parents := map[int]int{}
	for _, p := range census.Processes {
		parents[p.PID] = p.PPID
	}
	assert.Equal(t, f.pids["ready"], parents[f.pids["plain"]])
	assert.Equal(t, f.pids["ready"], parents[f.pids["setsid"]])
	assert.Equal(t, f.pids["ready"], parents[f.pids["zombie"]])
	assert.Equal(t, f.Hello.PID, parents[f.pids["orphan"]], "an orphan comes home")
}

func TestSweepLeavesNothing(t *testing.T) {
	t.Parallel()
	f := start(t, "plain", "setsid", "orphan", "zombie")
	ids := f.identify(t)
	swept, err := f.Sweep(t.Context())
	require.NoError(t, err)
	gone(t, ids)
	var pids []int
	for _, p := range swept {
		pids = append(pids, p.PID)
	}
	for _, kind := range []string{"plain", "setsid", "orphan", "ready"} {
		assert.Contains(t, pids, f.pids[kind], kind)
	}
	census, err := f.Census(t.Context())
	require.NoError(t, err)
	assert.Empty(t, census.Processes)
}

// TestSweepOfWhatForks: what forks and exits all the time is in no look at the
// process table, and what is started anew when it ends is there again.
func TestSweepOfWhatForks(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]keeper.Params{"with a cgroup": {}, "without one": {NoCgroup: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startWith(t, p, "forks", "revives", "plain")
			swept, err := f.Sweep(t.Context())
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(swept), 4, "the host, and what it had started")
			for len(f.exits) > 0 {
				<-f.exits
			}
			census, err := f.Census(t.Context())
			require.NoError(t, err)
			assert.Empty(t, census.Processes)
			_, err = f.Sweep(t.Context())
			require.NoError(t, err)
			assert.Empty(t, f.exits, "nothing was born any more")
		})
	}
}

func TestExitsAreTold(t *testing.T) {
	t.Parallel()
	f := start(t, "orphan")
	orphan, err := proc.Identify(f.pids["orphan"])
	require.NoError(t, err)
	require.NoError(t, f.Signal(t.Context(), orphan, "SIGUSR1")) // SIGTERM is ignored by inheritance
	e := f.exit(t)
	assert.Equal(t, orphan, e.Identity)
	assert.Equal(t, record.Exit{Code: -1, Signal: "SIGUSR1"}, e.Exit)
	assert.False(t, e.Host)
	f.host.Stdin.Close()
	e = f.exit(t)
	assert.Equal(t, f.host.Process.Identity, e.Identity)
	assert.Equal(t, record.Exit{Code: 3}, e.Exit)
	assert.True(t, e.Host)
	require.NoError(t, f.Signal(t.Context(), e.Identity, "SIGTERM"), "its end was told: a signal that is late is no failure")
	require.Error(t, f.Signal(t.Context(), orphan, "SIGTERM"))
}

// TestAHostMayEndAtOnce: its exit is told, and its start is none that failed.
func TestAHostMayEndAtOnce(t *testing.T) {
	t.Parallel()
	f := bareWith(t, keeper.Params{})
	for range 30 {
		started, err := f.StartHost(t.Context(), keeper.HostParams{Argv: []string{"true"}})
		require.NoError(t, err)
		started.Stdin.Close()
		started.Stdout.Close()
		e := f.exit(t)
		assert.Equal(t, started.Process.Identity, e.Identity)
		assert.True(t, e.Host)
	}
}

func TestSignalRefusesStrangers(t *testing.T) {
	t.Parallel()
	f := start(t)
	stranger := exec.CommandContext(t.Context(), "sleep", "300")
	stranger.WaitDelay = time.Second
	require.NoError(t, stranger.Start())
	t.Cleanup(func() { _ = stranger.Process.Kill(); _ = stranger.Wait() })
	id, err := proc.Identify(stranger.Process.Pid)
	require.NoError(t, err)
	require.Error(t, f.Signal(t.Context(), id, "SIGKILL"), "not below the keeper")
	reused := f.host.Process.Identity
	reused.Start++
	require.Error(t, f.Signal(t.Context(), reused, "SIGKILL"), "the pid, but not the process")
	require.Error(t, f.Signal(t.Context(), f.host.Process.Identity, "SIGNONSENSE"))
}

func TestFloodedStderrIsCapped(t *testing.T) {
	t.Parallel()
	f := start(t, "flood")
	f.host.Stdin.Close()
	f.exit(t)
	assert.Eventually(t, func() bool {
		log, err := os.ReadFile(filepath.Join(f.dir, "host.log"))
		return err == nil && strings.HasSuffix(string(log), "[leakbench: cut off after 8 MiB]\n")
	}, 10*time.Second, 5*time.Millisecond)
}

func TestHostThatCannotStart(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.StartHost(t.Context(), keeper.HostParams{Argv: []string{"no-such-program-anywhere"}})
	require.ErrorContains(t, err, "no-such-program-anywhere")
}

// A bench that is killed leaves nothing: its end of the socket is enough.
func TestDeadBenchLeavesNothing(t *testing.T) {
	t.Parallel()
	base, err := os.MkdirTemp("", "lbk")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(base) })
	dir := filepath.Join(base, "s")
	require.NoError(t, os.Mkdir(dir, 0o700))
	self, err := os.Executable()
	require.NoError(t, err)
	bench := exec.CommandContext(t.Context(), self, "bench", dir)
	bench.WaitDelay = 5 * time.Second
	out, err := bench.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, bench.Start())
	f := &fixture{pids: readPIDs(t, out)}
	ids := f.identify(t)
	require.Len(t, ids, 5)
	require.NoError(t, bench.Process.Kill())
	gone(t, ids)
	_ = bench.Wait()
	assert.NoDirExists(t, dir)
}

// TestStoppedKeeperIsGivenUp: a keeper that does not answer, or that a signal has stopped, is killed, and no question waits
// for ever.
func TestStoppedKeeperIsGivenUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer time.Duration
		says   string
	}{
		"in no time": {200 * time.Millisecond, "it did not answer within 200 ms"},
		"stopped":    {time.Minute, "a signal had stopped it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := startWith(t, keeper.Params{})
			f.killed = true
			f.AnswerWithin(c.answer)
			host := f.host.Process.Identity
			require.NoError(t, syscall.Kill(f.Hello.PID, syscall.SIGSTOP))
			_, err := f.Census(t.Context())
			require.ErrorIs(t, err, keeper.ErrGone)
			require.ErrorContains(t, err, c.says)
			gone(t, []record.Identity{host})
			_, err = f.Census(t.Context())
			require.ErrorIs(t, err, keeper.ErrGone)
		})
	}
}

// A keeper that is killed takes the host with it, by the kernel's hand.
func TestDeadKeeperTakesTheHostAlong(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	sockets, err := os.MkdirTemp("", "lbk")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(sockets) })
	k, err := keeper.Start(t.Context(), keeper.Params{Self: self, Dir: sockets, Log: filepath.Join(t.TempDir(), "log")})
	require.NoError(t, err)
	h, err := k.StartHost(t.Context(), keeper.HostParams{Argv: []string{self, "tree"}})
	require.NoError(t, err)
	t.Cleanup(func() { h.Stdin.Close(); h.Stdout.Close() })
	readPIDs(t, h.Stdout)
	require.NoError(t, proc.Signal(k.Hello.Identity, syscall.SIGKILL))
	gone(t, []record.Identity{h.Process.Identity})
	<-k.Done()
	_, err = k.Census(t.Context())
	require.ErrorIs(t, err, keeper.ErrGone)
	_ = k.Close()
	if k.Hello.Cgroup != "" {
		_ = os.Remove(k.Hello.Cgroup)
	}
}
