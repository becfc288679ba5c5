package host_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/observe/ledger"
	"github.com/leakbench/leakbench/internal/proc"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/scenarios"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "liar" {
		_ = driver.Serve(context.Background(), os.Stdin, os.Stdout, driver.Hello{Host: "liar"}, liar{})
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "twice" {
		answerTwice()
	}
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		fmt.Fprintln(os.Stderr, "no such configuration\x1b[31m\n--token=hunter2hunter2")
		os.Exit(7)
	}
	reexectest.WaitingMain(m, 6)
}

// answerTwice is a host that breaks the driver protocol.
func answerTwice() {
	fmt.Println(`{"hello":{"protocol":1,"host":"twice","ops":["open","call","close","stop"]}}`)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var req struct {
			ID int64 `json:"id"`
		}
		_ = json.Unmarshal(lines.Bytes(), &req)
		fmt.Printf("{\"id\":%d,\"ok\":true}\n{\"id\":%d,\"ok\":true}\n", req.ID, req.ID)
	}
	os.Exit(0)
}

// liar is a host that says yes to everything and does nothing.
type liar struct{}

func (liar) Open(context.Context, string, driver.Server) error { return nil }

func (liar) Call(_ context.Context, _, tool string, _ map[string]any) (json.RawMessage, error) {
	return json.Marshal("MCP tool '" + tool + "' failed\x1b[31m --token=hunter2hunter2")
}

func (liar) Close(context.Context, string) error                  { return nil }
func (liar) Forget(context.Context, string) error                 { return nil }
func (liar) Reload(context.Context, []driver.SessionServer) error { return nil }
func (liar) Stop(context.Context) error                           { return nil }

func (liar) Tick(context.Context, []driver.Job) ([]driver.JobResult, error) { return nil, nil }

// quick is a play that is clean on a correct host, when nothing disturbs it.
const quick = `name: quick
title: one session, one call
servers:
  only: {}
limits: {settle: 1s, confirm: 500ms}
steps:
  - open: s
    server: only
  - call: s
  - checkpoint: connected
  - close: s
  - checkpoint: closed
`

// play runs a scenario, disturbed, and judges what was saved.
func play(t *testing.T, source, hostName string, disturb func(*host.Params)) (verdict.Verdict, string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Parse("test.yaml", []byte(source))
	require.NoError(t, err)
	p := host.Params{Self: self, Scenario: s, Dir: filepath.Join(t.TempDir(), "run"), Seed: 1}
	if slices.Contains([]string{"liar", "twice", "broken", "rude"}, hostName) {
		p.Host = subject.Spec{Name: hostName, Kind: record.KindDriver, Argv: []string{self, hostName}}
	} else {
		p.Host, err = subject.Lookup(self, hostName)
		require.NoError(t, err)
	}
	if disturb != nil {
		disturb(&p)
	}
	err = host.Run(t.Context(), p)
	if !errors.Is(err, observe.ErrHost) {
		require.NoError(t, err)
	}
	hostErrors.Store(p.Dir, fmt.Sprint(err))
	run, err := record.Read(p.Dir)
	require.NoError(t, err)
	return verdict.Judge(run), p.Dir
}

var hostErrors sync.Map // run folder -> what Run returned

func codes(v verdict.Verdict) []string {
	var all []string
	for _, d := range v.Doubts {
		all = append(all, string(d.Code))
	}
	return all
}

