package ledger_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/observe/socket"
	"github.com/leakbench/leakbench/internal/record"
)

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// The test binary is a fake server too: importing fakeserver makes it one.
func TestMain(m *testing.M) {
	// Under the race detector each process sleeps a second at its exit otherwise.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	goleak.VerifyTestMain(m)
}

// book is a ledger and what it reported.
type book struct {
	*ledger.Ledger
	t      *testing.T
	mu     sync.Mutex
	events []record.Event
	news   chan struct{}
}

func open(t *testing.T, change func(*ledger.Params)) *book {
	t.Helper()
	dir, err := ledger.NewDir()
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	b := &book{t: t, news: make(chan struct{})}
	p := ledger.Params{
		Dir: dir, Run: "r", Scripts: map[string]json.RawMessage{"s": json.RawMessage(`{"era":"dual"}`), "bare": nil},
		OnEvent: b.add, Identify: identify, WaitGone: waitGone,
	}
	if change != nil {
		change(&p)
	}
	b.Ledger, err = ledger.Listen(p)
	require.NoError(t, err)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func (b *book) add(e record.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	close(b.news)
	b.news = make(chan struct{})
}

func (b *book) all() []record.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

func (b *book) await(n int, kind record.Kind) []record.Event {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		news := b.news
		var found []record.Event
		for _, e := range b.events {
			if e.Kind == kind {
				found = append(found, e)
			}
		}
		b.mu.Unlock()
		if len(found) >= n {
			return found
		}
		select {
		case <-news:
		case <-deadline:
			require.FailNow(b.t, "too few events", "want %d of %s, have %+v", n, kind, b.all())
		}
	}
}

func me(label string) birth.Certificate {
	return birth.Certificate{Run: "r", Label: label, PID: os.Getpid(), PPID: 2, PGID: 3, SID: 4, Session: "main"}
}

// identify and waitGone are enough here: no pid is reused within a test.
func identify(pid int) (record.Identity, error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return record.Identity{}, err
	}
	defer func() { _ = p.Release() }()
	return record.Identity{PID: pid, Start: 7}, alive(p)
}

func waitGone(ctx context.Context, id record.Identity) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := identify(id.PID); err != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// gone takes every process for ended, for clients inside the test's process.
func gone(p *ledger.Params) { p.WaitGone = func(context.Context, record.Identity) error { return nil } }

func TestLifeOfAServer(t *testing.T) {
	t.Parallel()
	b := open(t, gone)
	c, welcome, err := birth.Dial(b.Path(), me("s"))
	require.NoError(t, err)
	assert.Equal(t, 1, welcome.Launch)
	assert.JSONEq(t, `{"era":"dual"}`, string(welcome.Script))
	for _, n := range []birth.Note{
		{Note: birth.NoteReady},
		{Note: birth.NoteRPC, Data: json.RawMessage(`{"method":"initialize","id":"1","phase":"received"}`)},
		{Note: birth.NoteFault, Data: json.RawMessage(`{"on":"call","do":"exit","breaks":true}`)},
		{Note: birth.NoteEOF},
		{Note: birth.NoteSignal, Text: "SIGTERM", Stdin: "open"},
		{Note: birth.NoteBye, Text: "end of stdin"},
	} {
		require.NoError(t, c.Note(n))
	}
	c.Close()
	b.await(1, record.Died)
	birth := record.Birth{Identity: record.Identity{PID: os.Getpid(), Start: 7}, PPID: 2, PGID: 3, SID: 4, Label: "s", Session: "main", Launch: 1}
	assert.Equal(t, []record.Event{
		{Kind: record.Born, Server: "s#1", Birth: &birth},
		{Kind: record.Ready, Server: "s#1"},
		{Kind: record.RPC, Server: "s#1", RPC: &record.RPCInfo{Method: "initialize", ID: "1", Phase: "received"}},
		{Kind: record.Faulted, Server: "s#1", Fault: &record.Fault{On: "call", Do: "exit", Breaks: true}},
		{Kind: record.SawEOF, Server: "s#1"},
		{Kind: record.SawSignal, Server: "s#1", Signal: "SIGTERM", Text: "open"},
		{Kind: record.Bye, Server: "s#1", Text: "end of stdin"},
		{Kind: record.Died, Server: "s#1"},
	}, b.all())
	require.ErrorIs(t, b.Order("s#1", json.RawMessage(`{}`)), ledger.ErrNotConnected)
	require.ErrorIs(t, b.Cut("s#1"), ledger.ErrNotConnected)
}

// TestKernelWinsOverClaim: the pid comes from the kernel where it says it.
func TestKernelWinsOverClaim(t *testing.T) {
	t.Parallel()
	b := open(t, gone)
	lie := me("s")
	lie.PID = 1
	c, _, err := birth.Dial(b.Path(), lie)
	require.NoError(t, err)
	defer c.Close()
	birth := b.await(1, record.Born)[0].Birth
	assert.Equal(t, os.Getpid(), birth.PID)
	assert.Equal(t, 1, birth.Claimed)
	assert.NotEqual(t, "none", socket.Attested)
}

