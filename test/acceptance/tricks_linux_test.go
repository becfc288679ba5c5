package acceptance_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/leakbench/leakbench/internal/cpuload"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/test/trickhost"
)

// The variables that steer the tricks.
const (
	seriesEnv = "LEAKBENCH_SERIES" // how often each trick is played in each of the three ways; "": once
	benchEnv  = "LEAKBENCH_BENCH"  // another binary that judges, for a look at an old one
	todayEnv  = "LEAKBENCH_TODAY"  // hold the answers against those of the table's Today
	waysEnv   = "LEAKBENCH_WAYS"   // only these of calm, busy, pinned
	sideEnv   = "LEAKBENCH_SIDE"   // how many tricks are played at the same time; 3
)

// sideInSeries is how many tricks a series plays at the same time.
func sideInSeries() int {
	if n, err := strconv.Atoi(os.Getenv(sideEnv)); err == nil && n > 0 {
		return n
	}
	return 3
}

// TestTricks plays each trick once: the verdict must be the right one, and the second judge must agree on whether something was left.
// The first tier plays the first trick of each group, and keeps no processor busy.
func TestTricks(t *testing.T) {
	t.Parallel()
	if os.Getenv(seriesEnv) != "" {
		t.Skip("the series plays them")
	}
	whole, begun := tier.Plays(tier.Tricks), map[int]bool{}
	names := map[string]bool{}
	for _, k := range trickhost.All() {
		name := fmt.Sprintf("%02d-%s-%s", k.Group, k.Name, strings.TrimSuffix(k.Scenario, ".yaml"))
		require.False(t, names[name], name)
		names[name] = true
		if !whole && (begun[k.Group] || k.Slow || k.Root && os.Getuid() != 0) {
			continue
		}
		calm := k.Busy && !whole // another cell than the one beside busy loops
		k.Busy = k.Busy && whole
		begun[k.Group] = true
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if k.Slow {
				t.Skip("a series plays it")
			}
			if k.Root && os.Getuid() != 0 {
				t.Skip("needs the rights of root")
			}
			if os.Getenv(todayEnv) != "" && k.Today != "" {
				defer takeTurn(t, besideAll, short)()
				a := playTrick(t, k)
				assert.True(t, a.wrong(k.Want) == "" || slices.Contains(strings.Split(k.Today, " | "), a.short()), "%s, not %s", a.short(), k.Today)
				return
			}
			playRightly(t, k)
			if !t.Failed() && !calm {
				tier.Played(t, trickhost.Prefix+k.Name, k.Scenario, wantText(k.Want))
			}
		})
	}
}

// playRightly plays a trick: the verdict must be right, and the second judge must agree with it. Where a doubt is left, or something
// goes by the clock, it is played again alone; how often it is right at once is what the series counts. Busy loops are nobody's
// company: they have the machine to themselves at once.
func playRightly(t *testing.T, k trickhost.Trick) {
	t.Helper()
	first := besideAll
	if k.Busy {
		first = alone
	}
	trickProgram.path(t) // before a turn, in which others would wait for it
	a := untilFinal(t, first, short, func(company) (trickAnswer, verdictIs) {
		a := playTrickBusily(t, k)
		t.Logf("%-26s %s; wrong: %q, the second judge: %v, %v", k.Name, a.short(), a.wrong(k.Want), a.Naive, a.Took.Round(time.Millisecond))
		return a, a.is(k.Want)
	})
	assert.Empty(t, a.wrong(k.Want), "%s\n%s\n%s", k.About, a.short(), a.Words)
	assertNaive(t, a)
}

// wantText is a verdict in the list of cells.
func wantText(w trickhost.Want) string {
	return strings.Join(append([]string{w.Outcome}, w.Laws...), " ")
}

// playTrickBusily plays a trick beside busy loops where it is for such a machine.
func playTrickBusily(t *testing.T, k trickhost.Trick) trickAnswer {
	t.Helper()
	if k.Busy {
		defer keepBusy(t)()
	}
	return playTrick(t, k)
}

// assertNaive holds the second judge against the first.
func assertNaive(t *testing.T, a trickAnswer) {
	t.Helper()
	assert.False(t, a.disagrees(), "the second judge says that this was left: %v", a.Naive)
}

