package verdict

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// Soak is what the repetitions of a soak show together.
type Soak struct {
	Repetitions int     `json:"repetitions"`
	Trends      []Trend `json:"trends" jsonschema:"none where there were too few repetitions"`
}

// Trend is how much something grows in an hour, with the interval that has it with 95 %.
type Trend struct {
	Of    string `json:"of" jsonschema:"processes below the host, descriptors of the host or memory of the host in bytes"`
	First int64  `json:"first"`
	Last  int64  `json:"last"`
	facts.Trend
}

// What a trend is of; what is in bytes is exported for who writes it.
const (
	ofProcesses   = "processes"
	ofDescriptors = "descriptors"
	OfMemory      = "memory"
)

const (
	soakWarmUp = 1 // repetitions in which a host gets what it keeps for good
	leastRise  = 2 // processes more than at first: one more may be a helper that it keeps
)

// repetitions are the cycles of a soak, and none of any other run.
func (f *casefile) repetitions() (all []*facts.Cycle) {
	if f.Header.Soak <= 0 {
		return nil
	}
	for _, c := range f.Cycles {
		if c.Host != nil && c.N > soakWarmUp {
			all = append(all, c)
		}
	}
	return facts.Thin(all)
}

func hours(at []int64) (x []float64) {
	for _, t := range at {
		x = append(x, time.Duration(t).Hours())
	}
	return x
}

// processes is the curve of how many processes there are below the host.
func processes(group []*facts.Cycle) facts.Curve {
	return facts.CountsOf(group, func(c *facts.Cycle) int64 { return int64(c.Live) })
}

// soak is nil for a run that is none.
func (f *casefile) soak() *Soak {
	if f.Header.Soak <= 0 {
		return nil
	}
	group, s := f.repetitions(), &Soak{Repetitions: len(f.Cycles), Trends: []Trend{}}
	for _, of := range []struct {
		what  string
		curve facts.Curve
	}{
		{ofProcesses, processes(group)},
		{ofDescriptors, facts.CurveOf(group, func(c *facts.Cycle) int64 { return c.FDs })},
		{OfMemory, facts.CurveOf(group, func(c *facts.Cycle) int64 { return c.RSS })},
	} {
		if t, ok := facts.TrendOf(hours(of.curve.At), of.curve.Values); ok {
			s.Trends = append(s.Trends, Trend{of.what, of.curve.Values[0], of.curve.Values[len(of.curve.Values)-1], t})
		}
	}
	return s
}

// judgeRise is the part of L1 that no checkpoint sees: whatever is kept below the host, it is more and more. Where L1 knows which
// process it is, it has said so. What has only begun to rise may be a leak or a pool that fills, and is not judged.
func (f *casefile) judgeRise(r *LawResult) {
	c := processes(f.repetitions())
	n := len(c.Values)
	if f.Broke("L1") || n < 2*facts.LeastPoints {
		return
	}
	all, _ := facts.TrendOf(hours(c.At), c.Values)
	late, _ := facts.TrendOf(hours(c.At[n/2:]), c.Values[n/2:]) // a pool that fills stops some time
	switch last := c.Values[n-1]; {
	case late.Low <= 0:
	case all.Low > 0 && last-c.Values[0] >= leastRise:
		f.Broken(riseBreach(c, all))
		r.Found, r.Reason = "more and more processes below the host", ""
	case last-slices.Max(c.Values[:n/2]) >= leastRise:
		r.Reason = "the processes below the host began to rise in the second half of the soak: a longer one tells a leak from a pool that fills"
	}
}

func riseBreach(c facts.Curve, all facts.Trend) *breach.Breach {
	n := len(c.Values)
	line := c.List(func(v int64) string { return strconv.FormatInt(v, 10) })
	return &breach.Breach{
		Law: "L1", Kind: "process-growth", Cause: record.CausePerCycle, At: c.At, Like: "grows",
		Value: fmt.Sprintf("repetition %d to %d: %s processes below the host; %+.1f an hour (95%%: %+.1f to %+.1f)",
			c.N[0], c.N[n-1], line, all.Slope, all.Low, all.High),
		Narrative: fmt.Sprintf(
			"There were %s below the host after repetition %d and %d after repetition %d, %s later, with every session closed each time. "+
				"They rose in the second half as well, so this is no pool that fills.",
			text.Count(int(c.Values[0]), "process"), c.N[0], c.Values[n-1], c.N[n-1], prose.Span(c.At[n-1]-c.At[0])),
	}
}
