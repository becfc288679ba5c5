package verdict

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/record"
)

// TestTimeForACleanup: a host that was asked once has given no more time than the clock says; one that was asked again may have.
func TestTimeForACleanup(t *testing.T) {
	t.Parallel()
	busy := func(waited int64) *casefile {
		p := newPlay()
		p.open("s1", "flaky")
		for i := range 2 {
			w := record.Duration(int64(i) * waited)
			p.t = s + time.Duration(i)*19*s
			p.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample, Load: &record.Load{Waited: &w}}})
		}
		f := open(p.run)
		f.Header.Limits.Grace = record.Duration(2 * s)
		f.servers[0].EOF = 5 * second
		return f
	}
	asked := func(f *casefile, times ...int64) {
		f.Session("flaky", "s1").Changes = nil
		for _, t := range times {
			f.Session("flaky", "s1").Changes = append(f.Session("flaky", "s1").Changes, history.SessionChange{Session: record.Session{State: record.SessionEnding}, T: t * second})
		}
	}
	for name, c := range map[string]struct {
		waited int64
		asked  []int64
		died   int64
		grace  record.Duration
		late   bool
	}{
		"late by what the machine took": {4 * second, []int64{5}, 9, record.Duration(2 * s), true},
		"late by more":                  {second, []int64{5}, 9, record.Duration(2 * s), false},
		"too early":                     {4 * second, []int64{5}, 6, record.Duration(2 * s), false},
		"asked again":                   {4 * second, []int64{3, 8}, 9, record.Duration(2 * s), false},
		"no grace":                      {4 * second, []int64{5}, 9, 0, false},
	} {
		f := busy(c.waited)
		f.Header.Limits.Grace = c.grace
		srv := f.servers[0]
		srv.Died = c.died * second
		asked(f, c.asked...)
		at := f.askedToEnd(srv)
		assert.Equal(t, c.late, f.cutLate(srv, at), name)
		assert.Equal(t, c.late, f.mayHaveHadTime(srv, &breach.Breach{Kind: "cleanup-cut-short"}), name)
		assert.False(t, f.mayHaveHadTime(srv, &breach.Breach{Kind: "killed-unasked"}), name)
		srv.EOF = never
		assert.False(t, f.cutLate(srv, at), "it said nothing")
	}
}

// TestWhatIsRude: what was done to a server that did nothing wrong, in the order in which it is asked.
func TestWhatIsRude(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(f *casefile, s *history.Server)
		kind   string
	}{
		"in order":              {func(_ *casefile, s *history.Server) { s.EOF, s.Bye = 5*second, 6*second }, ""},
		"alive":                 {func(_ *casefile, s *history.Server) { s.Died = never }, ""},
		"killed without a word": {func(*casefile, *history.Server) {}, "killed-unasked"},
		"killed in its cleanup": {func(_ *casefile, s *history.Server) { s.EOF = 5 * second }, "cleanup-cut-short"},
		"it had its time":       {func(_ *casefile, s *history.Server) { s.EOF, s.Died = 5*second, 7*second }, ""},
		"nobody asked":          {func(f *casefile, _ *history.Server) { f.Host().AskedAt = never }, ""},
		"a signal first": {func(_ *casefile, s *history.Server) {
			s.Signals = []history.SignalMark{{T: 5 * second, Stdin: record.StdinOpen}}
		}, "signal-first"},
		"both at once": {func(_ *casefile, s *history.Server) {
			s.Signals, s.EOF = []history.SignalMark{{T: 5*second + 1, Stdin: record.StdinClosed}}, 5*second
		}, "signal-first"},
		"both at once, long after": {func(f *casefile, s *history.Server) {
			s.Signals, s.EOF, s.Bye = []history.SignalMark{{T: 5*second + 1, Stdin: record.StdinClosed}}, 5*second, 6*second
			f.Host().AskedAt = second
		}, ""},
		"deaf to signals": {func(_ *casefile, s *history.Server) {
			s.EOF, s.Faults = 5*second, []history.FaultMark{{T: 5 * second, Fault: record.Fault{On: record.OnTerm, Do: "ignore", Passive: true}}}
		}, ""},
		"deaf to EOF": {func(_ *casefile, s *history.Server) {
			s.EOF, s.Faults = 5*second, []history.FaultMark{{T: 5 * second, Fault: record.Fault{On: record.OnEOF, Do: "ignore", Passive: true}}}
		}, ""},
	} {
		f := opened("s1")
		f.Header.Limits.Grace = record.Duration(2 * s)
		f.Host().AskedAt = 5 * second
		srv := f.servers[0]
		srv.Died = 6 * second
		c.change(f, srv)
		kind := ""
		if b := f.rudeness(srv); b != nil {
			kind = b.Kind
		}
		assert.Equal(t, c.kind, kind, name)
	}
}

