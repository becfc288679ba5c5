package facts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// untouched is a server to which nothing has happened but its birth.
func untouched(born int64) history.Server {
	return history.Server{Label: "flaky", Session: "s1", Times: history.Times{Born: born, Established: never, EOF: never, Died: never, Lost: never, Broken: never}}
}

// TestMomentsOfCalls: a call that nobody answered establishes nothing, and one that came later was not in flight.
func TestMomentsOfCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call                  history.Call
		established, inFlight bool
	}{
		"answered":       {history.Call{Received: sec, Answered: 2 * sec}, true, false},
		"answered later": {history.Call{Received: sec, Answered: 4 * sec}, false, true},
		"not answered":   {history.Call{Received: sec, Answered: never}, false, true},
		"it came later":  {history.Call{Received: 4 * sec, Answered: never}, false, false},
	} {
		s := untouched(0)
		s.Calls = []history.Call{c.call}
		assert.Equal(t, c.established, Established(&s, 3*sec), name)
		assert.Equal(t, c.inFlight, CallInFlight(&s, 3*sec), name)
	}
}

// TestHarmToALostServer: what is seen before the ledger lost a server is known; a death after that tells nothing of its cause.
func TestHarmToALostServer(t *testing.T) {
	t.Parallel()
	for lost, known := range map[int64]bool{never: true, 6 * sec: true, 4 * sec: false} {
		s := untouched(0)
		s.Died, s.Lost = 5*sec, lost
		harm, is := HarmTo(&s)
		assert.Equal(t, known, is, "lost at %d", lost)
		assert.Equal(t, 5*sec, harm.T)
	}
}

// TestChangesByAMoment: of a session that is opened again only what was by then counts, up to the end of the one that a server was for.
func TestChangesByAMoment(t *testing.T) {
	t.Parallel()
	f := Of(runOf(change(sec, record.SessionOpen), change(2*sec, record.SessionEnded), born(3*sec, "flaky#1", "s1", 31, host),
		change(4*sec, record.SessionOpen), change(6*sec, record.SessionEnded), change(7*sec, record.SessionOpen)))
	for by, n := range map[int64]int{0: 0, sec: 1, 3 * sec: 2, 5 * sec: 3, 6 * sec: 4, 9 * sec: 4} {
		assert.Len(t, f.changesBy(f.Server("flaky#1"), by), n, "by %d", by)
	}
}

// TestIdleServers: what counts is the time since the last call by then, or since the birth.
func TestIdleServers(t *testing.T) {
	t.Parallel()
	r := runOf()
	r.Header.Host.Profile.Idle = record.Duration(10 * sec)
	f := Of(r)
	for name, c := range map[string]struct {
		born  int64
		calls []int64
		idle  bool
	}{
		"since its birth":             {90 * sec, nil, true},
		"it is too young":             {95 * sec, nil, false},
		"since a call":                {0, []int64{80 * sec, 90 * sec}, true},
		"a call was not so long ago":  {0, []int64{80 * sec, 95 * sec}, false},
		"a call that came after that": {0, []int64{80 * sec, 101 * sec}, true},
	} {
		s := untouched(c.born)
		for _, at := range c.calls {
			s.Calls = append(s.Calls, history.Call{Received: at, Answered: at})
		}
		assert.Equal(t, c.idle, f.wasIdle(&s, 100*sec), name)
	}
}

// TestWhoTellsNothing: a host that can tell of sessions, and has neither told of one nor been asked for anything.
func TestWhoTellsNothing(t *testing.T) {
	t.Parallel()
	assert.True(t, Of(runOf()).TellsNothing())
	assert.False(t, Of(runOf(change(sec, record.SessionOpen))).TellsNothing(), "it told of a session")
	assert.False(t, Of(runOf(did(sec, 2*sec, record.Step{N: 1, Op: record.OpCall})...)).TellsNothing(), "it was asked for a call")
	r := runOf()
	r.Header.Host.Kind = record.KindCommand
	assert.False(t, Of(r).TellsNothing(), "a command knows of no sessions")
}

// TestLivesOfTheHost: each that has begun, and the one that has not where none has.
func TestLivesOfTheHost(t *testing.T) {
	t.Parallel()
	exited := at(sec, record.Event{Kind: record.HostExited, Process: &record.Process{}, Exit: &record.Exit{}})
	again := at(2*sec, record.Event{Kind: record.HostStarted, Process: &record.Process{Identity: identity(52), PPID: 10}})
	var pids []int
	for _, life := range Of(runOf(exited, again)).lives() {
		pids = append(pids, life.PID)
	}
	assert.Equal(t, []int{host, 52}, pids)
	none := runOf()
	none.Events = nil
	if lives := Of(none).lives(); assert.Len(t, lives, 1) {
		assert.Equal(t, never, lives[0].Started)
	}
}

// TestWhenAProcessStarted: who was seen soonest after his start sets the clock. The kernel's unit is a hundredth of a second on Linux.
func TestWhenAProcessStarted(t *testing.T) {
	t.Parallel()
	f := Of(runOf()) // the host was seen at 0, and started 20 s after the kernel did
	assert.Equal(t, 5*sec, f.startOf(record.Identity{PID: 31, Start: 2500}, 8*sec), "5 s after the host")
	assert.Equal(t, 5*sec, f.startOf(record.Identity{PID: 31, Start: 3000}, 5*sec), "it can't have started after it was seen")
	r := runOf()
	r.Header.System.OS = "darwin"
	assert.Equal(t, int64(500*time.Millisecond), Of(r).startOf(record.Identity{PID: 31, Start: 2500}, 8*sec), "a thousandth elsewhere")
}
