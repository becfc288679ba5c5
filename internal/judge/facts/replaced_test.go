package facts

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// changed is a change of the session s1 with its reason.
func changed(t int64, state record.SessionState, why record.Why) record.Event {
	e := change(t, state)
	e.Session.Why = why
	return e
}

// cancelled is a step that cancels its call of the session s1.
func cancelled(from int64) []record.Event {
	return did(from, from+ms, record.Step{N: 1, Op: record.OpCall, Session: "s1", Label: "flaky", Cancelled: true})
}

func TestLastWord(t *testing.T) {
	t.Parallel()
	call := func(received, answered int64) history.Call {
		return history.Call{Received: received, Answered: answered}
	}
	for want, calls := range map[string][]history.Call{
		"before its first call":        nil,
		"1 call in flight":             {call(sec, 2*sec), call(5*sec, never)},
		"2 calls in flight":            {call(5*sec, 5*sec+1), call(4*sec, 7*sec), call(sec, 2*sec)},
		"3 s after its last answer":    {call(sec, 2*sec), call(ms, sec), call(5*sec+1, 6*sec)},
		"0 s after its last answer":    {call(ms, 0), call(sec, 5*sec)},
		"5 s after its last answer":    {call(0, 0)},
		"4.99 s after its last answer": {call(0, 10*ms)},
	} {
		assert.Equal(t, want, LastWord(&history.Server{Calls: calls}, 5*sec))
	}
}

func TestLaunchesAhead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		profile record.Profile
		ahead   bool
	}{{record.Profile{}, false}, {record.Profile{Resident: 1}, true}, {record.Profile{Spare: 1}, true}} {
		run := runOf()
		run.Header.Host.Profile = c.profile
		assert.Equal(t, c.ahead, Of(run).LaunchesAhead(), "%+v", c.profile)
	}
}

// TestLaunchedInVain: a server is launched in vain only for a session that the host itself had ended in this life of it, that nobody asks
// anything for, and that does not use it afterwards.
func TestLaunchedInVain(t *testing.T) {
	t.Parallel()
	const after = sec
	launch := born(5*sec, "flaky#1", "s1", 31, host)
	launch.Birth.Start = 2500 // in units of 10 ms: 5 s after the host
	stop := did(4*sec, never, record.Step{N: 1, Op: record.OpStop})
	used := []record.Event{changed(6*sec, record.SessionOpen, ""), call(7*sec, record.PhaseReceived), call(7*sec+1, record.PhaseAnswered)}
	for name, c := range map[string]struct {
		before, later []record.Event
		want          int64
	}{
		"long ended":         {[]record.Event{changed(2*sec, record.SessionEnded, "")}, nil, 2 * sec},
		"just in time":       {[]record.Event{changed(5*sec-after, record.SessionEnded, "")}, nil, 5*sec - after},
		"only just ended":    {[]record.Event{changed(5*sec-after+1, record.SessionEnded, "")}, nil, never},
		"open":               {[]record.Event{changed(2*sec, record.SessionOpen, "")}, nil, never},
		"never begun":        {nil, nil, never},
		"for a request":      {[]record.Event{changed(2*sec, record.SessionEnded, record.WhyRequest)}, nil, never},
		"for each request":   {[]record.Event{changed(2*sec, record.SessionEnded, record.WhyPerRequest)}, nil, never},
		"asked to stop":      {append([]record.Event{changed(2*sec, record.SessionEnded, "")}, stop...), nil, never},
		"used afterwards":    {[]record.Event{changed(2*sec, record.SessionEnded, "")}, used, never},
		"called, not opened": {[]record.Event{changed(2*sec, record.SessionEnded, "")}, used[1:], 2 * sec},
		"opened, not called": {[]record.Event{changed(2*sec, record.SessionEnded, "")}, used[:1], 2 * sec},
		"ended afterwards":   {[]record.Event{changed(2*sec, record.SessionEnded, "")}, append([]record.Event{changed(6*sec, record.SessionEnded, "")}, used[1:]...), 2 * sec},
	} {
		f := Of(runOf(append(append(c.before, launch), c.later...)...))
		assert.Equal(t, c.want, f.LaunchedInVain(f.Server("flaky#1"), after), name)
	}
	ended := Of(runOf(changed(2*sec, record.SessionEnded, ""), launch))
	ended.Hosts()[0].Started = 3 * sec
	assert.Equal(t, never, ended.LaunchedInVain(ended.Server("flaky#1"), after), "it ended in an earlier life of the host")
}

// TestNeverReplaced: a server that read the end of its stdin while its session was being opened anew was ended in order.
func TestNeverReplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		state record.SessionState
		at    int64
		eof   int64
		want  bool
	}{
		"in order":        {record.SessionOpening, 2 * sec, 3 * sec, true},
		"eof at 0":        {record.SessionOpening, 2 * sec, 0, true},
		"without eof":     {record.SessionOpening, 2 * sec, never, false},
		"open":            {record.SessionOpen, 2 * sec, 3 * sec, false},
		"opened with it":  {record.SessionOpening, sec, 3 * sec, false},
		"opened after it": {record.SessionOpening, 5 * sec, 3 * sec, false},
	} {
		f := Of(runOf(born(sec, "flaky#1", "s1", 31, host), change(c.at, c.state)))
		s := f.Server("flaky#1")
		s.EOF, s.Died, s.Established = c.eof, 4*sec, sec
		s.Calls = []history.Call{{Received: sec, Answered: sec}}
		assert.Equal(t, c.want, f.NeverReplaced(&Checkpoint{Checkpoint: &history.Checkpoint{SettledAt: 9 * sec}}, s), name)
	}
}

