package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/report/model"
)

// What the census shows beside the ledger's servers stands below the server
// that it belongs to: launchers, helpers, and helpers of helpers.
func TestKinStandBelowTheirServer(t *testing.T) {
	t.Parallel()
	w := newWorld("helpers", "naive")
	w.host()
	id := w.open("s1", "flaky", false)
	server := w.births[id]
	proc := func(pid, ppid, pgid int, comm string) record.Process {
		return record.Process{Identity: record.Identity{PID: pid, Start: uint64(pid)}, PPID: ppid, PGID: pgid, SID: pgid, State: "S", Comm: comm}
	}
	all := []record.Process{
		{Identity: server.Identity, PPID: server.PPID, State: "S", Comm: "leakbench"},
		proc(41187, 41180, 41187, "host"),
		proc(server.PPID+50_000, 41187, 7, "stranger"),
		proc(60_001, server.PID, 60_001, "helper"),
		proc(60_002, 60_001, 60_001, "helper-of-helper"),
		proc(60_003, 1, server.PGID, "orphan-of-group"),
	}
	w.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample, Processes: all}})
	w.t += 1000 * ms
	w.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Role: record.CensusSample, Processes: all[:4]}})
	launched := w.born("flaky", "s2") // by a launcher, not by the host
	birth := w.births[launched]
	w.Events[len(w.Events)-2].Birth.PPID = 70_000
	w.add(record.Event{Kind: record.CensusTaken, Census: &record.Census{Processes: []record.Process{proc(70_000, 69_999, 70_000, "npx"), proc(69_999, 41187, 69_999, "sh")}}})
	run := w.Run
	j := verdict.Judged{Run: &run, History: history.Of(&run), Verdict: verdict.Verdict{Outcome: verdict.Leak, Findings: []verdict.Finding{{
		Law: "L2", Kind: "helper", Fingerprint: "x", Count: 1, Evidence: []record.Evidence{{Process: all[3]}},
	}}}}
	s := model.New(&j)
	type place struct{ role, of string }
	got := map[string]place{}
	for _, k := range s.Others {
		of := ""
		if k.Of != nil {
			of = k.Of.ID
		}
		got[k.Comm] = place{k.Role, of}
	}
	assert.Equal(t, map[string]place{
		"stranger": {"other", ""}, "helper": {"helper", id}, "helper-of-helper": {"helper", id}, "orphan-of-group": {"helper", id},
		"npx": {"launcher", launched}, "sh": {"launcher", launched},
	}, got)
	assert.NotZero(t, birth.PID)

	blocks := dataBlock.FindAllString(render(t, j), -1)
	require.Len(t, blocks, 2, "data and samples")
	block := func(n int) string { return blocks[n][strings.Index(blocks[n], ">")+1:] }
	meta, columns := unpacked(t, block(0))
	texts := meta["texts"].([]any)
	var names []string
	for i, n := range columns["name"] {
		name := "server"
		if n != 0 {
			name = texts[n].(string)
		}
		if columns["class"][i] == 4 {
			name += " left behind"
		}
		names = append(names, name)
	}
	assert.Equal(t, []string{"server", "helper left behind", "helper-of-helper", "orphan-of-group", "server", "npx", "sh", "stranger"}, names)
	_, looks := unpacked(t, block(1))
	assert.Len(t, looks["t"], 3)
	assert.Equal(t, []int64{2, 2, 1, 1, 0, 1, 1, 2}, looks["count"], "how often each was looked at")
}
