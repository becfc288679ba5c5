package facts

import (
	"slices"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// unaskedAfter is how long after a request of the bench's a launch may still be for its sake.
const unaskedAfter = int64(time.Second)

// RequestedAround says that the host was asked for something at t, or shortly before.
func (f *Facts) RequestedAround(t int64) bool {
	return slices.ContainsFunc(f.Steps(), func(st *history.Step) bool {
		asks := !st.Skipped && st.Op != record.OpAwait && st.Op != record.OpCheckpoint
		return asks && st.Begun <= t && (st.Ended < 0 || st.Ended+unaskedAfter >= t)
	})
}

// WorkingBeside is another server of the session of s that worked at t, or nil.
func (f *Facts) WorkingBeside(s *history.Server, t int64) *history.Server {
	for _, o := range f.Servers() {
		lives := o.Born < t && o.LivedAt(t) && !history.By(o.EOF, t) && o.Lost < 0
		if o != s && o.SharesSession(s) && lives && !o.BrokenBy(t) && Established(o, t) {
			return o
		}
	}
	return nil
}

// CallsReceived is how many calls the servers of a session received; unknown where one of them was lost from sight.
func (f *Facts) CallsReceived(key SessionKey) (n int, known bool) {
	for _, srv := range f.Servers() {
		mine := len(srv.CallsFor(key.Name))
		if srv.Label != key.Label || srv.Session != key.Name && mine == 0 {
			continue
		}
		if srv.Lost >= 0 {
			return 0, false
		}
		n += mine
	}
	return n, true
}

// LastWord is how long ago the server had last answered, for a judgement of how alive its session was.
func LastWord(s *history.Server, t int64) string {
	inFlight := 0
	last := never
	for _, c := range s.Calls {
		switch {
		case c.Received <= t && !history.By(c.Answered, t):
			inFlight++
		case c.Answered <= t:
			last = max(last, c.Answered)
		}
	}
	switch {
	case inFlight > 0:
		return text.Count(inFlight, "call") + " in flight"
	case last >= 0:
		return prose.Span(t-last) + " after its last answer"
	}
	return "before its first call"
}
