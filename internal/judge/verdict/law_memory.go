package verdict

import (
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

const (
	// memoryWarmUp is how many cycles a process has to fill its heap to what
	// it works with.
	memoryWarmUp = 2
	// memoryCycles is a prime: a collector that runs every second or third
	// cycle does not beat with it.
	memoryCycles = 7
)

// judgeMemory is L6: from cycle to cycle, neither the host nor a server that
// stays takes more memory than the limit allows.
func judgeMemory(f *facts) LawResult {
	limit := f.header.Limits.GrowthPerCycle
	r := LawResult{Expected: "no more than " + prose.Mebibytes(limit) + " of growth per cycle"}
	if limit <= 0 {
		return LawResult{Reason: "the scenario sets no limit on growth"}
	}
	judged := 0
	for _, group := range f.series(memoryWarmUp) {
		judged += f.hostMemory(&r, group, limit)
		for _, s := range f.servers {
			judged += f.serverMemory(&r, group, s, limit)
		}
	}
	if judged == 0 {
		r.Reason = f.noCycles(memoryWarmUp + memoryCycles)
		return r
	}
	r.Found = "within it"
	if f.broke("L6") {
		r.Found = "more"
	}
	return r
}

// measure is the memory of one process over the cycles.
type measure struct {
	at    []int64
	bytes []int64
	n     []int
}

func (m *measure) add(c *cycle, rss int64) {
	if rss > 0 {
		m.at, m.bytes, m.n = append(m.at, c.t), append(m.bytes, rss), append(m.n, c.N)
	}
}

func (m *measure) enough() bool { return len(m.n) >= memoryCycles }

func (m *measure) line(who string) string {
	var all []string
	for _, b := range m.bytes {
		all = append(all, fmt.Sprintf("%.1f", float64(b)/(1<<20)))
	}
	if most := 16; len(all) > most {
		all = append(append(all[:most/2:most/2], "…"), all[len(all)-most/2:]...)
	}
	return fmt.Sprintf("%s: %s MiB at the end of the cycles from %d to %d", who, strings.Join(all, ", "), m.n[0], m.n[len(m.n)-1])
}

// hostMemory judges the host, and says whether it could.
func (f *facts) hostMemory(r *LawResult, group []*cycle, limit int64) int {
	var m measure
	for _, c := range group {
		m.add(c, c.host.RSS)
	}
	return f.memory(r, m, limit, &breach{kind: "host-growth", cause: record.CauseHost}, "the host")
}

// serverMemory judges a server that was there in all of the cycles.
func (f *facts) serverMemory(r *LawResult, group []*cycle, s *history.Server, limit int64) int {
	var m measure
	for _, c := range group {
		if p := c.rows[s.Birth.Identity]; p != nil && p.State != record.StateZombie {
			m.add(c, p.RSS)
		}
	}
	return f.memory(r, m, limit, &breach{kind: "server-growth", label: s.Label, cause: record.CauseServer, server: s}, prose.Process(s, s.Birth.Identity, ""))
}

func (f *facts) memory(r *LawResult, m measure, limit int64, b *breach, who string) int {
	if !m.enough() {
		return 0
	}
	grows := slope(m.n, withoutJump(m.bytes))
	b.law, b.value, b.at, b.like = "L6", m.line(who), m.at, b.kind
	r.Values = append(r.Values, fmt.Sprintf("%s; %+.2f MiB per cycle", b.value, grows/(1<<20)))
	if grows > float64(limit) {
		b.story = fmt.Sprintf("%s grew by %.2f MiB per cycle over %s (the median of the slopes between all of them, the greatest step and the first %d cycles left out), from %s to %s. The number of processes did not grow with it.",
			prose.Capital(who), grows/(1<<20), text.Count(len(m.n), "cycle"), memoryWarmUp, prose.Mebibytes(m.bytes[0]), prose.Mebibytes(m.bytes[len(m.bytes)-1]))
		f.broken(b)
	}
	return 1
}

func describeMemory(f *facts, _ []*breach, d *description) {
	d.values["limit"] = prose.Mebibytes(f.header.Limits.GrowthPerCycle)
}
