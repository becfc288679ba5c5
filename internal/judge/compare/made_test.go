package compare_test

import (
	"time"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
)

// made is a hand-made run: what the tests need of one.
type made struct {
	scenario, host string
	open, close    time.Duration
	hostRSS        int64
	serverRSS      int64
	findings       []verdict.Finding
	doubts         int
	spawned        int
	cpus           int
	source         string
	cut            bool // no end
}

func (m made) judged() verdict.Judged {
	if m.cpus == 0 {
		m.cpus = 2
	}
	run := &record.Run{Header: record.Header{
		Scenario: record.Scenario{Name: m.scenario, Source: m.source}, Host: record.Host{Name: m.host},
		System: record.System{OS: "linux", Arch: "amd64", CPUs: m.cpus},
	}}
	at := int64(0)
	add := func(after time.Duration, e record.Event) {
		at += int64(after)
		e.T, e.Seq = at, int64(len(run.Events)+1)
		run.Events = append(run.Events, e)
	}
	id := record.Identity{PID: 7, Start: 70}
	add(0, record.Event{Kind: record.StepBegun, Step: &record.Step{N: 1, Op: "open"}})
	add(0, record.Event{Kind: record.Born, Server: "a#1", Birth: &record.Birth{Identity: id, Label: "a", Launch: 1}})
	add(m.open, record.Event{Kind: record.StepEnded, Step: &record.Step{N: 1, Op: "open", OK: true}})
	add(0, record.Event{Kind: record.CensusTaken, Census: &record.Census{
		Host: &record.Process{RSS: m.hostRSS},
		Processes: []record.Process{
			{Identity: id, RSS: m.serverRSS},
			{Identity: record.Identity{PID: 8, Start: 80}, RSS: 1 << 40}, // none of the servers
		},
	}})
	add(0, record.Event{Kind: record.StepBegun, Step: &record.Step{N: 2, Op: "close"}})
	add(m.close, record.Event{Kind: record.StepEnded, Step: &record.Step{N: 2, Op: "close", OK: true}})
	// A step that failed took as long as its time limit: that is no measure.
	add(0, record.Event{Kind: record.StepBegun, Step: &record.Step{N: 3, Op: "close"}})
	add(time.Hour, record.Event{Kind: record.StepEnded, Step: &record.Step{N: 3, Op: "close"}})
	if !m.cut {
		add(0, record.Event{Kind: record.Ended, End: &record.End{Reason: "done"}})
	}
	v := verdict.Verdict{Outcome: verdict.Clean, Findings: m.findings, Spawned: m.spawned, PeakLive: 1}
	for range m.doubts {
		v.Doubts = append(v.Doubts, record.Doubt{Code: "made", Text: "a doubt"})
		v.Outcome = verdict.Inconclusive
	}
	for _, f := range m.findings {
		if f.Severity == record.SeverityError {
			v.Outcome = verdict.Leak
		}
	}
	return verdict.Judged{Run: run, History: history.Of(run), Verdict: v, Dir: "dir"}
}

func leak(print string) verdict.Finding {
	return verdict.Finding{Law: "L1", Kind: "superseded", Label: "a", Severity: record.SeverityError, Count: 1, Fingerprint: print, Title: "a leak"}
}

// closes are runs whose closes take so many milliseconds.
func closes(ms ...float64) []verdict.Judged {
	var out []verdict.Judged
	for _, v := range ms {
		out = append(out, made{scenario: "storm", host: "h", close: time.Duration(v * 1e6)}.judged())
	}
	return out
}
