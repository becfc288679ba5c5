package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestSchedules: what a host says that it does to servers of open sessions by
// itself is no harm, as long as it does that and no more.
func TestSchedules(t *testing.T) {
	t.Parallel()
	idle := record.Profile{Idle: record.Duration(s)}
	renewal := record.Profile{Renewal: record.Duration(s)}
	again := func(p *play) string { b := p.launch("flaky", "s1"); p.greet(b); return b }
	for name, c := range map[string]struct {
		profile record.Profile
		course  func(p *play, a string)
		kinds   []string
	}{
		"idle":                          {idle, func(p *play, a string) { p.wait(s); p.bye(a) }, nil},
		"idle, a little early":          {idle, func(p *play, a string) { p.wait(850 * ms); p.bye(a) }, nil},
		"idle, undeclared":              {record.Profile{}, func(p *play, a string) { p.wait(s); p.bye(a) }, []string{"cut-off"}},
		"not idle yet":                  {idle, func(p *play, a string) { p.wait(700 * ms); p.bye(a) }, []string{"cut-off"}},
		"idle until a call":             {idle, func(p *play, a string) { p.wait(s); p.call(a, "s1", "flaky", ""); p.bye(a) }, []string{"cut-off"}},
		"idle, but for a call":          {idle, func(p *play, a string) { p.wait(s); p.ask(a); p.wait(2 * s); p.bye(a) }, []string{"cut-off"}},
		"idle and killed":               {idle, func(p *play, a string) { p.wait(s); p.dead(a) }, []string{"killed"}},
		"renewed":                       {renewal, func(p *play, a string) { p.wait(s); p.bye(a); again(p); p.wait(2 * s) }, nil},
		"renewed by a timer":            {renewal, func(p *play, a string) { p.wait(200 * ms); p.bye(a); again(p); p.wait(2 * s) }, nil},
		"renewed, undeclared":           {record.Profile{}, func(p *play, a string) { p.wait(s); p.bye(a); again(p); p.wait(2 * s) }, []string{"cut-off"}},
		"ended, and not renewed":        {renewal, func(p *play, a string) { p.wait(s); p.bye(a); p.wait(2 * s) }, []string{"cut-off"}},
		"renewed much later":            {renewal, func(p *play, a string) { p.wait(s); p.bye(a); p.wait(2 * s); again(p); p.wait(2 * s) }, []string{"cut-off"}},
		"renewed in a call":             {renewal, func(p *play, a string) { p.wait(s); p.ask(a); p.bye(a); again(p); p.wait(2 * s) }, []string{"cut-off"}},
		"renewed by SIGKILL":            {renewal, func(p *play, a string) { p.wait(s); p.dead(a); again(p); p.wait(2 * s) }, []string{"killed"}},
		"renewed, and the new one gone": {renewal, func(p *play, a string) { p.wait(s); p.bye(a); p.dead(again(p)); p.wait(2 * s) }, []string{"killed"}},
		"renewed all the time": {renewal, func(p *play, a string) {
			for range 4 {
				p.wait(100 * ms)
				p.bye(a)
				a = again(p)
			}
			p.wait(2 * s)
		}, []string{"cut-off"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			p.run.Header.Host.Profile = c.profile
			p.open("other", "steady")
			c.course(p, p.open("s1", "flaky"))
			v := Judge(p.done())
			assert.Equal(t, append([]string{}, c.kinds...), kindsIn(v), account(v))
		})
	}
}
