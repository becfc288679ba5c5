package verdict

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestASignalAtTheEndOfStdin: the order of two things that happen at once is
// not held against a host, that they happen at once is.
func TestASignalAtTheEndOfStdin(t *testing.T) {
	t.Parallel()
	both := func(p *play, a string, wait, gap time.Duration) {
		p.wait(wait)
		p.eof(a)
		p.wait(gap)
		p.signalled(a, "SIGTERM", "closed")
		p.add(record.Event{Kind: record.Bye, Server: a, Text: "SIGTERM"})
		p.dead(a)
	}
	for name, c := range map[string]struct {
		course func(p *play, a, b string)
		rude   int
		status LawStatus
	}{
		"at once":                            {func(p *play, a, b string) { both(p, a, 0, ms); both(p, b, 0, ms) }, 2, LawBroken},
		"the end of stdin is read later":     {func(p *play, a, b string) { p.signalled(a, "SIGTERM", "closed"); p.eof(a); p.dead(a); p.bye(b) }, 1, LawBroken},
		"one signalled first, one at once":   {func(p *play, a, b string) { p.signalled(a, "SIGTERM", "open"); p.dead(a); both(p, b, s, ms) }, 2, LawBroken},
		"seen at once after a while":         {func(p *play, a, b string) { both(p, a, s, ms); p.bye(b) }, 0, LawNotJudged},
		"with time in between":               {func(p *play, a, b string) { both(p, a, 0, 60*ms); p.bye(b) }, 0, LawKept},
		"with no time that is long at first": {func(p *play, a, b string) { both(p, a, 0, 49*ms); p.bye(b) }, 1, LawBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.run.Header.Limits.Grace = record.Duration(200 * ms)
			a, b := p.open("s1", "flaky"), p.open("s2", "flaky")
			p.stop("stop", func() { c.course(p, a, b) })
			v := Judge(p.done())
			n := 0
			for _, f := range v.Findings {
				assert.Equal(t, "signal-first", f.Kind)
				n += f.Count
			}
			assert.LessOrEqual(t, len(v.Findings), 1, account(v))
			assert.Equal(t, c.rude, n, account(v))
			assert.Equal(t, c.status, v.Laws[8].Status, account(v))
		})
	}
}
