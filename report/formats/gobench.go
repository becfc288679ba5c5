package formats

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/leakbench/leakbench/internal/judge/compare"
	"github.com/leakbench/leakbench/internal/judge/law"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/report/model"
	"github.com/leakbench/leakbench/report/words"
)

// Bench writes the lines of golang.org/design/14313-benchmark-format. Counts
// are exact: benchstat compares them by their value and asks for no repeats. A
// law that was not judged has no count, which is not the same as none.
func Bench(b *bytes.Buffer, runs []verdict.Judged) error {
	if len(runs) == 0 {
		return nil
	}
	for _, unit := range benchUnits() {
		fmt.Fprintf(b, "Unit %s assume=exact better=lower\n", unit)
	}
	for i := range runs {
		benchLine(b, &runs[i])
	}
	return nil
}

func benchUnits() []string {
	var units []string
	for _, l := range law.All() {
		units = append(units, l.Unit+"/run")
	}
	return append(units, "findings/run", "doubts/run", "spawned/run", "peak-live/run", "left/run")
}

func benchLine(b *bytes.Buffer, j *verdict.Judged) {
	v := &j.Verdict
	play := compare.PlayOf(j)
	fmt.Fprintf(b, "Benchmark%s/host=%s 1 %d ns/op", benchName(play.Scenario, true), benchName(play.Host, false), model.Lasted(j))
	counts := map[string]int{}
	for i := range v.Findings {
		counts[v.Findings[i].Law] += v.Findings[i].Count
	}
	for _, l := range v.Laws {
		if unit := law.Of(l.Law).Unit; unit != "" && l.Status != verdict.LawNotJudged {
			fmt.Fprintf(b, " %d %s/run", counts[l.Law], unit)
		}
	}
	fmt.Fprintf(b, " %d findings/run %d doubts/run %d spawned/run %d peak-live/run %d left/run\n", len(v.Findings), len(v.Doubts),
		v.Spawned, v.PeakLive, v.Left)
}

// benchName is a name without what the format gives a meaning to. The name
// after "Benchmark" starts with an upper-case letter; a "-" before digits at
// the end would be GOMAXPROCS.
func benchName(s string, upper bool) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '_'
	}, words.Clean(s, words.MaxName))
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		if _, err := strconv.Atoi(name[i+1:]); err == nil {
			name = name[:i] + "_" + name[i+1:]
		}
	}
	if name == "" {
		name = "unknown"
	}
	if upper && (name[0] < 'A' || name[0] > 'Z') {
		if name[0] >= 'a' && name[0] <= 'z' {
			return strings.ToUpper(name[:1]) + name[1:]
		}
		return "X" + name
	}
	return name
}
