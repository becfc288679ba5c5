package server

import (
	"fmt"
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/prose"
	"github.com/leakbench/leakbench/internal/record"
)

const (
	// warmUp is how long a server may settle after its last request: runtimes collect and cache.
	warmUp = int64(3 * time.Second)
	// leastIdle is how long it must have been watched after that.
	leastIdle = int64(4 * time.Second)
	// memoryGrows is how many bytes a minute an idle server may gain.
	memoryGrows = 1 << 20
	// handlesGrow is how many descriptors it must have gained, and processesGrow how many processes.
	handlesGrow   = 5
	processesGrow = 3
)

// measured is what a look says of a server's processes together.
type measured struct {
	at                  float64 // seconds
	rss, fds, processes int64
	cpu                 record.Duration
	ready               bool // one of them was running, or wanted to
}

// judgeIdle is S7.
func (x *exam) judgeIdle() {
	idle := x.step(record.OpIdle, "")
	if idle == nil || idle.Ended < 0 {
		x.unjudged("S7", "the server was not watched while it was idle")
		return
	}
	points := x.measure(idle)
	if len(points) < facts.LeastPoints || points[len(points)-1].at-points[0].at < float64(leastIdle)/1e9 {
		x.unjudged("S7",
			fmt.Sprintf("it was not watched for long enough, %s: it takes %s, and %d looks after the first %s", prose.Span(idle.Ended-idle.Begun),
				prose.Span(warmUp+leastIdle), facts.LeastPoints, prose.Span(warmUp)))
		return
	}
	first, last := points[0], points[len(points)-1]
	x.Found["S7"] = fmt.Sprintf("in %s: memory %s to %s, descriptors %d to %d, processes %d to %d", prose.Span(int64((last.at-first.at)*1e9)),
		prose.Mebibytes(first.rss), prose.Mebibytes(last.rss), first.fds, last.fds, first.processes, last.processes)
	x.judgeGrowth(idle, points)
	x.judgeCPU(idle, points)
}

// mostlyReady is the share of the looks at which a busy server is ready to run, where others want the processors too.
const mostlyReady = 0.7

func (x *exam) judgeCPU(idle *history.Step, points []measured) {
	first, last, ready := points[0], points[len(points)-1], 0
	for _, m := range points {
		if m.ready {
			ready++
		}
	}
	used, share := float64(last.cpu-first.cpu)/1e9/(last.at-first.at), float64(ready)/float64(len(points))
	if used >= spinning || used >= contended && share >= mostlyReady {
		x.broken(&breach.Breach{
			Kind: "idle-cpu", Cause: record.CauseIdle, At: []int64{idle.Begun},
			Value: fmt.Sprintf("%.0f %% of a processor over %s; ready to run at %.0f %% of the looks",
				100*used, prose.Span(int64((last.at-first.at)*1e9)), 100*share),
		})
	}
}

// judgeGrowth says what grows. Memory and descriptors of more and more processes are told with these.
func (x *exam) judgeGrowth(idle *history.Step, points []measured) {
	count := func(least int64, noun string) func(facts.Trend, int64) (string, bool) {
		return func(t facts.Trend, gained int64) (string, bool) {
			value := fmt.Sprintf("%d more %s, %.1f a minute (at 95 %% from %.1f to %.1f)", gained, noun, t.Slope*60, t.Low*60, t.High*60)
			return value, t.Low > 0 && gained >= least
		}
	}
	if x.judgeTrend(idle, points, "idle-processes", func(m measured) int64 { return m.processes }, count(processesGrow, "processes")) {
		return
	}
	x.judgeTrend(idle, points, "idle-descriptors", func(m measured) int64 { return m.fds }, count(handlesGrow, "descriptors"))
	x.judgeTrend(idle, points, "idle-memory", func(m measured) int64 { return m.rss }, func(t facts.Trend, _ int64) (string, bool) {
		size := func(slope float64) string { return prose.Mebibytes(int64(slope * 60)) }
		return fmt.Sprintf("%s a minute (at 95 %% from %s to %s)", size(t.Slope), size(t.Low), size(t.High)), t.Low*60 > memoryGrows
	})
}

// measure is what the looks say of the idle time, once the server has settled.
func (x *exam) measure(idle *history.Step) (points []measured) {
	for _, look := range x.Censuses() {
		if look.T < idle.Begun+warmUp || look.T > idle.Ended || look.Role != record.CensusSample {
			continue
		}
		m := measured{at: float64(look.T) / 1e9}
		for _, p := range live(look.Census) {
			m.rss, m.fds, m.processes, m.cpu = m.rss+p.RSS, m.fds+int64(max(p.FDs, 0)), m.processes+1, m.cpu+p.CPU
			m.ready = m.ready || p.State == record.StateRunning
		}
		points = append(points, m)
	}
	return facts.Thin(points)
}

func (x *exam) judgeTrend(
	idle *history.Step, points []measured, kind string, of func(measured) int64, grows func(facts.Trend, int64) (string, bool),
) (broken bool) {
	var at []float64
	var values []int64
	for _, m := range points {
		at, values = append(at, m.at), append(values, of(m))
	}
	trend, known := facts.TrendOf(at, values)
	if !known {
		return false
	}
	value, broken := grows(trend, values[len(values)-1]-values[0])
	if broken {
		x.broken(&breach.Breach{Kind: kind, Cause: record.CauseIdle, At: []int64{idle.Begun}, Value: value})
	}
	return broken
}
