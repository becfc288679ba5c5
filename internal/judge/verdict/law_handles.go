package verdict

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

const (
	// handlesWarmUp is how many cycles a host has to open what it keeps for
	// good: a log, an epoll, a pool.
	handlesWarmUp = 1
	// mostRises is how often what the host returned to may have risen: a pool
	// that fills is no leak, what rises again and again is.
	mostRises = 2
	// handlesCycles is how many cycles it takes to tell.
	handlesCycles = mostRises + 2
)

// judgeHandles is L5: from cycle to cycle, the host's descriptors return to
// where they were. They are counted, so there is no limit: a rise is a rise.
func judgeHandles(f *facts) LawResult {
	r := LawResult{Expected: "the same number of open descriptors of the host at the end of each cycle"}
	judged := 0
	for _, group := range f.series(handlesWarmUp) {
		var held []int64
		var at []int64
		for _, c := range group {
			if c.host.FDs > 0 {
				held, at = append(held, int64(c.host.FDs)), append(at, c.t)
			}
		}
		if len(held) < handlesCycles {
			continue
		}
		judged++
		line := fmt.Sprintf("%s to %s: %s open descriptors", group[0].name, group[len(group)-1].name, numbers(held))
		r.Values = append(r.Values, line)
		if n := rises(floor(held)); n > mostRises {
			f.broken(&breach{
				law: "L5", kind: "fd-leak", cause: record.CausePerCycle, value: line, at: at, like: "grows",
				story: fmt.Sprintf("The host held %d descriptors after %s and %d after %s, with the same %s below it each time: %s per cycle. They rose %s and never came back.",
					held[0], group[0].name, held[len(held)-1], group[len(group)-1].name, text.Count(group[0].live, "process"),
					perCycle(slopeOf(group, held)), text.Count(n, "time")),
			})
		}
	}
	if judged == 0 {
		r.Reason = f.noHandles()
		return r
	}
	r.Found = "they return to where they were"
	if f.broke("L5") {
		r.Found = "they grow"
	}
	return r
}

func (f *facts) noHandles() string {
	for _, c := range f.cycles {
		if c.host != nil && c.host.FDs <= 0 {
			return "the host's descriptors can't be counted on this system"
		}
	}
	return f.noCycles(handlesWarmUp + handlesCycles)
}

// slopeOf is the growth of one value per cycle, to the number of the cycles.
func slopeOf(group []*cycle, values []int64) float64 {
	x := make([]int, len(values))
	for i := range x {
		x[i] = group[i].N
	}
	return slope(x, values)
}

func perCycle(n float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
}

// numbers are values of a sentence; of many, the first and the last ones.
func numbers(values []int64) string {
	const most = 16
	var words []string
	for i, v := range values {
		if len(values) > most && i == most/2 {
			words = append(words, "…")
		}
		if len(values) <= most || i < most/2 || i >= len(values)-most/2 {
			words = append(words, fmt.Sprint(v))
		}
	}
	return strings.Join(words, ", ")
}
