package acceptance_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/keeper"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/scenarios"
)

// playUntil plays a scenario for real and judges what was saved. What leaves a doubt beside others, or goes by the clock there, is
// played again alone, as leakbench run -j does. Every other verdict is final, and the second judge must agree with it. Of two cells that
// take as long, the one whose scenario waits more often begins first.
func playUntil(t *testing.T, long time.Duration, c play.Cell, limits play.Limits, want wanted) verdict.Judged {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	needsPlace(t, c.Scenario)
	bench := play.Bench{Self: self, Limits: limits}
	c.Seed = 1
	long += time.Duration(c.Scenario.Waits()) * time.Second
	last := untilFinal(t, besideAll, long, func(among company) (verdict.Judged, verdictIs) {
		c.Dir = filepath.Join(t.TempDir(), "run")
		j, err := watched(t, among == alone, bench.One)(t.Context(), c)
		require.NoError(t, err, "%s", tail(filepath.Join(c.Dir, observe.HostLog)))
		is := verdictIs{right: want.is(*j), certain: certain(*j), timed: byTheClock(*j) || !seesStarvation}
		if !is.right {
			t.Logf("%s on %s: %s\n%s", c.Scenario.Name, c.Host.Name, j.Verdict.Outcome, account(*j))
		}
		return *j, is
	})
	if want.is(last) {
		tier.Played(t, c.Host.Name, c.Scenario.Name, want.text)
	}
	return last
}

// wanted is the verdict that is right.
type wanted struct {
	text string // in the list of cells: the laws that are broken, or "clean"
	is   func(verdict.Judged) bool
}

// verdictIs is what decides whether something is played again.
type verdictIs struct {
	right   bool // as expected
	certain bool // without a doubt
	timed   bool // a clock made a finding, or may have: the host has clocks, too, and a run can't say here that they ran out
}

// tries are the companies in which something is played until it is decided.
var tries = []company{besideAll, besideFew, alone, alone}

// untilFinal plays something until its verdict is right or final, and returns the last one: the first time in such company, then beside
// few, then alone. A wrong verdict without a doubt is final, and one by the clock when it was played alone. A right one may be uncertain only
// where the caller says so.
func untilFinal[V any](t *testing.T, first company, long time.Duration, play func(among company) (V, verdictIs)) (last V) {
	t.Helper()
	for _, among := range tries {
		if among < first {
			continue
		}
		done := takeTurn(t, among, long)
		v, is := play(among)
		done()
		if last = v; is.right || is.certain && (among == alone || !is.timed) {
			break
		}
	}
	return last
}

// certain says that a verdict leaves no doubt.
func certain(j verdict.Judged) bool {
	return j.Verdict.Outcome != verdict.Inconclusive && len(j.Verdict.Doubts) == 0
}

// settled is certain, but for servers that a host has killed before they got to their faults.
func settled(j verdict.Judged, laws string) bool {
	return j.Verdict.Outcome != verdict.Inconclusive && len(unexplained(j, laws)) == 0
}

// unexplained are the doubts that what a host breaks does not account for.
func unexplained(j verdict.Judged, laws string) (all []verdict.Doubt) {
	for _, d := range j.Verdict.Doubts {
		if d.Code != record.DoubtNotFired || !strings.Contains(laws, "L3") {
			all = append(all, d)
		}
	}
	return all
}

// byTheClock says that a clock made a finding: others on the machine may have pushed it.
func byTheClock(j verdict.Judged) bool {
	return slices.ContainsFunc(j.Verdict.Findings, func(f verdict.Finding) bool { return isTimed(f.Kind) })
}

func isTimed(kind string) bool {
	k := law.KindOf(kind)
	return k.Timed()
}

// breaks says of a verdict that these laws are broken, and that it leaves no doubt.
func breaks(laws string) wanted {
	return wanted{cmp.Or(laws, "clean"), func(j verdict.Judged) bool { return settled(j, laws) && brokenLaws(j.Verdict) == laws }}
}

// doubts says of a verdict that this is why nothing can be said.
func doubts(code record.DoubtCode) wanted {
	return wanted{"doubt " + string(code), func(j verdict.Judged) bool {
		return slices.ContainsFunc(j.Verdict.Doubts, func(d verdict.Doubt) bool { return d.Code == code })
	}}
}

func cellOf(s *scenarios.Scenario, spec subject.Spec) play.Cell {
	return play.Cell{Scenario: s, Host: play.Host{Spec: spec}}
}

func builtin(t *testing.T, name string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Builtin(name)
	require.NoError(t, err)
	return s
}

func builtinHost(t *testing.T, name string) subject.Spec {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	spec, err := subject.Lookup(self, name)
	require.NoError(t, err)
	return spec
}

var places sync.Map // of what TryPlace says

// needsPlace skips where the host can't live where the scenario wants it.
func needsPlace(t *testing.T, s *scenarios.Scenario) {
	t.Helper()
	if lacking[s.Name] != "" { // it is to say so
		return
	}
	try, _ := places.LoadOrStore(s.Place, sync.OnceValue(func() error { return keeper.TryPlace(s.Place) }))
	if err := try.(func() error)(); err != nil {
		if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
			t.Fatalf("the host can't live in %s here: %v", s.Place, err)
		}
		t.Skipf("the host can't live in %s here: %v", s.Place, err)
	}
}

func tail(path string) string {
	text, _ := os.ReadFile(path)
	return string(text[max(0, len(text)-2000):])
}
