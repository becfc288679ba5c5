package judge2

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// play is a run of a host (pid 20) below a keeper (pid 10), seen by the
// naive judge every 20 ms. Each sample lists who is there besides.
type play struct {
	samples []sample
	begun   time.Time
	events  []record.Event
	source  string // of the scenario
}

const every = 20 * time.Millisecond

func newPlay() *play {
	return &play{begun: time.Unix(1000, 0), events: []record.Event{{
		Kind: record.HostStarted, Process: &record.Process{Identity: record.Identity{PID: 20}, PPID: 10},
	}}}
}

// helping is a scenario in which each server has a helper.
const helping = "name: cp\ntitle: cp\nservers: {a: {faults: [{on: start, do: helper}]}}\nsteps: [{open: a-1, server: a}]\n"

func process(pid, parent int, line string) Process {
	return Process{id: [2]int{pid, pid}, Parent: parent, Line: line}
}

func (p *play) now() time.Time { return p.begun.Add(time.Duration(len(p.samples)) * every) }

// see adds n samples.
func (p *play) see(n int, host bool, all ...Process) {
	for range n {
		s := sample{at: p.now(), over: p.now(), all: Table{
			process(1, 0, "init"), process(10, 1, "keeper"), process(11, 10, "server\x00RUN"),
		}}
		if host {
			s.all = append(s.all, process(20, 10, "host"))
		}
		s.all = append(append(s.all, process(21, 10, "leakbench\x00bystander")), all...)
		p.samples = append(p.samples, s)
	}
}

// checkpoint ends one in the last sample.
func (p *play) checkpoint(wanted int) {
	p.events = append(p.events, record.Event{
		T: int64(p.now().Sub(p.begun)) - int64(every/2), Kind: record.CheckpointEnded,
		Checkpoint: &record.Checkpoint{Name: "cp", Wants: []record.Want{{Live: wanted}}},
	})
}

func (p *play) left() []string {
	limits := record.Limits{Quiet: record.Duration(100 * time.Millisecond), Settle: record.Duration(100 * time.Millisecond)}
	return (&Judge{samples: p.samples}).Left(&record.Run{
		Header: record.Header{ID: "RUN", Started: p.begun, Limits: limits, Scenario: record.Scenario{Name: "cp", Source: p.source}}, Events: p.events,
	})
}

// TestJudge tries it on samples of a known meaning.
func TestJudge(t *testing.T) {
	t.Parallel()
	server, other := process(30, 20, "server\x00RUN"), process(31, 20, "server\x00RUN")
	helper, second, third := process(40, 20, "helper"), process(41, 20, "helper"), process(42, 20, "helper")
	launcher, behind := process(50, 20, "npx\x00RUN"), process(51, 50, "server\x00RUN")
	for name, c := range map[string]struct {
		play func(p *play)
		left bool
	}{
		"one server, one wanted":      {func(p *play) { p.see(3, true, server); p.checkpoint(1) }, false},
		"two servers, one wanted":     {func(p *play) { p.see(3, true, server, other); p.checkpoint(1) }, true},
		"a launcher and its server":   {func(p *play) { p.see(3, true, launcher, behind); p.checkpoint(1) }, false},
		"a launcher alone":            {func(p *play) { p.see(3, true, server, launcher); p.checkpoint(1) }, true},
		"a helper from the beginning": {func(p *play) { p.see(3, true, server, helper); p.checkpoint(0); p.see(1, true, helper) }, true},
		"a helper of the host's own":  {func(p *play) { p.see(3, true, server, helper); p.see(1, true, helper); p.checkpoint(0) }, false},
		"a helper that comes up with the host": {func(p *play) {
			p.see(1, true, server)
			p.see(1, true, server, helper)
			p.events = append(p.events, record.Event{Kind: record.HostReady, T: int64(p.now().Sub(p.begun)) - 1})
			p.see(2, true, server, helper)
			p.see(1, true, helper)
			p.checkpoint(0)
		}, false},
		"helpers that grow in number": {func(p *play) {
			p.see(1, true, server)
			p.see(1, true, server, helper, second, third)
			p.checkpoint(1)
		}, true},
		"a guard of the host's, and a helper of the server's": {func(p *play) {
			p.source = helping
			p.see(1, true, server, helper)
			p.see(1, true, server, helper, second)
			p.checkpoint(1)
		}, false},
		"and one more": {func(p *play) {
			p.source = helping
			p.see(1, true, server, helper)
			p.see(1, true, server, helper, second, third)
			p.checkpoint(1)
		}, true},
		"nothing after the host":  {func(p *play) { p.see(3, true, server); p.see(10, false) }, false},
		"a server after the host": {func(p *play) { p.see(3, true, server); p.see(10, false, process(30, 10, "server\x00RUN")) }, true},
		"a server at an early end": {func(p *play) {
			p.see(3, true, server)
			p.see(3, false, process(30, 10, "server\x00RUN"))
			p.checkpoint(0)
			p.events[1].Checkpoint.HostGone, p.events[1].Checkpoint.Early = true, record.EarlyFinal
		}, true},
		"a server that goes in time": {func(p *play) {
			p.see(3, true, server)
			p.see(3, false, process(30, 10, "server\x00RUN"))
			p.see(9, false)
		}, false},
		"one that was first seen as orphan": {func(p *play) { p.see(3, true); p.see(10, false, process(60, 10, "sh")) }, true},
		"a zombie is nothing": {func(p *play) {
			p.see(3, true)
			p.see(10, false, Process{id: [2]int{60, 60}, Parent: 10, Dead: true})
		}, false},
		"somebody else's": {func(p *play) { p.see(3, true); p.see(10, false, process(70, 1, "server\x00RUN")) }, false},
		"one after another, each of a moment": {func(p *play) {
			p.see(3, true)
			for pid := 60; pid < 75; pid++ {
				p.see(1, false, process(pid, 10, "sh"))
			}
		}, true},
	} {
		p := newPlay()
		c.play(p)
		assert.Equal(t, c.left, len(p.left()) > 0, "%s: %v", name, p.left())
	}
}

// TestLook: the sampler sees this very process.
func TestLook(t *testing.T) {
	t.Parallel()
	n := Watch()
	n.End()
	assert.NotEmpty(t, n.samples)
	assert.NotEmpty(t, n.samples[0].all.Of(os.Getpid()).Line)
}

func BenchmarkLook(b *testing.B) {
	for range b.N {
		look()
	}
}
