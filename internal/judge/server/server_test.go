package server_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/facts"
	"github.com/leakbench/leakbench/internal/judge/server"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
)

// saved are runs of `leakbench server` against servers of testdata/servers and of leakbench fakeserver, with what they show.
var saved = map[string]struct {
	outcome verdict.Outcome
	kinds   string
	says    string // in a finding's values, or in a doubt
}{
	"healthy-eof": {verdict.Clean, "", ""}, "healthy-eof-call": {verdict.Clean, "", ""}, "healthy-eof-start": {verdict.Clean, "", ""},
	"healthy-sigterm": {verdict.Clean, "", ""}, "healthy-epipe": {verdict.Clean, "", ""}, "healthy-shell": {verdict.Clean, "", ""},
	"healthy-idle": {verdict.Clean, "", ""}, "slow-eof": {verdict.Clean, "", ""}, "slow-sigterm": {verdict.Clean, "", ""},
	"deaf-eof":          {verdict.Leak, "S2 eof-ignored", "was still running"},
	"deaf-eof-call":     {verdict.Leak, "S2 eof-ignored-in-call", ""},
	"deaf-eof-start":    {verdict.Leak, "S2 eof-ignored-at-start", ""},
	"deaf-shell":        {verdict.Leak, "S2 eof-ignored-orphaned", ""},
	"deaf-epipe":        {verdict.Leak, "S4 epipe-stuck", "after its stdout broke"},
	"deaf-term-sigterm": {verdict.Leak, "S3 term-ignored", "after SIGTERM"},
	"launcher-eof":      {verdict.Clean, "", ""},
	"launcher-sigterm":  {verdict.Leak, "S3 term-not-forwarded", "after SIGTERM to its launcher"},
	"helper-eof":        {verdict.Leak, "S5 helper-left", "sleep (pid "},
	"helper-sigterm":    {verdict.Leak, "S5 helper-left", ""},
	"detached-eof":      {verdict.Leak, "S5 helper-escaped", ""},
	"noise-eof":         {verdict.Leak, "S6 stdout-noise", "planted is ready"},
	"spin-epipe":        {verdict.Leak, "S4 epipe-spin", "% of a processor"},
	"late-epipe":        {verdict.Clean, "S4 epipe-late", "after its stdout broke"},
	"helper-late":       {verdict.Clean, "S5 helper-late", "after the server"},
	"memory-idle":       {verdict.Clean, "S7 idle-memory", "MiB a minute"},
	"processes-idle":    {verdict.Leak, "S5 helper-left S7 idle-processes", "more processes"},
	"busy-idle":         {verdict.Leak, "S7 idle-cpu", "% of a processor"},
	"late-eof":          {verdict.Clean, "S2 eof-late", "gone 1"},
	"late-sigterm":      {verdict.Clean, "S3 term-late", "gone 1"},
	"spin-eof":          {verdict.Leak, "S2 eof-spin", "% of a processor"},
	"swallows-epipe":    {verdict.Clean, "S4 epipe-ignored", ""},
	"dies-eof":          {verdict.Leak, "S1 died", "It exited with status 7"},
	"silent-eof":        {verdict.Leak, "S1 silent", "initialize: no answer within 1"},
	"refuses-eof":       {verdict.Leak, "S1 refused", "initialize: "},
	"grows-idle":        {verdict.Leak, "S5 unreaped-child S7 idle-descriptors", "more descriptors"},
	"keyless-eof":       {verdict.Inconclusive, "", "API_KEY is not set"},
	"keyless-eof-start": {verdict.Inconclusive, "", "whether stdin EOF ended it is not known"},
}

func read(t *testing.T, name string) *record.Run {
	t.Helper()
	run, err := record.Read(filepath.Join("testdata", name+".jsonl"))
	require.NoError(t, err)
	return run
}

// TestSavedRuns judges each saved run: what it shows is found, and nothing else.
func TestSavedRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(t, err)
	assert.Len(t, files, len(saved))
	for name, want := range saved {
		v := verdict.Judge(read(t, name))
		var kinds, said []string
		for _, f := range v.Findings {
			kinds, said = append(kinds, f.Law+" "+f.Kind), append(said, f.Values...)
			assert.Equal(t, "planted", f.Label)
			assert.NotContains(t, f.Title+f.Found+f.Expected+f.Why, "{", name)
			assert.Equal(t, law.KindOf(f.Kind).Severity == record.SeverityWarning, !f.IsError(), f.Kind)
		}
		for _, d := range v.Doubts {
			said = append(said, d.Text)
		}
		assert.Equal(t, want.kinds, strings.Join(kinds, " "), name)
		assert.Equal(t, want.outcome, v.Outcome, "%s: %v", name, v.Doubts)
		assert.Contains(t, strings.Join(said, "\n"), want.says, name)
		assert.Equal(t, want.outcome == verdict.Inconclusive, len(v.Doubts) > 0, "%s: %v", name, v.Doubts)
	}
}