// disagrees says that one judge found something left and the other did not.
func (a trickAnswer) disagrees() bool {
	return a.Outcome != trickhost.Inconclusive && !a.Unseen && opposed(a.Laws, a.Kinds, a.Naive)
}

func keepBusy(t *testing.T) func() {
	t.Helper()
	stop, err := cpuload.Start(context.WithoutCancel(t.Context()), built(t), busyLoops)
	require.NoError(t, err)
	return stop
}

const busyLoops = 8

// TestTrickSeries plays each trick many times: calm, beside eight busy loops,
// and pinned to one processor beside busy loops.
func TestTrickSeries(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv(seriesEnv))
	if err != nil || n < 1 {
		t.Skip(seriesEnv + " is not set")
	}
	for _, k := range trickhost.All() {
		t.Run(fmt.Sprintf("%02d-%s-%s", k.Group, k.Name, strings.TrimSuffix(k.Scenario, ".yaml")), func(t *testing.T) {
			for _, way := range seriesWays() {
				s := playSeries(t, func(prefix ...string) trickAnswer { return playTrick(t, k, prefix...) }, k.Want, k.Busy, way, n)
				t.Logf("%-7s %s", way, s)
				if way == "calm" {
					assert.Equal(t, n, s.right, "%s: %s", way, s)
					assert.Len(t, s.prints, 1, "%s: %s", way, s)
					assert.Zero(t, s.naive, "%s: %s", way, s)
				} else {
					assert.GreaterOrEqual(t, 4*s.right, 3*n, "%s: %s", way, s)
					assert.Zero(t, s.wrong, "%s: %s", way, s)
				}
			}
		})
	}
}

// seriesWays are the ways in which a series is played: all three, or those of
// the variable.
func seriesWays() []string {
	if some := os.Getenv(waysEnv); some != "" {
		return strings.Split(some, ",")
	}
	return []string{"calm", "busy", "pinned"}
}

type series struct {
	n, right, inconclusive, wrong int
	answers                       map[string]int
	prints                        map[string]bool // the fingerprints of each play
	naive                         int             // in how many plays the second judge did not agree
	unexplained                   int             // inconclusive without starvation that was measured
}

func (s series) String() string {
	return fmt.Sprintf("%d/%d right, %d inconclusive (%d without starvation), %d wrong, %d sets of fingerprints, %d times the second judge disagrees: %v",
		s.right, s.n, s.inconclusive, s.unexplained, s.wrong, len(s.prints), s.naive, s.answers)
}

// playSeries plays something n times in a way; busy has it beside busy loops in every way.
func playSeries(t *testing.T, play func(prefix ...string) trickAnswer, want trickhost.Want, busy bool, way string, n int) series {
	t.Helper()
	s := series{n: n, answers: map[string]int{}, prints: map[string]bool{}}
	var prefix []string
	if way != "calm" || busy {
		defer keepBusy(t)()
	}
	if way == "pinned" {
		prefix = []string{"taskset", "-c", strconv.Itoa(lastProcessor(t))}
	}
	side := 1
	if way == "calm" && !busy {
		side = sideInSeries()
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	turn := make(chan struct{}, side)
	for range n {
		turn <- struct{}{}
		wg.Go(func() {
			defer func() { <-turn }()
			a := play(prefix...)
			mu.Lock()
			defer mu.Unlock()
			s.answers[a.short()]++
			s.prints[strings.Join(a.Prints, " ")] = true
			if a.disagrees() {
				s.naive++
			}
			switch {
			case a.wrong(want) == "":
				s.right++
			case a.mayBe(want):
				s.inconclusive++
				if !slices.Contains(a.Doubts, string(record.DoubtStarved)) && !slices.Contains(a.Doubts, string(record.DoubtStretched)) {
					s.unexplained++
				}
			default:
				s.wrong++
			}
		})
	}
	wg.Wait()
	return s
}

// lastProcessor is the last one that this process may use.
func lastProcessor(t *testing.T) int {
	t.Helper()
	var set unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &set))
	for i := 1023; i >= 0; i-- {
		if set.IsSet(i) {
			return i
		}
	}
	t.Fatal("no processor")
	return -1
}
