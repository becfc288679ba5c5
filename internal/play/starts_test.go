package play

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// started is how many starts of a host there are at the same time at the most, and how long it is until all runs are over.
type started struct {
	Most int32
	Took time.Duration
}

// play has a pool of eight slots play cells whose hosts take so long to start.
func playStarts(t *testing.T, processors int, take func(Cell) time.Duration, cells []Cell) (s started) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		pool := Pool{Slots: 8, Play: func(ctx context.Context, c Cell) (*verdict.Judged, error) {
			over, err := c.turn(ctx)
			if err != nil {
				return nil, err
			}
			defer over(false)
			for n, m := now.Add(1), most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			<-time.After(take(c))
			now.Add(-1)
			over(true)
			return &verdict.Judged{}, nil
		}}
		begun := time.Now()
		_, err := pool.run(t.Context(), cells, newStarts(processors))
		require.NoError(t, err)
		s = started{most.Load(), time.Since(begun)}
	})
	return s
}

func cellsOf(n int, h subject.Spec) (all []Cell) {
	for range n {
		all = append(all, Cell{Host: Host{Spec: h}})
	}
	return all
}

func always(d time.Duration) func(Cell) time.Duration { return func(Cell) time.Duration { return d } }

func TestSlowStartsWaitForEachOther(t *testing.T) {
	t.Parallel()
	host := subject.Spec{Name: "slow", Kind: record.KindDriver}
	server := subject.Spec{Name: "slow", Kind: record.KindServer}
	for what, c := range map[string]struct {
		processors int
		take       time.Duration
		host       subject.Spec
		want       started
	}{
		"slow":                        {2, 5 * time.Second, host, started{1, 40 * time.Second}},
		"slow, with one processor":    {1, 5 * time.Second, host, started{1, 40 * time.Second}},
		"slow, with room for two":     {4, 5 * time.Second, host, started{2, 20 * time.Second}},
		"quick: the first is awaited": {2, 2 * time.Second, host, started{7, 4 * time.Second}},
		"a server by itself":          {2, 5 * time.Second, server, started{8, 5 * time.Second}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, playStarts(t, c.processors, always(c.take), cellsOf(8, c.host)))
		})
	}
}

// TestSlowHostsWaitForEachOther: what is scarce is processors, whoever uses them.
func TestSlowHostsWaitForEachOther(t *testing.T) {
	t.Parallel()
	var cells []Cell
	for i := range 4 {
		cells = append(cells, cellsOf(2, subject.Spec{Name: fmt.Sprint("slow-", i)})...)
	}
	assert.Equal(t, started{1, 40 * time.Second}, playStarts(t, 2, always(5*time.Second), cells))
}

// TestBuiltInHostsAreOneProgram: once it is known to be quick, no host of it waits.
func TestBuiltInHostsAreOneProgram(t *testing.T) {
	t.Parallel()
	var cells []Cell
	for _, name := range []string{"exact", "naive", "escalating"} {
		cells = append(cells, cellsOf(2, subject.Spec{Name: name, Argv: []string{"leakbench", "host", name}})...)
	}
	assert.Equal(t, started{5, 2 * time.Second}, playStarts(t, 2, always(time.Second), cells))
}

// TestAStartThatFails leaves its place to the next one, and says nothing of how long another takes.
func TestAStartThatFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, host := newStarts(2), subject.Spec{Name: "slow"}
		over, err := s.turn(t.Context(), host)
		require.NoError(t, err)
		over(false)
		over(true) // too late to say anything
		over, err = s.turn(t.Context(), host)
		require.NoError(t, err)
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = s.turn(short, host)
		require.ErrorIs(t, err, context.DeadlineExceeded, "the second start has the only place")
		over(true)
		over, err = s.turn(t.Context(), host)
		require.NoError(t, err)
		<-time.After(slowStart) // sleep-ok: the clock of the test
		over(false)
		assert.False(t, s.quick(programOf(host)), "it took long once")
	})
}