// TestWhoEndsBesideIt: a server of another session that the host ended by a signal at that moment, with nothing wrong with it.
func TestWhoEndsBesideIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change    func(f *casefile, o *history.Server)
		coincides bool
	}{
		"killed beside it":  {func(*casefile, *history.Server) {}, true},
		"just before":       {func(_ *casefile, o *history.Server) { o.Died = 5*second - near }, true},
		"long before":       {func(_ *casefile, o *history.Server) { o.Died = 5*second - near - 1 }, false},
		"just after":        {func(_ *casefile, o *history.Server) { o.Died = 5*second + near }, true},
		"long after":        {func(_ *casefile, o *history.Server) { o.Died = 5*second + near + 1 }, false},
		"of its session":    {func(_ *casefile, o *history.Server) { o.Session = "s1" }, false},
		"cut off":           {func(_ *casefile, o *history.Server) { o.EOF = 5 * second }, false},
		"broken":            {func(_ *casefile, o *history.Server) { o.Broken = 4 * second }, false},
		"as the host ended": {func(f *casefile, _ *history.Server) { f.Host().AskedAt = 5 * second }, false},
		"alive":             {func(_ *casefile, o *history.Server) { o.Died = never }, false},
		"lost":              {func(_ *casefile, o *history.Server) { o.Lost = 4 * second }, false},
	} {
		f := opened("s1", "s2")
		f.servers[1].Died = 5 * second
		c.change(f, f.servers[1])
		assert.Equal(t, c.coincides, f.coincides(f.servers[0], 5*second), name)
	}
	for name, c := range map[string]struct {
		change func(o *history.Server)
		rival  bool
	}{
		"lives":        {func(*history.Server) {}, true},
		"born later":   {func(o *history.Server) { o.Born = 5*second + 1 }, false},
		"dead by then": {func(o *history.Server) { o.Died = 5 * second }, false},
		"dies later":   {func(o *history.Server) { o.Died = 5*second + 1 }, true},
		"no rival":     {func(o *history.Server) { o.Race = 0 }, false},
	} {
		f := opened("s1", "s1")
		f.servers[0].Race, f.servers[1].Race = 1, 1
		c.change(f.servers[1])
		assert.Equal(t, c.rival, f.hasRival(f.servers[0], 5*second), name)
	}
	for name, c := range map[string]struct {
		change func(o *history.Server)
		newest bool
	}{
		"a younger one":    {func(*history.Server) {}, false},
		"not born yet":     {func(o *history.Server) { o.Born = 5*second + 1 }, true},
		"another session":  {func(o *history.Server) { o.Session = "s2" }, true},
		"of another label": {func(o *history.Server) { o.Label = "steady" }, true},
	} {
		f := opened("s1", "s1")
		c.change(f.servers[1])
		assert.Equal(t, c.newest, f.isNewest(f.servers[0], 5*second), name)
	}
	f := opened("s1")
	f.servers[0].Calls = []history.Call{{Received: 5 * second}}
	assert.True(t, f.worked(f.servers[0], 5*second))
	assert.False(t, f.worked(f.servers[0], 5*second-1))
	require.NotEmpty(t, f.servers)
}