// Undisturbed, the play of these tests is clean: what they show is the
// disturbance.
func TestQuickIsClean(t *testing.T) {
	t.Parallel()
	v, _ := play(t, quick, "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
	assert.Empty(t, v.Doubts)
	assert.Equal(t, 1, v.Spawned)
}

func TestFaultThatCannotFireIsInconclusive(t *testing.T) {
	t.Parallel()
	withFault := string(bytes.Replace([]byte(quick), []byte("only: {}"),
		[]byte("only: {faults: [{on: initialize, do: reject, launch: 3}]}"), 1))
	v, _ := play(t, withFault, "exact", nil)
	assert.Equal(t, verdict.Inconclusive, v.Outcome)
	assert.Contains(t, codes(v), "fault-not-fired")
}

func TestHostThatLaunchesNothingIsInconclusive(t *testing.T) {
	t.Parallel()
	v, _ := play(t, quick, "liar", nil)
	assert.NotEqual(t, verdict.Clean, v.Outcome)
	assert.Contains(t, codes(v), "host-never-launched")
}

// TestAnAnswerInThePlaceOfAFailure is in the run file, without secrets, and its doubt quotes it.
func TestAnAnswerInThePlaceOfAFailure(t *testing.T) {
	t.Parallel()
	for name, step := range map[string]string{
		"as it is": "{call: s, tool: sleep, args: {ms: 1}, expect: fail}",
		"in time":  "{call: s, tool: sleep, args: {ms: 1}, timeout: 1s, expect: fail}",
	} {
		v, dir := play(t, strings.Replace(quick, "- call: s", "- "+step, 1), "liar", nil)
		said := ""
		for _, d := range v.Doubts {
			if d.Code == record.DoubtStepFailed {
				said = d.Text
			}
		}
		assert.Contains(t, said, `call of sleep of session s succeeded with: "MCP tool 'sleep' failed\x1b[31m --token=`, name)
		file, err := os.ReadFile(filepath.Join(dir, "run.jsonl"))
		require.NoError(t, err)
		assert.NotContains(t, string(file), "hunter2hunter2", name)
	}
}

// A host that breaks the driver protocol is not judged by what came of that.
func TestHostThatAnswersTwiceIsNotJudged(t *testing.T) {
	t.Parallel()
	v, dir := play(t, quick, "twice", nil)
	assert.Equal(t, verdict.Inconclusive, v.Outcome, "%+v", v)
	assert.Contains(t, codes(v), "host-failed")
	said, _ := hostErrors.Load(dir)
	assert.Contains(t, said, "twice")
}

func TestHostThatDoesNotComeUpSaysWhy(t *testing.T) {
	t.Parallel()
	v, dir := play(t, quick, "broken", nil)
	assert.Equal(t, verdict.Inconclusive, v.Outcome)
	said, _ := hostErrors.Load(dir)
	assert.Contains(t, said, "it exited with 7")
	assert.Contains(t, said, "no such configuration")
	assert.NotContains(t, said, "hunter2hunter2")
}

func TestCutLedgerConnectionIsInconclusive(t *testing.T) {
	t.Parallel()
	v, _ := play(t, quick, "exact", func(p *host.Params) {
		var book atomic.Pointer[ledger.Ledger]
		p.OnLedger(func(l *ledger.Ledger) { book.Store(l) })
		p.OnEvent = func(e record.Event) {
			if e.Kind == record.CheckpointBegun && e.Checkpoint.Name == "connected" {
				go func() { _ = book.Load().Cut("only#1") }()
			}
		}
	})
	assert.NotEqual(t, verdict.Clean, v.Outcome, "%+v", v)
	assert.Contains(t, codes(v), "ledger-lost", "%+v", v)
}

func TestKilledKeeperIsInconclusive(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	s, err := scenarios.Parse("test.yaml", []byte(quick))
	require.NoError(t, err)
	spec, err := subject.Lookup(self, "exact")
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	var hostID atomic.Pointer[record.Identity]
	err = host.Run(t.Context(), host.Params{
		Self: self, Scenario: s, Host: spec, Dir: dir,
		OnEvent: func(e record.Event) {
			if e.Kind == record.HostStarted {
				hostID.Store(&e.Process.Identity)
				keeper, err := proc.Identify(e.Process.PPID)
				if err == nil {
					_ = proc.Signal(keeper, syscall.SIGKILL)
				}
			}
		},
	})
	require.Error(t, err)
	run, err := record.Read(dir)
	require.NoError(t, err)
	v := verdict.Judge(run)
	assert.Equal(t, verdict.Inconclusive, v.Outcome)
	assert.NotEmpty(t, v.Doubts)
	require.NotNil(t, hostID.Load())
	assert.NoError(t, proc.WaitGone(t.Context(), *hostID.Load()), "the host goes with the keeper")
}

// A run file that was cut anywhere is inconclusive, never clean.
func TestTruncatedFileIsInconclusive(t *testing.T) {
	t.Parallel()
	_, dir := play(t, quick, "exact", nil)
	whole, err := os.ReadFile(filepath.Join(dir, observe.RunFile))
	require.NoError(t, err)
	header := bytes.IndexByte(whole, '\n') + 1
	cuts := []int{header, header + 1, len(whole) / 2, len(whole) - 10, len(whole) - 1}
	for at := header; at < len(whole); at += 97 {
		cuts = append(cuts, at)
	}
	slices.Sort(cuts)
	for _, at := range cuts {
		run, err := record.Decode(bytes.NewReader(whole[:at]))
		require.NoError(t, err, "cut at %d", at)
		v := verdict.Judge(run)
		require.Equal(t, verdict.Inconclusive, v.Outcome, "cut at %d of %d", at, len(whole))
		require.Contains(t, codes(v), "truncated", "cut at %d of %d", at, len(whole))
	}
}
