//go:build linux

package host_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/internal/subject"
)

// rude is a host that ends its servers by a signal to its own group.
type rude struct{ liar }

func (rude) Close(context.Context, string) error { return syscall.Kill(0, syscall.SIGTERM) }

// init is earlier than TestMain, which is for every system.
func init() {
	if len(os.Args) > 1 && os.Args[1] == "rude" {
		signal.Ignore(syscall.SIGTERM)
		_ = driver.Serve(context.Background(), os.Stdin, os.Stdout, driver.Hello{Host: "rude"}, rude{})
		os.Exit(0)
	}
}

func bystanders(t *testing.T, dir string) (begun, ended []record.Event) {
	t.Helper()
	run, err := record.Read(dir)
	require.NoError(t, err)
	for _, e := range run.Events {
		switch {
		case e.Kind != record.BystanderSeen || e.Text != "":
		case e.Exit == nil:
			begun = append(begun, e)
		default:
			ended = append(ended, e)
		}
		if e.Census != nil {
			for _, p := range e.Census.Processes {
				assert.NotContains(t, p.Args, "bystander", "a bystander is in no census: %s", e.Kind)
			}
		}
	}
	return begun, ended
}

// A host that signals its own group ends what is none of its own.
func TestBystander(t *testing.T) {
	t.Parallel()
	v, dir := play(t, quick, "rude", nil)
	begun, ended := bystanders(t, dir)
	require.Len(t, begun, 1)
	require.Len(t, ended, 1)
	assert.Equal(t, "SIGTERM", ended[0].Exit.Signal)
	assert.Equal(t, begun[0].Process.Identity, ended[0].Process.Identity)
	at := slices.IndexFunc(v.Findings, func(f verdict.Finding) bool { return f.Kind == "bystander" })
	require.GreaterOrEqual(t, at, 0, "%+v", v)
	assert.Equal(t, "L3", v.Findings[at].Law)
	assert.Equal(t, verdict.Leak, v.Outcome)
}

// One that does not leaves it to the keeper, which ends it without a word.
func TestBystanderIsLeftAlone(t *testing.T) {
	t.Parallel()
	v, dir := play(t, quick, "exact", nil)
	begun, ended := bystanders(t, dir)
	require.Len(t, begun, 1)
	assert.Empty(t, ended)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
	_, err := syscall.Getpgid(begun[0].Process.PID)
	assert.ErrorIs(t, err, syscall.ESRCH, "the keeper takes it along")
}

// Of a host whose sessions are not known L3 is judged by the bystander alone. It is signalled before the server is launched, since the run
// may end soon after that.
func TestBystanderOfCommand(t *testing.T) {
	t.Parallel()
	v, _ := play(t, quick, "exact", func(p *host.Params) {
		spec, err := subject.FromCommand([]string{"sh", "-c", `
until ps -eo pgid=,args= | grep -q "^ *$$ .*[b]ystander"; do sleep 0.05; done
trap "" TERM; kill -TERM 0; trap "exit 0" TERM
"$@" & sleep 60 & wait`, "sh", "{{server}}"})
		require.NoError(t, err)
		p.Host, p.Start = spec, record.Duration(1e9)
		p.Settle, p.Confirm = record.Duration(1e9), record.Duration(5e8)
	})
	kinds := []string{}
	for _, f := range v.Findings {
		kinds = append(kinds, f.Kind)
	}
	assert.Contains(t, kinds, "bystander", "%+v", v)
}

// twins is a host that ends whatever looks like the server of a session.
type twins struct {
	liar
	sig syscall.Signal
}

func (h twins) Open(_ context.Context, _ string, s driver.Server) error {
	line := strings.Join(append([]string{s.Command}, s.Args...), "\x00") + "\x00"
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		if text, err := os.ReadFile(path); err == nil && string(text) == line {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				_ = syscall.Kill(pid, h.sig)
			}
		}
	}
	return nil
}

func init() {
	if len(os.Args) > 1 && os.Args[1] == "twins" {
		_ = driver.Serve(context.Background(), os.Stdin, os.Stdout, driver.Hello{Host: "twins"}, twins{sig: syscall.SIGTERM})
		os.Exit(0)
	}
}

// A twin of each server stands beside the host, with the very command line of
// its first session, in nobody's census and on no ledger; who goes by command
// lines ends it.
func TestTwin(t *testing.T) {
	t.Parallel()
	v, dir := play(t, quick, "exact", func(p *host.Params) {
		p.Host = subject.Spec{Name: "twins", Kind: record.KindDriver, Argv: []string{p.Self, "twins"}}
	})
	run, err := record.Read(dir)
	require.NoError(t, err)
	var stood []record.Event
	for _, e := range run.Events {
		if e.Kind == record.BystanderSeen && e.Text == record.StandsAsTwin {
			stood = append(stood, e)
		}
		if e.Census != nil && len(stood) > 0 {
			for _, p := range e.Census.Processes {
				assert.NotEqual(t, stood[0].Process.PID, p.PID)
			}
		}
		assert.NotEqual(t, record.Born, e.Kind, "the host launches nothing, and a twin is not born")
	}
	require.Len(t, stood, 2)
	assert.Equal(t, "only", stood[0].Server)
	assert.Equal(t, stood[0].Process.PID, stood[0].Process.SID, "in a session of its own")
	assert.Contains(t, stood[0].Process.Args, "--session")
	assert.Equal(t, "SIGTERM", stood[1].Exit.Signal)
	at := slices.IndexFunc(v.Findings, func(f verdict.Finding) bool { return f.Kind == "twin" })
	require.GreaterOrEqual(t, at, 0, "%+v", v)
	assert.Equal(t, "only", v.Findings[at].Label)
}

// Left alone, twins go with the keeper, of a command host too.
func TestTwinsAreLeftAlone(t *testing.T) {
	t.Parallel()
	v, dir := play(t, many(t), "exact", nil)
	assert.Equal(t, verdict.Clean, v.Outcome, "%+v", v)
	run, err := record.Read(dir)
	require.NoError(t, err)
	pids := map[string]int{}
	for _, e := range run.Events {
		if e.Kind == record.BystanderSeen && e.Text == record.StandsAsTwin {
			require.Nil(t, e.Exit)
			pids[e.Server] = e.Process.PID
		}
	}
	assert.Len(t, pids, 7, "each label has one, those behind a launcher too")
	for label, pid := range pids {
		require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, label)
	}
	reexectest.NothingRuns(t, run.Header.ID)
}
