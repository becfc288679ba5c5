package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestAServerThatWorkedIsKilled: who is newest does not excuse a death without
// a word.
func TestAServerThatWorkedIsKilled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		course func(p *play, a string)
		kinds  []string
	}{
		"after a new one was launched":  {func(p *play, a string) { p.greet(p.launch("flaky", "s1")); p.dead(a) }, []string{"killed"}},
		"before a new one was launched": {func(p *play, a string) { p.dead(a); p.greet(p.launch("flaky", "s1")) }, []string{"killed"}},
		"in order, after a new one":     {func(p *play, a string) { p.greet(p.launch("flaky", "s1")); p.bye(a) }, nil},
		"broken, after a new one": {func(p *play, a string) {
			p.fault(a, "order", "hang", true)
			p.greet(p.launch("flaky", "s1"))
			p.dead(a)
		}, nil},
		"after its session was opened again": {func(p *play, a string) { p.open("s1", "flaky"); p.dead(a) }, nil},
		"the probe beside it":                {func(p *play, _ string) { b := p.launch("flaky", "s1"); p.greet(b); p.dead(b) }, []string{"killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.open("other", "steady")
			a := p.open("s1", "flaky")
			p.call(a, "s1", "flaky", "")
			c.course(p, a)
			v := Judge(p.done())
			assert.ElementsMatch(t, c.kinds, kindsIn(v), account(v))
		})
	}
	p := newPlay()
	a := p.open("s1", "flaky")
	p.greet(p.launch("flaky", "s1"))
	p.dead(a)
	assert.Empty(t, Judge(p.done()).Findings, "it was never asked for work: another one is the session's")
}

// TestAProbeIsNobodysServer: one beside the session's own, ended in order and
// never asked for work, is missed by nobody.
func TestAProbeIsNobodysServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		course func(p *play, a, b string)
		kinds  []string
	}{
		"ended in order":            {func(p *play, _, b string) { p.bye(b) }, nil},
		"asked for work":            {func(p *play, _, b string) { p.ask(b); p.answer(b); p.bye(b) }, []string{"cut-off", "duplicate"}},
		"signalled first":           {func(p *play, _, b string) { p.term(b); p.bye(b) }, []string{"terminated", "duplicate"}},
		"with the session's own":    {func(p *play, a, b string) { p.bye(a); p.bye(b) }, []string{"cut-off"}},
		"after the session's own":   {func(p *play, a, b string) { p.dead(a); p.bye(b) }, []string{"cut-off"}},
		"beside one that is broken": {func(p *play, a, b string) { p.fault(a, "order", "hang", true); p.wait(s); p.bye(b) }, []string{"cut-off", "duplicate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			a := p.open("s1", "flaky")
			b := p.launch("flaky", "s1")
			p.greet(b)
			c.course(p, a, b)
			if c.kinds == nil {
				p.quiet("one-open", want("flaky", "s1", 1))
			} else {
				p.restless("one-open", func() {}, want("flaky", "s1", 1))
			}
			v := Judge(p.done())
			assert.ElementsMatch(t, c.kinds, kindsIn(v), account(v))
		})
	}
}

// TestAnOpenThatTheHostGaveUp: a signal to its server is the host's manners,
// unless the host was about other sessions at that moment.
func TestAnOpenThatTheHostGaveUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after func(p *play, other string)
		kill          bool
		kinds         []string
	}{
		"SIGTERM":                             {kinds: nil},
		"SIGKILL":                             {kill: true},
		"SIGKILL, and another's server":       {kill: true, after: func(p *play, other string) { p.dead(other) }, kinds: []string{"killed", "killed"}},
		"SIGTERM, while another is reloaded":  {before: func(p *play, _ string) { p.begin(record.Step{Op: "reload", Label: "steady"}) }, kinds: []string{"terminated"}},
		"SIGKILL, long after another's death": {kill: true, before: func(p *play, other string) { p.fault(other, "order", "exit", true); p.dead(other); p.wait(s) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			other := p.open("other", "steady")
			if c.before != nil {
				c.before(p, other)
			}
			p.openFails("s1", "flaky", func() {
				a := p.launch("flaky", "s1")
				p.greet(a)
				if !c.kill {
					p.term(a)
				}
				p.dead(a)
			})
			if c.after != nil {
				c.after(p, other)
			}
			v := Judge(p.done())
			var kinds []string
			for _, f := range v.Findings {
				if f.Law == "L3" {
					kinds = append(kinds, f.Kind)
				}
			}
			assert.ElementsMatch(t, c.kinds, kinds, account(v))
		})
	}
}
