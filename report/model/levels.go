package model

import (
	"cmp"
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Level is the height of a curve from t on.
type Level struct {
	T, N int64
}

// LevelsOf are how many servers were alive, and how many of them should have
// been gone.
func LevelsOf(servers []*Server) (alive, over []Level) {
	for _, f := range servers {
		alive = append(alive, Level{f.Born, 1})
		if !f.Left {
			alive = append(alive, Level{f.Until, -1})
		}
		if f.Overdue >= 0 {
			over = append(over, Level{f.Overdue, 1})
			if !f.Left {
				over = append(over, Level{f.Until, -1})
			}
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
