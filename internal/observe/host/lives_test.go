//go:build unix

package host_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/tier"
)

// journal is a host that writes down the pids of its servers, and ends at its
// start what the list still names. Nothing else ends them when it is killed.
type journal struct {
	liar
	path string

	mu    sync.Mutex
	stdin map[string]io.WriteCloser
}

func (j *journal) Open(_ context.Context, session string, s driver.Server) error {
	cmd := exec.Command(s.Command, s.Args...) //nolint:noctx // a server outlives the request that launched it
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	list, err := os.OpenFile(j.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	fmt.Fprintln(list, cmd.Process.Pid)
	list.Close()
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`)
	_, err = bufio.NewReader(out).ReadString('\n')
	j.mu.Lock()
	j.stdin[session] = in
	j.mu.Unlock()
	return err
}

// sweep ends what the list names and begins a new one.
func (j *journal) sweep() {
	text, _ := os.ReadFile(j.path)
	for _, line := range strings.Fields(string(text)) {
		if pid, err := strconv.Atoi(line); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = os.Remove(j.path)
}

func (j *journal) Stop(context.Context) error { j.sweep(); return nil }

func init() {
	if len(os.Args) > 2 && os.Args[1] == "journal" {
		j := &journal{path: os.Args[3], stdin: map[string]io.WriteCloser{}}
		if os.Args[2] == "sweeps" {
			j.sweep()
		}
		_ = driver.Serve(context.Background(), os.Stdin, os.Stdout, driver.Hello{Host: "journal"}, j)
		os.Exit(0)
	}
}

const twoLives = `name: two-lives
title: a host that is killed and started anew
servers:
  deaf: {faults: [{on: eof, do: ignore}]}
limits: {settle: 1s, confirm: 500ms, severity: {L9: off}}
steps:
  - open: s
    server: deaf
  - restart: host
    after: kill
  - open: s
  - checkpoint: again
`

// What a life of the host has left is a finding while the next one lives, and
// none where that ends it in time. The servers of the new life are not taken
// for what the old one left.
func TestLivesOfAHost(t *testing.T) {
	t.Parallel()
	for does, want := range map[string][]string{"sweeps": nil, "forgets": {"deaf#1"}} {
		t.Run(does, func(t *testing.T) {
			t.Parallel()
			list := filepath.Join(t.TempDir(), "list")
			v, dir := play(t, twoLives, "exact", func(p *host.Params) {
				p.Host = subject.Spec{Name: "journal", Kind: record.KindDriver, Argv: []string{p.Self, "journal", does, list}}
			})
			var left []string
			for _, f := range v.Findings {
				assert.Equal(t, "L2 deaf again", f.Law+" "+f.Kind+" "+f.Checkpoint, "%+v", f)
				left = append(left, f.Servers...)
			}
			assert.Equal(t, want, left, "%+v", v)
			assert.Empty(t, v.Doubts)
			hosts := map[record.Identity]int{}
			for _, e := range events(t, dir) {
				switch e.Kind {
				case record.HostStarted:
					hosts[e.Process.Identity]++
				case record.HostExited:
					assert.Equal(t, 1, hosts[e.Process.Identity])
				}
			}
			assert.Len(t, hosts, 2)
		})
	}
}

func events(t *testing.T, dir string) []record.Event {
	t.Helper()
	run, err := record.Read(dir)
	require.NoError(t, err)
	return run.Events
}

// A command is started anew like any host. What the shell left is told from
// what its successor has launched.
func TestLivesOfACommand(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
	v, _ := play(t, `name: command-lives
title: a command that is killed and started anew
servers: {only: {}}
limits: {settle: 1s, confirm: 500ms}
steps:
  - restart: host
    after: kill
  - checkpoint: again
`, "exact", func(p *host.Params) {
		spec, err := subject.FromCommand([]string{"sh", "-c", "(echo '" + hello + "'; exec sleep 60) | \"$@\" & wait", "sh", "{{server}}"})
		require.NoError(t, err)
		p.Host = spec
		p.Settle, p.Confirm = record.Duration(1e9), record.Duration(5e8)
	})
	byCheckpoint := map[string][]string{}
	for _, f := range v.Findings {
		assert.Equal(t, "L2", f.Law, "%+v", f)
		byCheckpoint[f.Checkpoint+" "+f.Kind] = append(byCheckpoint[f.Checkpoint+" "+f.Kind], f.Servers...)
	}
	assert.Equal(t, []string{"only#1"}, byCheckpoint["again eof-withheld"], "%+v", v.Findings)
	assert.Contains(t, byCheckpoint, "again helper")
	assert.Equal(t, []string{"only#2"}, byCheckpoint["host gone eof-withheld"], "%+v", v.Findings)
}

// A lane beside the one that restarts the host ends with the old life: its
// steps are not played on the new one.
func TestLaneBesideARestart(t *testing.T) {
	t.Parallel()
	v, dir := play(t, `name: lanes
title: a call in flight while the host is restarted
servers: {only: {}}
limits: {settle: 1s, confirm: 500ms}
steps:
  - open: s
    server: only
  - parallel:
      - - {call: s, tool: sleep, args: {ms: 60000}, expect: any}
        - {call: s, expect: any}
      - - {await: s, for: call}
        - {restart: host, after: kill}
        - open: s
  - call: s
  - checkpoint: again
`, "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
	calls := 0
	for _, e := range events(t, dir) {
		if e.Kind == record.StepBegun && e.Step.Op == "call" {
			calls++
		}
	}
	assert.Equal(t, 2, calls, "the one in flight and the one after")
}

// An await ends with the lanes beside it: what it waits for can't come any more.
func TestAwaitEndsWithTheLanesBeside(t *testing.T) {
	t.Parallel()
	for expect, want := range map[string]verdict.Outcome{"": verdict.Inconclusive, ", expect: any": verdict.Clean} {
		v, dir := play(t, `name: late
title: nothing keeps the handshake waiting
servers: {only: {}}
limits: {settle: 1s, confirm: 500ms}
steps:
  - parallel:
      - - {open: s, server: only}
      - - {await: s, for: connect`+expect+`}
        - {open: t, server: only}
`, "exact", nil)
		assert.Equal(t, want, v.Outcome, "%+v", v)
		for _, e := range events(t, dir) {
			if e.Kind == record.StepEnded && e.Step.Op == record.OpAwait {
				assert.Equal(t, "no connect of session s was seen in flight, and the steps beside are over", e.Step.Error)
			}
		}
	}
}

// A session has not ended for as long as an open of it is under way: neither where another open fails beside it, nor where a close that was
// asked for before it comes back.
func TestOpensSideBySide(t *testing.T) {
	t.Parallel()
	const begin = `name: beside
title: two requests for one session
servers: {slow: {faults: [{on: initialize, do: hang}]}}
limits: {settle: 1s, confirm: 500ms}
steps:
`
	for name, c := range map[string]struct {
		steps string
		want  []record.Why
	}{
		"another open fails": {
			"  - parallel: [[{open: s, server: slow, timeout: 2s, expect: any}], [{await: s, for: connect}, {open: s, server: slow, timeout: 4s, expect: any}]]\n",
			[]record.Why{record.WhyNotOpened},
		},
		"one after the other": {
			"  - {open: s, server: slow, timeout: 100ms, expect: any}\n  - {open: s, server: slow, timeout: 100ms, expect: any}\n",
			[]record.Why{record.WhyNotOpened, record.WhyNotOpened},
		},
		"a close beside it": {
			"  - {open: s, server: slow, timeout: 100ms, expect: any}\n" +
				"  - parallel: [[{open: s, server: slow, timeout: 4s, expect: any}], [{await: s, for: connect}, {close: s, expect: any}]]\n",
			[]record.Why{record.WhyNotOpened, record.WhyClose, record.WhyNotOpened},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v, dir := play(t, begin+c.steps, "exact", nil)
			assert.Empty(t, v.Findings)
			var ended []record.Why
			for _, e := range events(t, dir) {
				if e.Kind == record.SessionChanged && e.Session.State == record.SessionEnded {
					ended = append(ended, e.Session.Why)
				}
			}
			assert.Equal(t, c.want, ended)
		})
	}
}

// What the old life left has the settle time to go, whatever it is; what the
// new one has beside its servers is its own business.
func TestLeftoversThatGoInTime(t *testing.T) {
	t.Parallel()
	source := strings.NewReplacer("deaf: {faults: [{on: eof, do: ignore}]}", "deaf: {}", "settle: 1s", "settle: 6s").Replace(twoLives)
	v, _ := play(t, source, "exact", func(p *host.Params) {
		p.Host.Argv = append([]string{"sh", "-c", `(sleep 1.5 </dev/null >/dev/null 2>&1 &); exec "$@"`, "sh"}, p.Host.Argv...)
		p.Settle = record.Duration(6e9)
	})
	assert.Empty(t, v.Findings, "%+v", v)
	assert.Empty(t, v.Doubts)
}
