package host_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
)

// dropped has a server that naive drops as another one takes its place, and two looks at it.
const dropped = `name: dropped
title: a server whose session goes on without it
servers: {flaky: {}}
limits: {settle: 20s, confirm: 10s}
steps:
  - {open: work, server: flaky}
  - {break: work, with: close-stdout, defining: true}
  - open: work
  - checkpoint: dropped
  - checkpoint: again
`

// long are the times that the user insists on: no test here waits for them.
func long(p *host.Params) {
	p.Settle, p.Confirm, p.Fast = record.Duration(20*time.Second), record.Duration(10*time.Second), true
}

func checkpoints(t *testing.T, dir string) []*history.Checkpoint {
	t.Helper()
	run, err := record.Read(dir)
	require.NoError(t, err)
	return history.Of(run).Checkpoints()
}

// TestAFastRunGivesUp what nobody has told to end, and does not wait for it again while the host lives.
func TestAFastRunGivesUp(t *testing.T) {
	t.Parallel()
	v, dir := play(t, dropped, "naive", long)
	all := checkpoints(t, dir)
	require.Len(t, all, 3)
	assert.Equal(t, record.EarlyFast, all[0].Early)
	assert.GreaterOrEqual(t, all[0].Waited.D(), record.FastWait.D())
	assert.Less(t, all[0].Waited.D(), 15*time.Second, "the whole settle time is 20 s")
	assert.Nil(t, all[0].Confirm, "nobody watches on")
	assert.NotEmpty(t, all[0].Evidence)
	assert.Equal(t, record.EarlyFast, all[1].Early)
	assert.Less(t, all[1].Waited.D(), record.FastWait.D(), "it was given up before")
	require.Len(t, v.Findings, 1, "%+v", v.Findings)
	assert.Equal(t, "still-running", v.Findings[0].Kind)
	run, err := record.Read(dir)
	require.NoError(t, err)
	assert.Equal(t, 2, run.Header.Version)
	assert.Equal(t, record.FastWait, run.Header.Limits.Fast)
}

// TestAFastRunWaitsForWhatTheHostDeclares, and not for more.
func TestAFastRunWaitsForWhatTheHostDeclares(t *testing.T) {
	t.Parallel()
	_, dir := play(t, dropped, "naive", func(p *host.Params) {
		long(p)
		p.Host.Scenarios = map[string]subject.Limits{"dropped": {Settle: record.Duration(3500 * time.Millisecond)}}
	})
	first := checkpoints(t, dir)[0]
	assert.GreaterOrEqual(t, first.Waited.D(), 3500*time.Millisecond)
	assert.Equal(t, record.EarlyFast, first.Early)
}

// TestAFastRunWaitsForALadder: the server has read the end of its stdin, so the host may be about to end it. The verdict is the usual one.
func TestAFastRunWaitsForALadder(t *testing.T) {
	t.Parallel()
	v, dir := play(t, `name: behind
title: a deaf server behind a shell
servers: {shell: {faults: [{on: start, do: launcher, as: shell}, {on: eof, do: ignore}]}}
limits: {settle: 20s, confirm: 10s}
steps:
  - {open: work, server: shell}
  - {close: work, expect: any}
  - checkpoint: closed
`, "naive", func(p *host.Params) {
		p.Settle, p.Confirm, p.Fast = record.Duration(2500*time.Millisecond), record.Duration(time.Second), true
	})
	first := checkpoints(t, dir)[0]
	assert.GreaterOrEqual(t, first.Waited.D(), 3500*time.Millisecond)
	assert.Empty(t, first.Early)
	for _, f := range v.Findings {
		assert.NotContains(t, f.Kind, "still", "%s: %s", f.Law, f.Title)
	}
	assert.NotEmpty(t, v.Findings)
}

// TestAFastRunOfACorrectHost is clean, and as fast as ever.
func TestAFastRunOfACorrectHost(t *testing.T) {
	t.Parallel()
	v, dir := play(t, dropped, "exact", long)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v %+v", v.Findings, v.Doubts)
	for _, cp := range checkpoints(t, dir) {
		assert.Empty(t, cp.Early)
	}
}

// TestAWaitIsTold: once at a checkpoint, what for and for how much longer; also where the run is not to be fast.
func TestAWaitIsTold(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told []host.Waiting
	_, dir := play(t, dropped, "naive", func(p *host.Params) {
		p.Settle, p.Confirm = record.Duration(2500*time.Millisecond), record.Duration(time.Second)
		p.OnWait = func(w host.Waiting) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, w)
		}
	})
	require.Len(t, told, 1)
	assert.Equal(t, "dropped", told[0].Checkpoint)
	assert.Equal(t, []string{"flaky#1"}, told[0].Left)
	assert.Greater(t, told[0].Most, 500*time.Millisecond, "what is left of the settle time, and the watch")
	assert.Less(t, told[0].Most, 2*time.Second)
	assert.Empty(t, checkpoints(t, dir)[0].Early)
}

// TestWhatIsWaitedFor in a line.
func TestWhatIsWaitedFor(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]host.Waiting{
		"still running after 2 s: a#1; not reaped after 2 s: 1 zombie; no server after 2 s: b; waiting up to 14 s longer": {Left: []string{"a#1"}, Zombies: 1, Missing: []string{"b"}, Most: 13900 * time.Millisecond},
		"still running after 2 s: 1, 2, 3, 4 and 2 more; waiting up to 1 s longer":                                        {Left: []string{"1", "2", "3", "4", "5", "6"}, Most: time.Second},
		"no server after 2 s: b; waiting up to 3 s longer":                                                                {Missing: []string{"b"}, Most: 3 * time.Second},
		"the ledger and the process table do not agree yet; waiting up to 0 s longer":                                     {},
	} {
		w.After = 2 * time.Second
		assert.Equal(t, want, w.String())
	}
}