// TestConcurrentBirths starts fifty real servers of two labels at once.
func TestConcurrentBirths(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	self, err := os.Executable()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var wg sync.WaitGroup
	defer wg.Wait()
	var ends []io.Closer
	for i := range 100 {
		argv := fakeserver.Argv(self, b.Path(), "r", []string{"s", "bare"}[i%2], "")
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.WaitDelay = patience
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		ends = append(ends, in)
		wg.Go(func() { _ = cmd.Wait() })
	}
	next := map[string]int{}
	pids := map[int]bool{}
	for _, e := range b.await(100, record.Born) {
		next[e.Birth.Label]++
		assert.Equal(t, next[e.Birth.Label], e.Birth.Launch, "births come in the order of their numbers")
		assert.Equal(t, fmt.Sprintf("%s#%d", e.Birth.Label, e.Birth.Launch), e.Server)
		pids[e.Birth.PID] = true
	}
	assert.Equal(t, map[string]int{"s": 50, "bare": 50}, next)
	assert.Len(t, pids, 100)
	b.await(100, record.Ready)
	for _, in := range ends {
		require.NoError(t, in.Close())
	}
	b.await(100, record.Died)
	assert.Empty(t, b.await(0, record.Lost))
	assert.Empty(t, b.await(0, record.Doubted))
}

// TestManyDials: more peers at once than a backlog holds are all served.
func TestManyDials(t *testing.T) {
	t.Parallel()
	b := open(t, gone)
	var wg sync.WaitGroup
	errs := make(chan error, 1000)
	for range 1000 {
		wg.Go(func() {
			c, _, err := birth.Dial(b.Path(), me("s"))
			if err == nil {
				c.Close()
			}
			errs <- err
		})
	}
	wg.Wait()
	for range 1000 {
		require.NoError(t, <-errs)
	}
	b.await(1000, record.Died)
}

func TestOrdersReachTheServerAndEndWithTheBench(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	c, _, err := birth.Dial(b.Path(), me("s"))
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, b.Order("s#1", json.RawMessage(`{"do":"exit"}`)))
	assert.JSONEq(t, `{"do":"exit"}`, string((<-c.Orders()).Do))
	require.NoError(t, b.Close())
	_, more := <-c.Orders()
	assert.False(t, more)
	assert.Equal(t, "the bench closed the ledger", b.await(1, record.Lost)[0].Text)
	require.NoError(t, b.Close(), "closing again")
}

// TestOrderFromTheBirth: an order given the moment a birth is told comes
// behind the welcome.
func TestOrderFromTheBirth(t *testing.T) {
	t.Parallel()
	var b *book
	b = open(t, func(p *ledger.Params) {
		gone(p)
		p.OnEvent = func(e record.Event) {
			b.add(e)
			if e.Kind == record.Born {
				assert.NoError(t, b.Order(e.Server, json.RawMessage(`{"do":"hang"}`)))
			}
		}
	})
	c, welcome, err := birth.Dial(b.Path(), me("s"))
	require.NoError(t, err)
	defer c.Close()
	assert.Equal(t, 1, welcome.Launch)
	assert.JSONEq(t, `{"do":"hang"}`, string((<-c.Orders()).Do))
}

func TestLostIsNotDied(t *testing.T) {
	t.Parallel()
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		b := open(t, gone) // even where the process is gone as well
		c, _, err := birth.Dial(b.Path(), me("s"))
		require.NoError(t, err)
		defer c.Close()
		require.NoError(t, b.Cut("s#1"))
		assert.Equal(t, "the bench cut the connection", b.await(1, record.Lost)[0].Text)
		_, more := <-c.Orders()
		assert.False(t, more)
		assert.Empty(t, b.await(0, record.Died))
	})
	t.Run("still there", func(t *testing.T) {
		t.Parallel()
		b := open(t, nil) // the client is this very process
		c, _, err := birth.Dial(b.Path(), me("s"))
		require.NoError(t, err)
		c.Close()
		assert.Contains(t, b.await(1, record.Lost)[0].Text, "was not seen to end")
		assert.Empty(t, b.await(0, record.Died))
	})
}

func TestRefused(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	wrongRun := me("s")
	wrongRun.Run = "other"
	for _, c := range []birth.Certificate{wrongRun, me("nobody")} {
		_, _, err := birth.Dial(b.Path(), c)
		require.ErrorIs(t, err, birth.ErrRefused)
	}
	for _, e := range b.await(2, record.Doubted) {
		assert.Equal(t, record.DoubtLedgerStranger, e.Doubt.Code)
	}
	assert.Empty(t, b.await(0, record.Born))
}

func TestDialFailsWithoutABench(t *testing.T) {
	t.Parallel()
	c := me("s")
	c.Run = "nobody's"
	_, _, err := birth.Dial(filepath.Join(t.TempDir(), "none"), c)
	require.ErrorContains(t, err, "failed to reach the bench")
}
