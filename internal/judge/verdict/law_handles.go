package verdict

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

const (
	// handlesWarmUp is how many cycles a host has to open what it keeps for good: a log, an epoll, a pool.
	handlesWarmUp = 1
	// mostRises is how often what the host returned to may have risen: a pool
	// that fills is no leak, what rises again and again is.
	mostRises = 2
	// handlesCycles is how many cycles it takes to tell.
	handlesCycles = mostRises + 2
)

// judgeHandles is L5: from cycle to cycle, the host's descriptors return to
// where they were. They are counted, so there is no limit: a rise is a rise.
func judgeHandles(f *casefile) LawResult {
	r := LawResult{Expected: "the same number of open descriptors of the host at the end of each cycle"}
	judged := 0
	for _, group := range f.Series(handlesWarmUp) {
		c := facts.CurveOf(group, func(c *facts.Cycle) int64 { return c.FDs })
		held, first, last := c.Values, group[0], group[len(group)-1]
		if len(held) < handlesCycles {
			continue
		}
		judged++
		line := fmt.Sprintf("%s to %s: %s open descriptors",
			first.Name, last.Name, c.List(func(v int64) string { return strconv.FormatInt(v, 10) }))
		r.Values = append(r.Values, line)
		if n := facts.Rises(facts.Floor(held)); n > mostRises {
			f.Broken(&breach.Breach{
				Law: "L5", Kind: "fd-leak", Cause: record.CausePerCycle, Value: line, At: c.At, Like: "grows",
				Narrative: fmt.Sprintf(
					"The host held %d descriptors after %s and %d after %s, with the same %s below it each time: %s per cycle. "+
						"The number rose %s and never fell back.",
					held[0], first.Name, held[len(held)-1], last.Name, text.Count(first.Live, "process"),
					strings.TrimSuffix(fmt.Sprintf("%.1f", facts.Slope(c.N, held)), ".0"), text.Count(n, "time")),
			})
		}
	}
	if judged == 0 {
		r.Reason = f.noHandles()
		return r
	}
	r.Found = "they return to where they were"
	if f.Broke("L5") {
		r.Found = "they grow"
	}
	return r
}

func (f *casefile) noHandles() string {
	for _, c := range f.Cycles {
		if c.Host != nil && c.FDs <= 0 {
			return "the host's descriptors can't be counted on this system"
		}
	}
	return f.NoCycles(handlesWarmUp + handlesCycles)
}
