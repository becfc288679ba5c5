package verdict

import (
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// fast makes a run one whose user wanted no long wait.
func (p *play) fast() *play {
	l := &p.run.Header.Limits
	l.Settle, l.Confirm, l.Fast = record.Duration(15*s), record.Duration(10*s), record.Duration(2*s)
	return p
}

// givenUp is a checkpoint that gives up early what is there; between the look and its end something may happen yet.
func (p *play) givenUp(name string, then func(), wants ...record.Want) {
	p.latecomers()
	cp := record.Checkpoint{Name: name, Wants: append(wants, p.beside...), HostGone: p.hostGone()}
	p.add(record.Event{Kind: record.CheckpointBegun, Checkpoint: &cp})
	p.wait(2 * s)
	p.look(record.CensusSettled, name)
	p.wait(10 * ms)
	if then != nil {
		then()
	}
	cp.Early, cp.Waited = record.EarlyFast, record.Duration(2*s)
	p.add(record.Event{Kind: record.CheckpointEnded, Checkpoint: &cp})
}

var fastCases = []caseOf{
	{
		kind: "still-running",
		show: func(p *play) *record.Run {
			a := p.fast().open("s1", "flaky")
			p.fault(a, "order", "close-stdout", true)
			p.open("s1", "flaky")
			p.givenUp("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // it ended in time
			a := p.fast().open("s1", "flaky")
			p.fault(a, "order", "close-stdout", true)
			p.open("s1", "flaky")
			p.bye(a)
			p.quiet("after", want("flaky", "s1", 1))
			return p.done()
		},
	},
	{
		kind: "still-zombie",
		show: func(p *play) *record.Run {
			a := p.fast().open("s1", "flaky")
			p.fault(a, "order", "exit", true)
			p.zombie(a)
			p.open("s1", "flaky")
			p.givenUp("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
		near: func(p *play) *record.Run { // the full wait
			a := p.open("s1", "flaky")
			p.fault(a, "order", "exit", true)
			p.zombie(a)
			p.open("s1", "flaky")
			p.restless("after", nil, want("flaky", "s1", 1))
			return p.done()
		},
	},
}

// decided are the words for what only a full wait shows.
var decided = regexp.MustCompile(`(?i)\b(late|leaks?|leaked)\b`)

// TestWhatWasGivenUpIsNotDecided: each kind that goes by the full wait is still running (or not reaped) in a fast run, in words that claim no
// more, and whoever has the full finding in a list knows it again.
func TestWhatWasGivenUpIsNotDecided(t *testing.T) {
	t.Parallel()
	ended := func(p *play, in func(*play), wants ...record.Want) func(fast bool) Verdict {
		return func(fast bool) Verdict {
			*p = *newPlay()
			if fast {
				p.fast()
			}
			in(p)
			look := p.restless
			if fast {
				look = p.givenUp
			}
			look("after", nil, wants...)
			if p.hostGone() {
				return Judge(p.over(record.End{Reason: "done"}))
			}
			clear(p.procs)
			return Judge(p.done())
		}
	}
	for full, c := range map[string]struct {
		kind string
		in   func(p *play)
		want []record.Want
	}{
		"abandoned": {"still-running", func(p *play) { p.open("s1", "flaky"); p.close("s1", "flaky", func() {}) }, []record.Want{want("flaky", "s1", 0)}},
		"orphan": {"still-running", func(p *play) {
			a := p.open("s1", "flaky")
			p.stop("kill", nil)
			row := p.procs[p.ids[a]]
			row.PPID = keeperPID
			p.procs[p.ids[a]] = row
		}, nil},
		"helper": {"still-running", func(p *play) {
			a := p.open("s1", "flaky")
			p.stop("stop", func() { p.bye(a) })
			p.helperAt(500, record.Process{PPID: keeperPID, SID: hostPID, Comm: "chrome"})
		}, nil},
		"zombie": {"still-zombie", func(p *play) {
			a := p.open("s1", "flaky")
			p.fault(a, "order", "exit", true)
			p.zombie(a)
			p.open("s1", "flaky")
		}, []record.Want{want("flaky", "s1", 1)}},
	} {
		t.Run(full, func(t *testing.T) {
			t.Parallel()
			judge := ended(&play{}, c.in, c.want...)
			v, before := judge(true), judge(false)
			require.Equal(t, []string{c.kind}, kindsIn(v), account(v))
			require.Contains(t, kindsIn(before), full, account(before))
			f, then := v.Findings[0], before.Findings[slices.Index(kindsIn(before), full)]
			complete(t, f)
			assert.Equal(t, Leak, v.Outcome)
			assert.Contains(t, f.Aliases, then.Fingerprint, "a list knows it by the finding of the full wait")
			assert.Equal(t, then.Fix, f.Fix, "what is to be done is the same")
			assert.Contains(t, f.Title, "after 2 s")
			assert.Contains(t, f.Why, "The full wait, without --fast, takes up to 25 s, and tells a slow")
			for _, text := range []string{f.Title, f.Expected, f.Found, f.Why} {
				assert.NotRegexp(t, decided, text)
			}
		})
	}
}

// TestWhatIsABreachAtOnce stays what it is: a server that was launched for a session which had ended.
func TestWhatIsABreachAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlay().fast()
	a := p.open("s1", "flaky")
	p.close("s1", "flaky", func() { p.bye(a) })
	p.wait(300 * ms)
	p.greet(p.launch("flaky", "s1"))
	p.givenUp("after", nil, want("flaky", "s1", 0))
	clear(p.procs)
	only(t, Judge(p.done()), "ghost")
}

// TestWhatGoesAsItIsGivenUp is not late: the settle time was not over. After the settle time, it is.
func TestWhatGoesAsItIsGivenUp(t *testing.T) {
	t.Parallel()
	for settled, kind := range map[bool]string{false: "still-running", true: "late"} {
		p := newPlay().fast()
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() {})
		p.givenUp("after", func() {
			p.bye(a)
			if settled { // within the 2 s
				p.run.Header.Limits.Settle = record.Duration(s)
				p.look(record.CensusConfirm, "after")
			}
		}, want("flaky", "s1", 0))
		only(t, Judge(p.done()), kind)
	}
}

// TestAZombieThatWasReapedAfterItWasGivenUp may have been in time.
func TestAZombieThatWasReapedAfterItWasGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlay().fast()
	p.add(record.Event{Kind: record.BystanderSeen, Text: record.StandsAsTwin, Process: &record.Process{PPID: keeperPID}, Exit: &record.Exit{Signal: "SIGKILL"}})
	a := p.open("s1", "flaky")
	p.fault(a, "order", "exit", true)
	p.zombie(a)
	p.open("s1", "flaky")
	p.givenUp("after", nil, want("flaky", "s1", 1))
	delete(p.procs, p.ids[a])
	p.look(record.CensusSample, "")
	v := Judge(p.done())
	i := slices.Index(kindsIn(v), "still-zombie")
	require.GreaterOrEqual(t, i, 0, account(v))
	assert.NotContains(t, kindsIn(v), "late-reaped")
	assert.Contains(t, v.Findings[i].Values[0], "and still one", "when it was given up")
}

// TestGivenUpKinds go by the clock: beside other runs they are made sure of.
func TestGivenUpKinds(t *testing.T) {
	t.Parallel()
	early := 0
	for _, k := range law.Kinds() {
		if k.Early {
			early++
			assert.True(t, k.Timed(), k.ID)
		}
	}
	assert.Equal(t, 2, early)
}
