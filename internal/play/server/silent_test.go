package server_test

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	observeserver "github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/server"
)

// A server that never answers is waited for by one check, whoever has room.
func TestASilentServerIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	var prints sync.Map // by fingerprint
	t.Cleanup(func() {
		n := 0
		prints.Range(func(any, any) bool { n++; return true })
		assert.Equal(t, 1, n, "it is the same finding, whichever check met it")
	})
	for _, c := range []struct {
		jobs          int
		checks        []string
		played, found int
	}{
		{8, []string{"eof", "eof-start", "eof-call", "epipe", "idle"}, 2, 1},
		{1, []string{"eof", "eof-start", "eof-call", "epipe", "idle"}, 2, 1},
		{8, []string{"epipe", "idle"}, 1, 1},
		{8, []string{"eof-start"}, 1, 0},
	} {
		t.Run(fmt.Sprint(c.jobs, c.checks), func(t *testing.T) {
			t.Parallel()
			bench, series := play.Bench{Self: self, Out: t.TempDir()}, play.Series{Jobs: c.jobs}
			one, err := server.Plan(server.Params{
				Checks: named(c.checks...), Limits: observeserver.Limits{Start: 700 * time.Millisecond, Grace: 3 * time.Second},
			}, fake("--fault", "on=initialize,do=hang"), &bench, &series)
			require.NoError(t, err)
			tries, not, err := series.Play(t.Context(), one)
			require.NoError(t, err)
			assert.Len(t, tries, c.played, c.checks)
			assert.Len(t, not, len(c.checks)-c.played, c.checks)
			for _, n := range not {
				assert.Contains(t, n.Why, "had not answered initialize in the check "+c.checks[0])
			}
			found := 0
			for _, try := range tries {
				if again := try.Run.Header.Again; again != "" { // on a busy machine, and on Windows, which does not say how busy it is
					assert.Equal(t, "a finding rests on elapsed time", again)
				}
				for _, f := range try.Verdict.Findings {
					assert.Equal(t, "S1 silent", f.Law+" "+f.Kind)
					prints.Store(f.Fingerprint, true)
					found++
				}
			}
			assert.Equal(t, c.found, found, c.checks)
		})
	}
}

// The first check that greets is the one that the others wait for, so it has to begin before them, and none may be in between.
func TestTheFirstTwoChecksNeedNoOther(t *testing.T) {
	t.Parallel()
	checks := observeserver.Checks()
	assert.True(t, checks[0].Greets())
	assert.False(t, checks[1].Greets())
	assert.Len(t, slices.DeleteFunc(checks, observeserver.Check.Greets), 1)
}
