package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// started is the look at what the host has, before it is asked for anything.
func (p *play) started() { p.look(record.CensusStarted, "") }

// behind opens a session whose server has a launcher, and closes it.
func behind(p *play, pid int, course func(server string)) {
	p.session("s1", "flaky", record.SessionOpening, "", false)
	p.helperAt(pid, record.Process{PPID: hostPID, PGID: hostPID, SID: hostPID, Comm: "npx"})
	a := p.launch("flaky", "s1", pid)
	p.greet(a)
	p.session("s1", "flaky", record.SessionOpen, "", false)
	p.close("s1", "flaky", func() { course(a) })
}

func leftLauncher(ends func(p *play)) func(p *play) *record.Run {
	return func(p *play) *record.Run {
		p.started()
		behind(p, 90, func(server string) {
			p.bye(server)
			ends(p)
		})
		if len(p.procs) > 0 {
			p.restless("after", nil, want("flaky", "s1", 0))
		} else {
			p.quiet("after", want("flaky", "s1", 0))
		}
		clear(p.procs)
		return p.done()
	}
}

var strayCases = []caseOf{{
	kind: "launcher",
	show: leftLauncher(func(*play) {}),
	near: leftLauncher(func(p *play) { clear(p.procs) }),
}}

func TestStrays(t *testing.T) {
	t.Parallel()
	// perSession opens and closes n sessions, for each of which the host starts
	// a helper and ends it or not.
	perSession := func(p *play, n int, ends bool) {
		for range n {
			a := p.open("s1", "flaky")
			p.pid += 10
			p.helperAt(p.pid, record.Process{PPID: hostPID, PGID: hostPID, SID: hostPID, Comm: "helper"})
			p.close("s1", "flaky", func() { p.bye(a) })
			if ends {
				clear(p.procs)
			}
		}
	}
	for name, c := range map[string]struct {
		play  func(p *play)
		kinds []string
		count int
	}{
		"one for each session":          {func(p *play) { p.started(); perSession(p, 4, false) }, []string{"helper"}, 4},
		"one that was started late":     {func(p *play) { p.started(); perSession(p, 1, false) }, nil, 0},
		"ended with each session":       {func(p *play) { p.started(); perSession(p, 4, true) }, nil, 0},
		"an old file":                   {func(p *play) { perSession(p, 4, false) }, nil, 0},
		"an old file, with a launcher":  {func(p *play) { behind(p, 90, p.bye) }, nil, 0},
		"the launcher of a live server": {func(p *play) { p.started(); behind(p, 90, func(string) {}) }, []string{"abandoned"}, 1},
		"the host's own": {func(p *play) {
			p.helperAt(90, record.Process{PPID: hostPID})
			p.started()
			perSession(p, 1, true)
			p.helperAt(90, record.Process{PPID: hostPID})
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			c.play(p)
			p.restless("after", nil, want("flaky", "s1", 0))
			clear(p.procs)
			v := Judge(p.done())
			var kinds []string
			for _, f := range v.Findings {
				assert.Equal(t, "L1", f.Law, account(v))
				assert.Equal(t, c.count, f.Count, account(v))
				kinds = append(kinds, f.Kind)
			}
			assert.Equal(t, c.kinds, kinds, account(v))
		})
	}
}

// TestConhost: the console of a server that was terminated is a process of its own, and what is left of it is found, at a checkpoint and
// after the host's end, with a fix that names it.
func TestConhost(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Header.System.OS = record.Windows
	p.started()
	for range 4 {
		a := p.open("s1", "flaky")
		p.pid += 10
		p.helperAt(p.pid, record.Process{PPID: hostPID, Comm: "conhost.exe", Args: []string{`\??\C:\Windows\system32\conhost.exe`, "0xffffffff", "-ForceV1"}})
		p.close("s1", "flaky", func() { p.bye(a) })
	}
	p.restless("after", nil, want("flaky", "s1", 0))
	v := Judge(p.done())
	var found []string
	for _, f := range v.Findings {
		found = append(found, f.Law+" "+f.Kind)
		assert.Contains(t, f.Title, "conhost.exe")
		assert.Contains(t, f.Fix, "A conhost.exe that is left shows")
	}
	assert.Equal(t, []string{"L1 helper", "L2 helper"}, found, account(v))
}
