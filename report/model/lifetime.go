package model

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
)

// Labels are the servers' names in the order of the plan, then of birth.
func (s *Run) Labels() []string {
	var out []string
	add := func(l string) {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	for _, l := range s.Header.Plan.Labels {
		if slices.ContainsFunc(s.Servers, func(f *Server) bool { return f.Label == l.Label }) {
			add(l.Label)
		}
	}
	for _, f := range s.Servers {
		if len(out) < maxLabels {
			add(f.Label)
		}
	}
	return out
}

// maxLabels bounds the blocks of a timeline: labels come from the scenario, but a file can say anything.
const maxLabels = 40

// SessionRank orders sessions by the birth of their first server.
func (s *Run) SessionRank(f *Server) int64 { return s.firstBirth[f.Label+"\x00"+f.Session] }

// Stretch is a part of a life in one state.
type Stretch struct {
	From, To int64
	State    string // start, work, broken, leave, over
}

// Stretches cut a life into the states it passed through.
func Stretches(f *Server) []Stretch {
	leaving := history.Never
	if told := slices.DeleteFunc([]int64{f.EOF, f.Term, f.Bye}, func(t int64) bool { return t < 0 }); len(told) > 0 {
		leaving = slices.Min(told)
	}
	states := []Stretch{
		{From: f.Overdue, State: "over"},
		{From: leaving, State: "leave"},
		{From: f.Broken, State: "broken"},
		{From: f.Established, State: "work"},
	}
	cuts := []int64{f.Born, f.Until}
	for _, s := range states {
		if s.From > f.Born && s.From < f.Until {
			cuts = append(cuts, s.From)
		}
	}
	slices.Sort(cuts)
	var out []Stretch
	for i := 1; i < len(cuts); i++ {
		from, to, state := cuts[i-1], cuts[i], "start"
		if at := slices.IndexFunc(states, func(s Stretch) bool { return s.From >= 0 && from >= s.From }); at >= 0 {
			state = states[at].State
		}
		if f.Left && i == len(cuts)-1 {
			state = "over"
		}
		if n := len(out); n > 0 && out[n-1].State == state {
			out[n-1].To = to
			continue
		}
		out = append(out, Stretch{from, to, state})
	}
	return out
}

// UnreapedUntil is the end of the host whose dead child a server is. Who reaped
// it before that, if anybody did, is not in the run.
func (s *Run) UnreapedUntil(f *Server) int64 {
	return max(s.Ended(s.History.HostOf(f.Server).Exited), f.Died)
}

// Level is the height of a curve from t on.
type Level struct {
	T, N int64
}

// LevelsOf are how many servers were alive, and how many of them should have been gone.
func LevelsOf(servers []*Server) (alive, over []Level) {
	for _, f := range servers {
		life, late := []Level{{f.Born, 1}, {f.Until, -1}}, []Level{{f.Overdue, 1}, {f.Until, -1}}
		if f.Left || f.Cut {
			life, late = life[:1], late[:1]
		}
		alive = append(alive, life...)
		if f.Overdue >= 0 {
			over = append(over, late...)
		}
	}
	return Sums(alive), Sums(over)
}

// Owed is how many servers of a label the host was entitled to: one for each
// session that is open or being opened. Nil where sessions are not known.
func (s *Run) Owed(label string) []Level {
	if s.Header.Host.SessionsUnknown() {
		return nil
	}
	var steps []Level
	for _, session := range s.History.Sessions() {
		has := false
		for _, c := range session.Changes {
			want := c.Label == label && (c.State == record.SessionOpen || c.State == record.SessionOpening)
			if want == has {
				continue
			}
			has = want
			if want {
				steps = append(steps, Level{c.T, 1})
			} else {
				steps = append(steps, Level{c.T, -1})
			}
		}
		if gone := s.History.Host().Exited; has && gone >= 0 {
			steps = append(steps, Level{gone, -1})
		}
	}
	return Sums(steps)
}

// Sums turns changes into levels, one for each moment.
func Sums(changes []Level) []Level {
	slices.SortStableFunc(changes, func(x, y Level) int { return cmp.Compare(x.T, y.T) })
	var out []Level
	n := int64(0)
	for _, c := range changes {
		n += c.N
		if k := len(out); k > 0 && out[k-1].T == c.T {
			out[k-1].N = n
		} else {
			out = append(out, Level{c.T, n})
		}
	}
	return out
}

// Highest is the highest level.
func Highest(levels []Level) int64 {
	top := int64(0)
	for _, l := range levels {
		top = max(top, l.N)
	}
	return top
}
