package fakeserver_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/record"
)

// TestProbabilityFollowsTheSeed: each launch does what Due said it would,
// whether the bench or a flag gave it the seed.
func TestProbabilityFollowsTheSeed(t *testing.T) {
	t.Parallel()
	f := fakeserver.Fault{On: "initialize", Do: "reject", Probability: 0.5}
	want, rejected := map[bool]int{}, []bool{}
	const seed, launches = 9007199254740993, 8 // a seed that a float64 does not hold
	b := newSeededLab(t, seed, map[string]fakeserver.Script{"flaky": {Faults: []fakeserver.Fault{f}}})
	for n := 1; n <= launches; n++ {
		due := f.Due(seed, "flaky", n)
		want[due]++
		p, id := b.launch("flaky")
		p.send(initialize)
		assert.Equal(t, due, p.answer().Error != nil, id)
		rejected = append(rejected, due)
	}
	require.Len(t, want, 2, "a seed is needed with which some launches do it and some do not: %v", rejected)
	for n := 1; n <= launches; n++ {
		p := start(t, "fakeserver", "--label", "flaky", "--seed", strconv.Itoa(seed), "--launch", strconv.Itoa(n),
			"--fault", "on=initialize,do=reject,probability=0.5")
		p.send(initialize)
		assert.Equal(t, rejected[n-1], p.answer().Error != nil, "launch %d by hand", n)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	share := func(f fakeserver.Fault, seed uint64, label string) (pattern string, n int) {
		var b strings.Builder
		for launch := 1; launch <= 10_000; launch++ {
			mark := "-"
			if f.Due(seed, label, launch) {
				mark = "x"
				n++
			}
			if launch <= 40 {
				b.WriteString(mark)
			}
		}
		return b.String(), n
	}
	quarter := fakeserver.Fault{On: "call", Do: "hang", Probability: 0.25}
	base, n := share(quarter, 1, "a")
	assert.InDelta(t, 2500, n, 150)
	// Written down: a seed must mean the same in the next version.
	assert.Equal(t, "----x------x----------xx-x--xx--x--x----", base)
	seen := map[string]bool{base: true}
	for _, other := range []struct {
		f     fakeserver.Fault
		seed  uint64
		label string
	}{
		{quarter, 2, "a"},
		{quarter, 1, "b"},
		{fakeserver.Fault{On: "call", Do: "exit", Probability: 0.25}, 1, "a"},
		{fakeserver.Fault{On: "list", Do: "hang", Probability: 0.25}, 1, "a"},
	} {
		pattern, n := share(other.f, other.seed, other.label)
		assert.InDelta(t, 2500, n, 150)
		assert.False(t, seen[pattern], "it goes by seed, label, moment and action")
		seen[pattern] = true
	}
	for p, want := range map[float64]int{0.999: 9990, 0.01: 100} {
		_, n := share(fakeserver.Fault{On: "call", Do: "hang", Probability: p}, 7, "a")
		assert.InDelta(t, want, n, 40)
	}
	// It comes on top of every and launch.
	_, n = share(fakeserver.Fault{On: "call", Do: "hang", Probability: 0.25, Every: 2}, 1, "a")
	assert.InDelta(t, 1250, n, 120)
	_, n = share(fakeserver.Fault{On: "call", Do: "hang", Launch: 3}, 1, "a")
	assert.Equal(t, 1, n)
}

// TestAfter: so many pass, each one from then on does not.
func TestAfter(t *testing.T) {
	t.Parallel()
	p, _ := one(t, "", fakeserver.Fault{On: "call", Do: "reject", Tool: "echo", After: 2},
		fakeserver.Fault{On: "ping", Do: "reject", After: 1}).launch("s")
	p.greet()
	whoami := strings.Replace(callEcho, "echo", "whoami", 1)
	ping := `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	for i, step := range []struct {
		line   string
		failed bool
	}{
		{callEcho, false},
		{whoami, false},
		{ping, false},
		{callEcho, false},
		{whoami, false},
		{callEcho, true},
		{ping, true},
		{callEcho, true},
		{whoami, false},
		{ping, true},
	} {
		p.send(step.line)
		assert.Equal(t, step.failed, p.answer().Error != nil, "step %d", i)
	}
}

// TestAfterCountsEachLaunchAnew, and requests that come all at once.
func TestAfterCountsEachLaunchAnew(t *testing.T) {
	t.Parallel()
	b := one(t, "", fakeserver.Fault{On: "call", Do: "exit", Code: 5, After: 3, Every: 2})
	for launch, want := range []int{0, 5, 0, 5} {
		p, id := b.launch("s")
		p.greet()
		for i := range 4 {
			p.send(strings.Replace(callEcho, `"id":3`, `"id":`+strconv.Itoa(10+i), 1))
		}
		if want == 0 {
			for range 4 {
				assert.Nil(t, p.answer().Error)
			}
			require.NoError(t, p.in.Close())
		}
		assert.Equal(t, want, p.status(), "launch %d is %s", launch+1, id)
	}
}

// TestLaunchersByChance: the launcher, which the bench gives the number, and
// the server behind it go by the same seed.
func TestLaunchersByChance(t *testing.T) {
	t.Parallel()
	f := fakeserver.Fault{On: "start", Do: "launcher", Probability: 0.5}
	s := fakeserver.Script{Faults: []fakeserver.Fault{f}}
	const seed = 3
	b := newSeededLab(t, seed, map[string]fakeserver.Script{"s": s})
	seen := map[bool]int{}
	for launch := 1; launch <= 6; launch++ {
		due := f.Due(seed, "s", launch)
		seen[due]++
		p, born := b.behind(t, s)
		p.greet()
		assert.Equal(t, launch, born.Birth.Launch)
		assert.Equal(t, due, born.Birth.PID != p.cmd.Process.Pid, "launch %d", launch)
		assert.Equal(t, due, slices.Contains(b.kinds(born.Server), record.Faulted), "launch %d", launch)
		require.NoError(t, p.in.Close())
		assert.Equal(t, 0, p.status())
	}
	assert.Len(t, seen, 2, "this seed decides nothing")
}

func TestSelective(t *testing.T) {
	t.Parallel()
	assert.False(t, fakeserver.Fault{On: "call", Do: "hang", Tool: "echo"}.Selective())
	for _, f := range []fakeserver.Fault{{Launch: 1}, {Every: 1}, {After: 1}, {Probability: 0.5}} {
		assert.True(t, f.Selective(), "%+v", f)
	}
}
