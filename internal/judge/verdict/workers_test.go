package verdict

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestGrowthOfAWorker: what the host holds it may hold in a worker that it had
// from its start. What it starts later, and old files, do not count.
func TestGrowthOfAWorker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		early, started bool
		kinds          []string
	}{
		"from its start": {true, true, []string{"fd-leak", "host-growth"}},
		"later":          {false, true, []string{}},
		"an old file":    {true, false, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.run.Header.Limits.GrowthPerCycle = mib
			worker := record.Process{PPID: hostPID, FDs: 5, RSS: 5 * mib}
			if c.early {
				p.helperAt(90, worker)
			}
			if c.started {
				p.started()
			}
			p.open("s1", "flaky")
			for n := range 10 {
				worker.FDs, worker.RSS = 5+n, int64(5+3*n)*mib
				p.helperAt(90, worker)
				p.cycle(n+1, 12, 10*mib, true)
			}
			clear(p.procs)
			assert.ElementsMatch(t, c.kinds, kindsIn(Judge(p.done())))
		})
	}
}

// TestKilledAfterAPause: that a server may not have got round to reading what it
// was told needs a machine that was starved, or a fault that kept it.
func TestKilledAfterAPause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		delayed time.Duration // in each of two looks
		fault   bool
		kinds   []string
		status  LawStatus
	}{
		"on a machine with time":      {0, false, []string{"killed-unasked"}, LawBroken},
		"after a moment's wait":       {15 * ms, false, []string{"killed-unasked"}, LawBroken},
		"on a starved machine":        {300 * ms, false, []string{}, LawNotJudged},
		"with a fault that has it so": {0, true, []string{}, LawNotJudged},
		"in an old file":              {-1, false, []string{}, LawKept},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			look := func(times time.Duration) {
				if c.delayed >= 0 {
					census := p.census()
					census.Role = record.CensusSample
					census.Load = &record.Load{Ran: record.Duration(times * 100 * ms), Delayed: record.Duration(times * c.delayed)}
					p.add(record.Event{Kind: record.CensusTaken, Census: census})
				}
			}
			look(1)
			v := Judge(closes(func(p *play, a string) {
				if c.fault {
					p.fault(a, "start", "stop-reading", false)
				}
				p.wait(400 * ms)
				p.dead(a)
				look(2)
			})(p))
			assert.Equal(t, c.kinds, kindsIn(v), account(v))
			assert.Equal(t, c.status, resultOf(v, "L9").Status, account(v))
		})
	}
}
