package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestWhichOfARaceStaysIsTheHostsChoice: of two servers launched by opens side
// by side the newest may go, while the other lives.
func TestWhichOfARaceStaysIsTheHostsChoice(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sideBySide, bothGo bool
		want               []string
	}{
		"side by side":             {true, false, nil},
		"side by side, both go":    {true, true, []string{"terminated"}},
		"one open after the other": {false, false, []string{"superseded", "terminated"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			open := record.Step{Op: "open", Session: "s1", Label: "flaky"}
			one := p.begin(open)
			p.session("s1", "flaky", record.SessionOpening, "", false)
			first := p.launch("flaky", "s1")
			p.greet(first)
			if !c.sideBySide {
				p.session("s1", "flaky", record.SessionOpen, "", false)
				p.end(one, "")
			}
			two := p.begin(open)
			p.session("s1", "flaky", record.SessionOpening, "", false)
			second := p.launch("flaky", "s1")
			p.greet(second)
			p.session("s1", "flaky", record.SessionOpen, "", false)
			p.term(second)
			p.dead(second)
			p.end(two, "")
			if c.sideBySide {
				p.session("s1", "flaky", record.SessionOpen, "", false)
				p.end(one, "")
			}
			if c.bothGo {
				p.term(first)
				p.dead(first)
			}
			if c.bothGo || !c.sideBySide {
				p.restless("after", func() {}, want("flaky", "s1", 1))
			} else {
				p.quiet("after", want("flaky", "s1", 1))
			}
			v := Judge(p.done())
			assert.ElementsMatch(t, c.want, kindsIn(v), account(v))
		})
	}
}

// TestToldToEndBeforeItsSessionWasOpen: the host calls a session open on a
// server that it has just signalled, and that dies a little later.
func TestToldToEndBeforeItsSessionWasOpen(t *testing.T) {
	t.Parallel()
	p := newPlay()
	st := p.begin(record.Step{Op: "open", Session: "s1", Label: "flaky"})
	p.session("s1", "flaky", record.SessionOpening, "", false)
	srv := p.launch("flaky", "s1")
	p.greet(srv)
	p.term(srv)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.end(st, "")
	p.dead(srv)
	p.call(srv, "s1", "flaky", "transport closed")
	v := Judge(p.done())
	assert.Equal(t, []string{"terminated"}, kindsIn(v), account(v))
	assert.Empty(t, v.Doubts)
}
