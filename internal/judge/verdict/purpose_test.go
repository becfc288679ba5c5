package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

func statusOf(v Verdict, law string) LawResult {
	for _, r := range v.Laws {
		if r.Law == law {
			return r
		}
	}
	return LawResult{}
}

func about(p *play, laws ...string) {
	p.run.Header.Plan.Evidence, p.run.Header.Plan.Laws = true, laws
}

// A law is kept only where something shows it.
func TestKeptNeedsEvidence(t *testing.T) {
	t.Parallel()
	closes := func(p *play) {
		a := p.open("s1", "flaky")
		p.close("s1", "flaky", func() { p.eof(a); p.bye(a); p.dead(a) })
		p.quiet("after", want("flaky", "s1", 0))
	}
	opens := func(p *play) {
		p.open("s1", "flaky")
		p.quiet("after", want("flaky", "s1", 1))
	}
	fails := func(p *play) {
		a := p.launch("flaky", "s1")
		p.eof(a)
		p.bye(a)
		p.dead(a)
		p.quiet("after", want("flaky", "s1", 0))
	}
	for _, c := range []struct {
		law    string
		with   func(*play)
		kept   bool
		reason string
	}{
		{"L1", closes, true, ""},
		{"L1", opens, false, "no server had to be gone while the host lived"},
		{"L3", opens, true, ""},
		{"L3", closes, true, ""},
		{"L3", fails, false, "no session was opened"},
		{"L4", closes, true, ""},
		{"L4", opens, false, "no server died while the host lived"},
	} {
		for _, listed := range []bool{true, false} {
			p := newPlay()
			about(p)
			if listed {
				about(p, c.law)
			}
			c.with(p)
			v := Judge(p.done())
			r := statusOf(v, c.law)
			assert.Equal(t, c.kept, r.Status == LawKept, "%s %s", c.law, account(v))
			assert.Equal(t, c.reason, r.Reason, c.law)
			if listed && !c.kept {
				assert.Equal(t, []record.DoubtCode{record.DoubtNotJudged}, codesIn(v), account(v))
				assert.Equal(t, Inconclusive, v.Outcome)
			} else {
				assert.Equal(t, Clean, v.Outcome, account(v))
			}
		}
		old := newPlay() // a run of before the rule
		c.with(old)
		assert.Equal(t, Clean, Judge(old.done()).Outcome)
	}
}

// A server that died with the host had not to be waited for.
func TestWhatDiedWithTheHostShowsNothing(t *testing.T) {
	t.Parallel()
	p := newPlay()
	about(p, "L4")
	a := p.open("s1", "flaky")
	p.quiet("after", want("flaky", "s1", 1))
	p.stop("stop", func() {})
	p.dead(a)
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, LawNotJudged, statusOf(v, "L4").Status)
}

func TestALawThatIsBrokenIsNoDoubt(t *testing.T) {
	t.Parallel()
	p := newPlay()
	about(p, "L1")
	p.open("s1", "flaky")
	p.close("s1", "flaky", func() {})
	p.restless("after", nil, want("flaky", "s1", 0))
	v := Judge(p.done())
	assert.Equal(t, Leak, v.Outcome)
	assert.Empty(t, v.Doubts)
}

func TestStepsThatTheScenarioIsAbout(t *testing.T) {
	t.Parallel()
	play := func(planned, played, skipped int) Verdict {
		p := newPlay()
		p.run.Header.Plan.Defining = planned
		for range played {
			p.end(p.begin(record.Step{Op: "await", Label: "flaky", Defining: true}), "")
		}
		for range skipped {
			st := p.begin(record.Step{Op: "reload", Label: "flaky", Defining: true, Unasked: true})
			st.Error = "the host holds one server"
			p.add(record.Event{Kind: record.StepSkipped, Step: &st})
		}
		return Judge(simple(p))
	}
	assert.Equal(t, Clean, play(2, 2, 0).Outcome)
	assert.Equal(t, Clean, play(0, 0, 1).Outcome, "an old file")
	v := play(2, 1, 1)
	assert.Equal(t, []Doubt{{
		Code: record.DoubtNotPlayed, Text: `1 step that this scenario is about was not run: "the host holds one server"`,
	}}, v.Doubts)
	assert.Equal(t, Inconclusive, v.Outcome)
	assert.Contains(t, play(2, 0, 0).Doubts[0].Text, "2 steps that this scenario is about were not run: the run did not reach it")
}