// TestEvidenceOrNothing: a run that is cut anywhere is never clean, and shows no finding that the whole run does not.
func TestEvidenceOrNothing(t *testing.T) {
	t.Parallel()
	for name := range saved {
		whole := read(t, name)
		fingerprints := map[string]bool{}
		v := verdict.Judge(whole)
		for _, f := range v.Findings {
			fingerprints[f.Fingerprint] = true
		}
		for n := range len(whole.Events) - 1 {
			v := verdict.Judge(&record.Run{Header: whole.Header, Events: whole.Events[:n], Truncated: "cut"})
			assert.NotEqual(t, verdict.Clean, v.Outcome, "%s, cut after %d events", name, n)
			for _, f := range v.Findings {
				assert.True(t, fingerprints[f.Fingerprint] || f.Law == "S7", "%s, cut after %d events: %s", name, n, f.Title)
			}
		}
	}
}

// without is a run less the events of some steps or kinds.
func without(run *record.Run, drop func(*record.Event) bool) *record.Run {
	out := &record.Run{Header: run.Header}
	for _, e := range run.Events {
		if !drop(&e) {
			out.Events = append(out.Events, e)
		}
	}
	return out
}

// TestKeptNeedsEvidence: without what shows it, a law that a check is about is not kept, and the run is not clean.
func TestKeptNeedsEvidence(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, law, reason string
		drop              func(*record.Event) bool
	}{
		{"healthy-eof", "S1", "no request was answered", isStep(record.OpInitialize, record.OpList)},
		{"healthy-eof", "S2", "stdin was not closed", isStep(record.OpEOF)},
		{"healthy-eof", "S2", "not seen to the end", isCheckpoint},
		{"healthy-eof", "S5", "had not ended", isCheckpoint},
		{"healthy-sigterm", "S3", "not sent", isStep(record.OpTerm)},
		{"healthy-epipe", "S4", "not broken", isStep(record.OpHangUp)},
		{"healthy-idle", "S7", "not watched", isStep(record.OpIdle)},
		{"healthy-idle", "S7", "long enough", func(e *record.Event) bool { return e.Census != nil && e.Census.Role == record.CensusSample }},
	} {
		v := verdict.Judge(without(read(t, c.name), c.drop))
		assert.NotEqual(t, verdict.Clean, v.Outcome, "%s without %s", c.name, c.reason)
		for _, l := range v.Laws {
			if l.Law == c.law {
				assert.Equal(t, verdict.LawNotJudged, l.Status, "%s: %s", c.name, c.reason)
				assert.Contains(t, l.Reason, c.reason)
			}
		}
	}
}

// TestAYoungZombie: what had ended just before the server was asked to end is neither reaped nor unreaped, unless the server was seen
// to wait for it.
func TestAYoungZombie(t *testing.T) {
	t.Parallel()
	judged := func(put ...string) verdict.LawResult {
		run := read(t, "healthy-eof")
		end, looks := int64(0), []*record.Census{}
		for i := range run.Events {
			if e := &run.Events[i]; e.Step != nil && e.Step.Op == record.OpEOF && end == 0 {
				end = e.T
			}
		}
		for i := range run.Events {
			if e := &run.Events[i]; e.Census != nil && e.T < end && e.Census.Host != nil {
				looks = append(looks, e.Census)
			}
		}
		require.GreaterOrEqual(t, len(looks), len(put))
		looks = looks[len(looks)-len(put):] // the last ones before the end
		for i, state := range put {
			if state != "" {
				row := record.Process{Identity: record.Identity{PID: 4242, Start: 7}, PPID: looks[i].Host.PID, State: record.State(state), Comm: "child"}
				looks[i].Processes = append(looks[i].Processes, row)
			}
		}
		for _, l := range verdict.Judge(run).Laws {
			if l.Law == "S5" {
				return l
			}
		}
		return verdict.LawResult{}
	}
	l := judged("Z")
	assert.Equal(t, verdict.LawNotJudged, l.Status)
	assert.Contains(t, l.Reason, "child (pid 4242) was a zombie when the server was asked to end, so it is not known whether the server would have reaped it")
	assert.Equal(t, verdict.LawKept, judged("Z", "").Status, "it was waited for")
}

func isStep(ops ...record.Op) func(*record.Event) bool {
	return func(e *record.Event) bool {
		for _, op := range ops {
			if e.Step != nil && e.Step.Op == op {
				return true
			}
		}
		return false
	}
}

func isCheckpoint(e *record.Event) bool { return e.Checkpoint != nil }

// TestWithoutSubreaper: where orphans can't be seen, nobody says that nothing was left.
func TestWithoutSubreaper(t *testing.T) {
	t.Parallel()
	run := read(t, "healthy-eof")
	run.Header.Witness.Subreaper = false
	r := server.Judge(&breach.Book{Facts: facts.Of(run)})
	assert.Contains(t, breach.Why(r.Unjudged, "S5"), "are not reparented")
	assert.Equal(t, verdict.Inconclusive, verdict.Judge(run).Outcome)
}

// TestStarvedMachine: what is late by no more than the processes had to wait for a processor is no finding, and the run is not clean.
func TestStarvedMachine(t *testing.T) {
	t.Parallel()
	run := read(t, "late-eof")
	n := record.Duration(0)
	for i := range run.Events {
		if c := run.Events[i].Census; c != nil && c.Load != nil {
			n += record.Duration(time.Second)
			waited := n
			c.Load.Waited = &waited
		}
	}
	v := verdict.Judge(run)
	assert.Empty(t, v.Findings)
	assert.Equal(t, verdict.Inconclusive, v.Outcome)
}
