package verdict

import (
	"fmt"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"

	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

const (
	// memoryWarmUp is how many cycles a process has to fill its heap to what it works with.
	memoryWarmUp = 2
	// memoryCycles is a prime: a collector that runs every second or third cycle does not beat with it.
	memoryCycles = 7
)

// judgeMemory is L6: from cycle to cycle, neither the host nor a server that stays takes more memory than the limit allows.
func judgeMemory(f *casefile) LawResult {
	limit := f.Header.Limits.GrowthPerCycle
	r := LawResult{Expected: "no more than " + prose.Mebibytes(limit) + " of growth per cycle"}
	if limit <= 0 {
		return LawResult{Reason: "the scenario sets no limit on growth"}
	}
	judged := 0
	for _, group := range f.Series(memoryWarmUp) {
		host := facts.CurveOf(group, func(c *facts.Cycle) int64 { return c.RSS })
		judged += f.memory(&r, host, &breach.Breach{Kind: "host-growth", Cause: record.CauseHost}, "the host")
		for _, s := range f.servers {
			b := &breach.Breach{Kind: "server-growth", Label: s.Label, Cause: record.CauseServer, Server: s}
			curve := facts.CurveOf(group, func(c *facts.Cycle) int64 { return c.MemoryOf(s.Birth.Identity) })
			judged += f.memory(&r, curve, b, prose.Process(s, s.Birth.Identity, ""))
		}
	}
	if judged == 0 {
		r.Reason = f.NoCycles(memoryWarmUp + memoryCycles)
		return r
	}
	r.Found = "within it"
	if f.Broke("L6") {
		r.Found = "more"
	}
	return r
}

// memory judges the memory of one process, and says whether it could: 1 or 0.
func (f *casefile) memory(r *LawResult, c facts.Curve, b *breach.Breach, who string) int {
	last := len(c.N) - 1
	if last+1 < memoryCycles {
		return 0
	}
	grows, limit := facts.Slope(c.N, facts.WithoutJump(c.Values)), f.Header.Limits.GrowthPerCycle
	line := c.List(func(v int64) string { return fmt.Sprintf("%.1f", float64(v)/(1<<20)) })
	b.Law, b.At, b.Like = "L6", c.At, b.Kind
	sizes := fmt.Sprintf("%s MiB at the end of the cycles from %d to %d", line, c.N[0], c.N[last])
	if b.Value = who + ": " + sizes; b.Server != nil {
		b.SawServer(b.Server, "", sizes)
	}
	r.Values = append(r.Values, fmt.Sprintf("%s; %+.2f MiB per cycle", b.Value, grows/(1<<20)))
	if grows > float64(limit) {
		b.Narrative = fmt.Sprintf(
			"%s grew by %.2f MiB per cycle over %s (the median of the slopes between all of them, "+
				"without the greatest step and the first %d cycles), from %s to %s. The number of processes did not grow with it.",
			prose.Capital(who), grows/(1<<20), text.Count(last+1, "cycle"), memoryWarmUp,
			prose.Mebibytes(c.Values[0]), prose.Mebibytes(c.Values[last]))
		f.Broken(b)
	}
	return 1
}

func describeMemory(f *casefile, _ []*breach.Breach, d *description) {
	d.values["limit"] = prose.Mebibytes(f.Header.Limits.GrowthPerCycle)
}