// TestEndedBefore: the next server takes the place of one whose session was over, or was opened anew after that, between their births.
func TestEndedBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []record.Event
		want   int64
	}{
		"never over":             {[]record.Event{changed(2*sec, record.SessionOpen, "")}, never},
		"opened anew":            {[]record.Event{changed(2*sec, record.SessionOpening, "")}, never},
		"ended":                  {[]record.Event{changed(2*sec, record.SessionEnded, "")}, 2 * sec},
		"ending":                 {[]record.Event{changed(2*sec, record.SessionEnding, "")}, 2 * sec},
		"cancelled":              {[]record.Event{changed(2*sec, record.SessionOpen, record.WhyCancel)}, 2 * sec},
		"ended, opened anew":     {[]record.Event{changed(2*sec, record.SessionEnded, ""), changed(3*sec, record.SessionOpening, "")}, 3*sec - 1},
		"ended, open":            {[]record.Event{changed(2*sec, record.SessionEnded, ""), changed(3*sec, record.SessionOpen, "")}, 2 * sec},
		"a call was cancelled":   {append(cancelled(2*sec), changed(3*sec, record.SessionOpening, "")), 3*sec - 1},
		"cancelled afterwards":   {append([]record.Event{changed(2*sec, record.SessionOpening, "")}, cancelled(3*sec)...), never},
		"at its birth":           {[]record.Event{changed(sec, record.SessionEnded, "")}, never},
		"as the next is born":    {[]record.Event{changed(5*sec, record.SessionEnded, "")}, 5 * sec},
		"after the next's birth": {[]record.Event{changed(5*sec+1, record.SessionEnded, "")}, never},
	} {
		events := append([]record.Event{born(sec, "flaky#1", "s1", 31, host)}, c.events...)
		events = append(events, born(5*sec, "flaky#2", "s1", 32, host))
		slices.SortStableFunc(events, func(a, b record.Event) int { return cmp.Compare(a.T, b.T) })
		f := Of(runOf(events...))
		assert.Equal(t, c.want, f.EndedBefore(f.Server("flaky#1"), f.Server("flaky#2")), name)
		assert.Equal(t, never, f.EndedBefore(f.Server("flaky#1"), nil), name)
	}
}

// TestOpenWithout: the first thing that is said of a session after a moment is that it is open, and it has no other server by then.
func TestOpenWithout(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		events []record.Event
		want   bool
	}{
		"nothing is said":     {nil, false},
		"open before":         {[]record.Event{change(2*sec, record.SessionOpen)}, false},
		"open at the moment":  {[]record.Event{change(3*sec, record.SessionOpen)}, false},
		"open":                {[]record.Event{change(2*sec, record.SessionEnded), change(4*sec, record.SessionOpen)}, true},
		"ended first":         {[]record.Event{change(4*sec, record.SessionEnded), change(5*sec, record.SessionOpen)}, false},
		"with another server": {[]record.Event{born(3*sec, "flaky#2", "s1", 32, host), change(4*sec, record.SessionOpen)}, false},
		"another's server":    {[]record.Event{born(3*sec, "flaky#2", "s2", 32, host), change(4*sec, record.SessionOpen)}, true},
		"a later server":      {[]record.Event{change(4*sec, record.SessionOpen), born(5*sec, "flaky#2", "s1", 32, host)}, true},
	} {
		f := Of(runOf(append([]record.Event{born(sec, "flaky#1", "s1", 31, host)}, c.events...)...))
		assert.Equal(t, c.want, f.OpenWithout(f.Server("flaky#1"), 3*sec), name)
	}
}

// TestDeathSignal: a server that was killed was killed by its parent death signal only if that is SIGKILL, and one that caught a signal
// only if it caught that one by then.
func TestDeathSignal(t *testing.T) {
	t.Parallel()
	server := func(number int, caught ...history.SignalMark) *history.Server {
		return &history.Server{Birth: record.Birth{DeathSignal: number}, Signals: caught}
	}
	term := history.SignalMark{T: 2 * sec, Text: "SIGTERM"}
	killed, terminated := Harm{Kind: "killed", T: 3 * sec}, Harm{Kind: "terminated", T: 2 * sec}
	assert.Equal(t, "SIGKILL", DeathSignal(server(9), killed))
	assert.Equal(t, "SIGTERM", DeathSignal(server(15, term), terminated))
	assert.Equal(t, "SIGHUP", DeathSignal(server(1, history.SignalMark{T: sec, Text: "SIGHUP"}), terminated))
	assert.Equal(t, "SIGINT", DeathSignal(server(2, history.SignalMark{T: sec, Text: "SIGINT"}), terminated))
	for name, got := range map[string]string{
		"none was set":          DeathSignal(server(0), killed),
		"killed, and it is not": DeathSignal(server(15, term), killed),
		"it caught nothing":     DeathSignal(server(15), terminated),
		"it caught another":     DeathSignal(server(1, term), terminated),
		"it caught it later":    DeathSignal(server(15, term), Harm{Kind: "terminated", T: 2*sec - 1}),
		"SIGKILL is not caught": DeathSignal(server(9), terminated),
		"it was cut off":        DeathSignal(server(9), Harm{Kind: "cut-off", T: 3 * sec}),
		"cut off, and caught":   DeathSignal(server(15, term), Harm{Kind: "cut-off", T: 3 * sec}),
	} {
		assert.Empty(t, got, name)
	}
}
