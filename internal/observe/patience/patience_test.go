package patience_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/observe/patience"
	"github.com/leakbench/leakbench/internal/record"
)

const run = "0123456789ab"

// TestIsFinal has one server left, and what it has said, and perhaps something else.
func TestIsFinal(t *testing.T) {
	t.Parallel()
	said := func(on record.Moment, do record.Action, passive bool) record.Event {
		return record.Event{Kind: record.Faulted, Fault: &record.Fault{On: on, Do: do, Passive: passive}}
	}
	eof, term := record.Event{Kind: record.SawEOF}, record.Event{Kind: record.SawSignal, Signal: "SIGTERM"}
	helper := []string{"leakbench", "fakehelper", "group", "--run", run}
	for name, c := range map[string]struct {
		events []record.Event
		also   []string // the command line of another process that is left
		want   bool
	}{
		"told nothing":                   {nil, nil, true},
		"on its way after its stdin":     {[]record.Event{eof}, nil, false},
		"deaf":                           {[]record.Event{eof, said(record.OnEOF, "ignore", true)}, nil, true},
		"deaf, on its way after SIGTERM": {[]record.Event{eof, said(record.OnEOF, "ignore", true), term}, nil, false},
		"deaf to both":                   {[]record.Event{eof, said(record.OnEOF, "ignore", true), term, said(record.OnTerm, "ignore", true)}, nil, true},
		"cleaning up":                    {[]record.Event{said(record.OnExit, "delay", false)}, nil, false},
		"looking after its parent":       {[]record.Event{said(record.OnStart, record.DoWatchdog, false)}, nil, false},
		"its helper":                     {nil, helper, true},
		"a helper that exits":            {nil, []string{"leakbench", "fakehelper", "exit", "--run", run}, false},
		"another run's helper":           {nil, []string{"leakbench", "fakehelper", "group", "--run", "other"}, false},
		"something of the host's":        {nil, []string{"node", "npx.js", run}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, server := history.New(run), record.Identity{PID: 7, Start: 1}
			l.Apply(record.Event{Kind: record.Born, Server: "a#1", Birth: &record.Birth{Identity: server, Label: "a", Launch: 1}})
			for _, e := range c.events {
				e.Server = "a#1"
				l.Apply(e)
			}
			census := &record.Census{Processes: []record.Process{{Identity: server, State: "S"}}}
			if c.also != nil {
				census.Processes = append(census.Processes, record.Process{Identity: record.Identity{PID: 8, Start: 1}, State: "S", Args: c.also})
			}
			assert.Equal(t, c.want, patience.IsFinal(l, census, run))
		})
	}
}

func TestFreeze(t *testing.T) {
	t.Parallel()
	const ms = record.Duration(time.Millisecond)
	begun := time.Now()
	census := func(pid int, ran, delayed record.Duration) *record.Census {
		return &record.Census{
			Processes: []record.Process{{Identity: record.Identity{PID: pid, Start: 1}}}, Load: &record.Load{Ran: ran, Delayed: delayed},
		}
	}
	var f patience.Freeze
	see := func(after time.Duration, final bool, c *record.Census) bool { return f.See(begun.Add(after), final, c) }
	assert.False(t, see(0, true, census(7, 0, 0)))
	assert.False(t, see(900*time.Millisecond, true, census(7, ms, 0)))
	assert.True(t, see(1100*time.Millisecond, true, census(7, ms, 0)))
	assert.False(t, see(1200*time.Millisecond, true, census(8, ms, 0)), "something else is left")
	assert.False(t, see(2*time.Second, false, census(8, ms, 0)), "it is not final any more")
	assert.False(t, see(3*time.Second, true, census(8, ms, 0)), "it begins anew")
	assert.False(t, see(4*time.Second, true, census(8, 2*ms, 900*ms)), "the machine was starved")
	assert.False(t, see(5*time.Second, true, census(8, 3*ms, 900*ms)), "it begins anew")
	assert.True(t, see(6*time.Second, true, census(8, 4*ms, 900*ms)))
}
