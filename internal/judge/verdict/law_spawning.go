package verdict

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// judgeSpawning is L7: launches per session, and per minute of a label, stay under the scenario's limits.
func judgeSpawning(f *casefile) LawResult {
	l := f.Header.Limits
	if f.Header.Host.SessionsUnknown() {
		l.SpawnsPerSession = 0 // its sessions are its own
	}
	var limits []string
	if l.SpawnsPerSession > 0 {
		limits = append(limits, text.Count(l.SpawnsPerSession, "launch")+" for a session")
	}
	if l.SpawnsPerMinute > 0 {
		limits = append(limits, text.Count(l.SpawnsPerMinute, "launch")+" of a server within a minute")
	}
	if len(limits) == 0 {
		return LawResult{Reason: "the scenario sets no limit on launches"}
	}
	r := LawResult{Expected: "at most " + strings.Join(limits, " and ")}
	mostSession := f.judgePerSession(l.SpawnsPerSession)
	mostMinute := f.judgePerMinute(l.SpawnsPerMinute)
	r.Found = fmt.Sprintf("at most %d for a session, %d within a minute", mostSession, mostMinute)
	if f.Header.Host.SessionsUnknown() {
		r.Found = fmt.Sprintf("at most %d within a minute", mostMinute)
	}
	return r
}

func (f *casefile) judgePerSession(limit int) (most int) {
	keys, bySession := lists.GroupBy(f.servers, facts.SessionOf)
	for _, key := range keys {
		launched := bySession[key]
		if key.Name == "" {
			continue
		}
		most = max(most, len(launched))
		if limit > 0 && len(launched) > limit {
			f.Broken(spawnBreach(key.Label, record.CausePerSession, launched,
				fmt.Sprintf("session %s: %s, %d allowed", prose.Plain(key.Name), text.Count(len(launched), "launch"), limit)))
		}
	}
	return most
}

// judgePerMinute looks at every minute that begins with a launch.
func (f *casefile) judgePerMinute(limit int) (most int) {
	labels, byLabel := lists.GroupBy(f.servers, func(s *history.Server) string { return s.Label })
	for _, label := range labels {
		worst := busiestMinute(byLabel[label])
		most = max(most, len(worst))
		if limit > 0 && len(worst) > limit {
			f.Broken(spawnBreach(label, record.CausePerMinute, worst,
				fmt.Sprintf("%s within %s, %d a minute allowed",
					text.Count(len(worst), "launch"), prose.Span(worst[len(worst)-1].Born-worst[0].Born), limit)))
		}
	}
	return most
}

// busiestMinute are the most launches within a minute.
func busiestMinute(launched []*history.Server) (worst []*history.Server) {
	end := 0
	for begin := range launched {
		for end < len(launched) && launched[end].Born < launched[begin].Born+int64(time.Minute) {
			end++
		}
		if end-begin > len(worst) {
			worst = launched[begin:end]
		}
	}
	return worst
}

func spawnBreach(label string, cause record.Cause, launched []*history.Server, value string) *breach.Breach {
	b := &breach.Breach{Law: "L7", Kind: "respawn", Label: label, Cause: cause, Value: value, Like: string(cause)}
	stillborn, fault := 0, map[string]int{}
	var gaps []int64
	for i, s := range launched {
		b.At = append(b.At, s.Born)
		if s.Established < 0 {
			stillborn++
		}
		if broken := breakingFault(s); broken != nil {
			fault[prose.FaultName(broken)]++
		}
		if i > 0 {
			gaps = append(gaps, s.Born-launched[i-1].Born)
		}
	}
	says := fmt.Sprintf("%s of %s", text.Count(len(launched), "launch"), prose.Plain(label))
	if len(gaps) > 0 {
		slices.Sort(gaps)
		says += fmt.Sprintf(", half of them within %s of the previous one", prose.Span(gaps[len(gaps)/2]))
	}
	says += fmt.Sprintf("; %d never finished a handshake", stillborn)
	if name, n := mostOf(fault); n > 0 {
		says += fmt.Sprintf("; %d of them met the fault %q", n, name)
	}
	b.Narrative = says + "."
	return b
}

// mostOf is the most frequent name, the first in the alphabet of equals.
func mostOf(counts map[string]int) (name string, n int) {
	for k, v := range counts {
		if v > n || v == n && k < name {
			name, n = k, v
		}
	}
	return name, n
}

func describeSpawning(f *casefile, group []*breach.Breach, d *description) {
	limit := f.Header.Limits.SpawnsPerSession
	if group[0].Cause == record.CausePerMinute {
		limit = f.Header.Limits.SpawnsPerMinute
	}
	d.values["limit"] = text.Count(limit, "launch")
}
