package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// controlled is a play whose servers were tried without the host.
func controlled(p *play, c record.Control) {
	p.run.Header.Limits.Controls = true
	c.Label = "flaky"
	p.add(record.Event{Kind: record.Controlled, Control: &c})
}

var (
	tidy = record.Control{Answered: true, SawEOF: true, Exited: true, After: record.Duration(3 * ms)}
	deaf = record.Control{
		Answered: true, SawEOF: true, After: record.Duration(300 * ms),
		Faults: []record.Fault{{On: "eof", Do: "ignore", Passive: true}},
	}
)

func TestControlDoubts(t *testing.T) {
	t.Parallel()
	with := func(c record.Control) func(*play) { return func(p *play) { controlled(p, c) } }
	for name, c := range map[string]struct {
		spoil func(*play)
		code  record.DoubtCode
	}{
		"a file of before":        {func(*play) {}, ""},
		"a server that exits":     {with(tidy), ""},
		"a deaf one, as it says":  {with(deaf), ""},
		"no control":              {func(p *play) { p.run.Header.Limits.Controls = true }, record.DoubtControlMissing},
		"a control of another":    {func(p *play) { controlled(p, tidy); p.run.Events[len(p.run.Events)-1].Control.Label = "x" }, record.DoubtControlMissing},
		"mute without a fault":    {with(record.Control{}), record.DoubtControlFailed},
		"deaf without a fault":    {with(record.Control{Answered: true, SawEOF: true, After: record.Duration(10 * s)}), record.DoubtControlFailed},
		"slow without a fault":    {with(record.Control{Answered: true, SawEOF: true, Exited: true, After: record.Duration(6 * s)}), record.DoubtControlLate},
		"ended by somebody else":  {with(record.Control{Answered: true}), record.DoubtControlFailed},
		"mute as its fault says":  {with(record.Control{Faults: []record.Fault{{On: "initialize", Do: "hang"}}}), ""},
		"an event with no detail": {func(p *play) { p.add(record.Event{Kind: record.Controlled}) }, record.DoubtMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			c.spoil(p)
			v := Judge(simple(p))
			var codes []record.DoubtCode
			for _, d := range v.Doubts {
				codes = append(codes, d.Code)
			}
			if c.code == "" {
				assert.Equal(t, Clean, v.Outcome, "%+v", v.Doubts)
				return
			}
			assert.Equal(t, []record.DoubtCode{c.code}, codes)
			assert.Equal(t, Inconclusive, v.Outcome)
		})
	}
}

// A control counts for nothing else: not as a server, not as one that is left.
func TestControlIsNoServer(t *testing.T) {
	t.Parallel()
	before := Judge(simple(newPlay()))
	p := newPlay()
	controlled(p, tidy)
	after := Judge(simple(p))
	assert.Equal(t, before.Spawned, after.Spawned)
	assert.Equal(t, before.PeakLive, after.PeakLive)
	assert.Equal(t, before.Laws, after.Laws)
}

// The story of a survivor says what the server does by itself.
func TestControlInTheStory(t *testing.T) {
	t.Parallel()
	told := func(c *record.Control, faults ...record.Fault) Finding {
		p := newPlay()
		if c != nil {
			controlled(p, *c)
		}
		first := p.open("s1", "flaky")
		for i := range faults {
			p.add(record.Event{Kind: record.Faulted, Server: first, Fault: &faults[i]})
		}
		second := p.open("s1", "flaky")
		p.restless("after", func() { p.examined(first) }, want("flaky", "s1", 1))
		p.stop("stop", func() { p.bye(first); p.bye(second) })
		v := Judge(p.done())
		require.Len(t, v.Findings, 1)
		return v.Findings[0]
	}
	assert.Contains(t, told(&tidy).Why, "Without the host, the same server exits 3 ms after stdin EOF.")
	assert.Contains(t, told(&deaf).Why, "as scripted (ignore on eof)")
	assert.NotContains(t, told(nil).Why, "Without the host")
	own := told(&tidy, record.Fault{On: "eof", Do: "ignore", Passive: true})
	assert.NotContains(t, own.Why, "Without the host", "this launch had a fault that the control had not")
	mute := told(&tidy, record.Fault{On: "call", Do: "stop-reading", Breaks: true})
	assert.NotContains(t, mute.Why, "Without the host", "it could not see the end of its stdin any more")
	assert.Contains(t, mute.Why, "It no longer reads its stdin, as scripted (stop-reading on call): it has to be killed.")
	assert.Equal(t, told(nil).Fingerprint, told(&tidy).Fingerprint, "a measured time is no cause")
}
