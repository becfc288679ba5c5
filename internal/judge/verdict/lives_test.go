package verdict

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// restart ends the host in the way of op, and starts it anew. The sessions end
// with it; course is what becomes of its servers meanwhile.
func (p *play) restart(op record.Op, course func(), sessions ...string) {
	st := p.begin(record.Step{Op: op})
	if course != nil {
		course()
	}
	exit := record.Exit{Asked: true}
	if op == "kill" {
		exit = record.Exit{Asked: true, Code: -1, Signal: "SIGKILL"}
	}
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &exit})
	p.end(st, "")
	for _, name := range sessions {
		p.session(name, "flaky", record.SessionEnded, "host ended", true)
	}
	p.look(record.CensusHandover, "")
	p.lives++
	if p.hasty { // the first server of the new one is ahead of the word that there is one
		p.open("s0", "flaky")
	}
	st = p.begin(record.Step{Op: "start"})
	p.add(record.Event{Kind: record.HostStarted, Process: &record.Process{
		Identity: record.Identity{PID: hostPID + p.lives, Start: uint64(9000 + p.lives)}, PPID: keeperPID, Comm: "host", State: "S",
	}})
	p.end(st, "")
}

// deafTo ends the host's pipe of a server that does not heed it.
func (p *play) deafTo(server string) {
	p.fault(server, "eof", "ignore", false)
	p.eof(server)
}

// TestWhatALifeOfTheHostLeft: what the first process of the host has left is
// found while the second one lives, and only that.
func TestWhatALifeOfTheHostLeft(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		course func(p *play, old string)
		late   func(p *play, old string)
		kinds  []string
		hits   []string
	}{
		"it stays": {kinds: []string{"deaf"}, hits: []string{"flaky#1"}},
		"the new life ends it in time": {course: func(p *play, old string) {
			p.term(old)
			p.dead(old)
		}},
		"the new life ends it too late": {late: func(p *play, old string) { p.dead(old) }, kinds: []string{"deaf"}, hits: []string{"flaky#1"}},
		"it starts something": {course: func(p *play, old string) {
			id := record.Identity{PID: 700, Start: 7}
			p.procs[id] = record.Process{Identity: id, PPID: p.ids[old].PID, PGID: hostPID, SID: hostPID, State: "S", Comm: "sleep"}
		}, kinds: []string{"deaf", "helper"}, hits: []string{"flaky#1"}},
		"the new life has helpers": {course: func(p *play, old string) {
			id := record.Identity{PID: 700, Start: 7}
			p.procs[id] = record.Process{Identity: id, PPID: hostPID + 1, PGID: hostPID, SID: hostPID, State: "S", Comm: "sleep"}
			p.dead(old)
		}},
		"what it launched reports late": {course: func(p *play, old string) {
			p.dead(old)
			behind := p.launch("flaky", "s1", p.ids[old].PID)
			p.deafTo(behind)
		}, kinds: []string{"deaf"}, hits: []string{"flaky#2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlay()
			old := p.open("s1", "flaky")
			p.restart("kill", func() { p.deafTo(old) }, "s1")
			if c.course != nil {
				c.course(p, old)
			}
			p.call(p.open("s1", "flaky"), "s1", "flaky", "")
			if c.kinds == nil {
				p.quiet("after", want("flaky", "s1", 1))
			} else {
				p.restless("after", func() {
					if c.late != nil {
						c.late(p, old)
					}
				}, want("flaky", "s1", 1))
			}
			v := Judge(p.cleared())
			assert.ElementsMatch(t, c.kinds, kindsIn(v), account(v))
			assert.Empty(t, v.Doubts)
			var hits []string
			for _, f := range v.Findings {
				hits = append(hits, f.Servers...)
				assert.Equal(t, "L2", f.Law)
				assert.Equal(t, "after", f.Checkpoint)
				assert.Contains(t, f.Why, "Life 1 of the host was killed at ")
			}
			assert.Equal(t, c.hits, hits)
		})
	}
}

// TestServerAheadOfItsHost: it belongs to the new life all the same.
func TestServerAheadOfItsHost(t *testing.T) {
	t.Parallel()
	p := newPlay()
	old := p.open("s1", "flaky")
	p.hasty = true
	p.restart("kill", func() { p.eof(old); p.dead(old) }, "s1")
	p.quiet("after", want("flaky", "s0", 1))
	v := Judge(p.cleared())
	assert.Equal(t, Clean, v.Outcome, account(v))
}

// TestNothingIsSaidOfAPlaceThatCannotBeHad: not applicable is not clean, and the
// one doubt says why.
func TestNothingIsSaidOfAPlaceThatCannotBeHad(t *testing.T) {
	t.Parallel()
	p := newPlay()
	p.run.Events = nil
	p.run.Header.Plan = record.Plan{Labels: []record.PlanLabel{{Label: "flaky", Launches: 3}}, Checkpoints: []string{"a"}}
	p.add(record.Event{Kind: record.Doubted, Doubt: &record.Doubt{Code: record.DoubtNoPlace, Text: "no user namespaces"}})
	v := Judge(p.over(record.End{Reason: "done"}))
	assert.Equal(t, Inconclusive, v.Outcome)
	assert.Equal(t, []record.DoubtCode{record.DoubtNoPlace}, codesIn(v))
	for _, l := range v.Laws {
		assert.Equal(t, LawNotJudged, l.Status, l.Law)
	}
}

// cleared is the orderly end of a run: what is left is gone by then.
func (p *play) cleared() *record.Run {
	delete(p.procs, record.Identity{PID: 700, Start: 7})
	return p.done()
}

// TestEachLifeIsJudgedForItself: what the second one loses is its own.
func TestEachLifeIsJudgedForItself(t *testing.T) {
	t.Parallel()
	p := newPlay()
	old := p.open("s1", "flaky")
	p.restart("term", func() { p.bye(old) }, "s1")
	lost := p.open("s1", "flaky")
	p.open("s1", "flaky") // connected anew: the one before should go
	p.restless("after", nil, want("flaky", "s1", 1))
	p.stop("kill", func() { p.eof(lost) })
	p.restless("host gone", nil)
	v := Judge(p.over(record.End{Reason: "done"}))
	require.ElementsMatch(t, []string{"superseded", "deaf", "orphan"}, kindsIn(v), account(v))
	for _, f := range v.Findings {
		if f.Law == "L2" {
			assert.Contains(t, f.Why, "Life 2 of the host was killed")
		}
	}
	assert.Empty(t, v.Doubts)
}

// TestLifeThatEndsUnasked: which of them, the doubt says.
func TestLifeThatEndsUnasked(t *testing.T) {
	t.Parallel()
	p := newPlay()
	old := p.open("s1", "flaky")
	p.restart("stop", func() { p.bye(old) }, "s1")
	now := p.open("s1", "flaky")
	p.add(record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{Code: 3}})
	p.bye(now)
	p.quiet("host gone")
	v := Judge(p.over(record.End{Reason: "done"}))
	require.Equal(t, []record.DoubtCode{record.DoubtHostExited}, codesIn(v))
	assert.Contains(t, v.Doubts[0].Text, "life 2 of the host exited with status 3")
	assert.Equal(t, []string{"host-crashed"}, kindsIn(v), account(v))
}
