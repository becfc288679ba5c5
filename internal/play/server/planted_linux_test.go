package server_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/law"
	observeserver "github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play/server"
	"github.com/leakbench/leakbench/internal/tier"
)

// planted are servers with what they do wrong. The kinds are all that is found in the checks together, in their order.
var planted = []struct {
	name   string
	argv   []string
	checks string
	kinds  string
	call   string
	often  bool                 // it is played each time; else by the nightly job
	limits observeserver.Limits // zero: hasty where something is found, else the defaults
}{
	{often: true, name: "go healthy", argv: fake(), checks: "eof,eof-call,eof-start,sigterm,shell"},
	{name: "go of the other era", argv: fake("--era", "modern"), checks: "eof,sigterm"},
	{often: true, name: "go slow", argv: fake("--fault", "on=start,do=delay,for=3s", "--fault", "on=exit,do=delay,for=1s"), checks: "eof,eof-call,eof-start,sigterm,shell", limits: observeserver.Limits{Grace: 2500 * time.Millisecond}},
	{often: true, name: "go deaf", argv: fake("--fault", "on=eof,do=ignore"), checks: "eof,eof-call,eof-start,shell", kinds: "eof-ignored eof-ignored-at-start eof-ignored-in-call eof-ignored-orphaned", limits: observeserver.Limits{Grace: 700 * time.Millisecond, Watch: 300 * time.Millisecond, Start: 3 * time.Second}},
	{name: "go busy at the end", argv: fake("--fault", "on=eof,do=spin"), checks: "eof", kinds: "eof-spin", limits: observeserver.Limits{Grace: 300 * time.Millisecond, Watch: 2 * time.Second}},
	{name: "go late", argv: fake("--fault", "on=exit,do=delay,for=1s"), checks: "eof,sigterm", kinds: "eof-late term-late", limits: observeserver.Limits{Grace: 200 * time.Millisecond, Watch: 20 * time.Second}},
	{often: true, name: "go deaf to SIGTERM", argv: fake("--fault", "on=term,do=ignore"), checks: "sigterm", kinds: "term-ignored"},
	{often: true, name: "go behind a shell", argv: fake("--fault", "on=start,do=launcher,as=shell"), checks: "eof,sigterm,shell", kinds: "term-not-forwarded"},
	{name: "go behind a launcher with its own session", argv: fake("--fault", "on=start,do=launcher,as=own-session"), checks: "sigterm", kinds: "term-not-forwarded"},
	{name: "go deaf behind a launcher", argv: fake("--fault", "on=start,do=launcher,as=wrapper", "--fault", "on=term,do=ignore"), checks: "sigterm", kinds: "term-ignored"},
	{name: "go that survives EPIPE", argv: fake(), checks: "epipe", kinds: "epipe-ignored"},
	{name: "go busy with EPIPE", argv: fake("--fault", "on=epipe,do=spin"), checks: "epipe", kinds: "epipe-spin", limits: observeserver.Limits{Grace: time.Second, Watch: 2 * time.Second}},
	{name: "go deaf to all that breaks", argv: fake("--fault", "on=eof,do=ignore"), checks: "epipe", kinds: "epipe-stuck"},
	{name: "go with a helper", argv: fake("--fault", "on=start,do=helper,as=group"), checks: "eof,sigterm", kinds: "helper-left helper-left"},
	{name: "go with a helper that has its stdio", argv: fake("--fault", "on=start,do=helper,as=stdio"), checks: "sigterm", kinds: "helper-left"},
	{name: "go with a daemon", argv: fake("--fault", "on=start,do=helper,as=daemon"), checks: "eof", kinds: "helper-escaped"},
	{often: true, name: "go that waits for no child", argv: fake("--fault", "on=start,do=zombies"), checks: "eof", kinds: "unreaped-child"},
	{name: "go that refuses", argv: fake("--fault", "on=initialize,do=reject"), checks: "eof", kinds: "refused"},
	{name: "go that closes its stdout", argv: fake("--fault", "on=initialize,do=close-stdout"), checks: "eof", kinds: "silent"},
	{often: true, name: "go that exits", argv: fake("--fault", "on=list,do=answer-exit"), checks: "eof", kinds: "died"},

	{often: true, name: "python healthy", argv: script("planted.py"), checks: "eof,eof-call,eof-start,sigterm,epipe,shell"},
	{name: "python slow", argv: script("planted.py", "late-start", "slow-end"), checks: "eof,sigterm,shell"},
	{name: "python deaf", argv: script("planted.py", "deaf-eof"), checks: "eof", kinds: "eof-ignored"},
	{name: "python deaf in a call", argv: script("planted.py", "deaf-call"), checks: "eof-call", call: `{"seconds":600}`, kinds: "eof-ignored-in-call"},
	{name: "python deaf to SIGTERM", argv: script("planted.py", "deaf-term"), checks: "sigterm", kinds: "term-ignored"},
	{name: "python with a helper", argv: script("planted.py", "helper"), checks: "eof,sigterm", kinds: "helper-left helper-left"},
	{often: true, name: "python with a detached helper", argv: script("planted.py", "detached"), checks: "eof", kinds: "helper-escaped"},
	{name: "python with noise", argv: script("planted.py", "noise"), checks: "eof", kinds: "stdout-noise"},
	{name: "python behind sh -c", argv: []string{"sh", "-c", `python3 "$0"; exit $?`, servers + "planted.py"}, checks: "eof,sigterm", kinds: "term-not-forwarded"},
	{name: "python late when stdout breaks", argv: script("planted.py", "late-pipe"), checks: "epipe", kinds: "epipe-late", limits: observeserver.Limits{Grace: time.Second, Watch: 20 * time.Second}},
	{name: "python with a helper that ends late", argv: script("planted.py", "late-helper"), checks: "sigterm", kinds: "helper-late", limits: observeserver.Limits{Grace: 300 * time.Millisecond, Watch: 20 * time.Second}},
	{often: true, name: "python deaf to all that breaks", argv: script("planted.py", "deaf-pipe"), checks: "epipe", kinds: "epipe-stuck"},

	{often: true, name: "node healthy", argv: script("planted.mjs"), checks: "eof,eof-call,eof-start,sigterm,epipe,shell"},
	{often: true, name: "node with a timer", argv: script("planted.mjs", "timer"), checks: "eof,shell", kinds: "eof-ignored eof-ignored-orphaned"},
	{often: true, name: "node that swallows EPIPE", argv: script("planted.mjs", "swallow"), checks: "epipe", kinds: "epipe-ignored"},
	{name: "node that is busy with EPIPE", argv: script("planted.mjs", "swallow-spin"), checks: "epipe", kinds: "epipe-spin", limits: observeserver.Limits{Grace: time.Second, Watch: 2 * time.Second}},
	{name: "node deaf to SIGTERM", argv: script("planted.mjs", "deaf-term"), checks: "sigterm", kinds: "term-ignored"},
	{name: "node with a detached helper", argv: script("planted.mjs", "detached"), checks: "sigterm", kinds: "helper-escaped"},
	{often: true, name: "node with a banner", argv: script("planted.mjs", "banner"), checks: "eof", kinds: "stdout-noise"},
	{name: "node that is silent", argv: script("planted.mjs", "silent"), checks: "eof", kinds: "silent", limits: observeserver.Limits{Start: 2 * time.Second}},
	{name: "node that dies", argv: script("planted.mjs", "dies"), checks: "eof", kinds: "died"},
}

// idlers are watched for a while each, all at the same time.
var idlers = []struct {
	argv  []string
	kinds string
	often bool
}{
	{script("planted.py"), "", true},
	{script("planted.mjs"), "", false},
	{script("planted.py", "idle-descriptors", "unreaped"), "idle-descriptors unreaped-child", true},
	{script("planted.py", "idle-memory"), "idle-memory", false},
	{script("planted.py", "idle-processes"), "helper-left idle-processes", false},
	{script("planted.mjs", "busy"), "idle-cpu", false},
}

// unlessNightly leaves out what takes too much of a machine to be played with each change.
func unlessNightly(t *testing.T, often bool) {
	t.Helper()
	if !often && os.Getenv("LEAKBENCH_SERIES") == "" {
		t.Skip("nightly: LEAKBENCH_SERIES=1 plays it")
	}
}

// TestPlantedServers: what was planted is found under its name, and nothing else is. The first tier plays servers in Go.
func TestPlantedServers(t *testing.T) {
	t.Parallel()
	for _, p := range planted {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			if !strings.HasPrefix(p.name, "go ") {
				tier.Only(t, tier.Servers)
			}
			unlessNightly(t, p.often)
			params := server.Params{Checks: named(strings.Split(p.checks, ",")...), Limits: p.limits}
			if p.call != "" {
				params.Call = &observeserver.Call{Tool: "sleep", Args: []byte(p.call)}
			}
			if p.kinds != "" && p.limits == (observeserver.Limits{}) {
				params.Limits = observeserver.Limits{Grace: 700 * time.Millisecond, Watch: 300 * time.Millisecond}
			}
			kinds, runs := try(t, params, p.argv)
			if assert.Equal(t, strings.Fields(p.kinds), append([]string{}, kinds...)) {
				tier.Played(t, "server: "+p.name, p.checks, cmp.Or(p.kinds, "clean"))
			}
			for i := range runs {
				if len(runs[i].Findings) == 0 {
					assert.Equal(t, verdict.Clean, runs[i].Outcome, "%v", runs[i].Doubts)
				}
			}
		})
	}
}

// TestIdleServers watches servers of which nothing is asked.
func TestIdleServers(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Servers)
	for _, p := range idlers {
		t.Run(strings.Join(append([]string{filepath.Base(p.argv[1])}, p.argv[2:]...), " "), func(t *testing.T) {
			t.Parallel()
			unlessNightly(t, p.often)
			kinds, _ := try(t, server.Params{Checks: named("idle"), Limits: observeserver.Limits{Idle: 9 * time.Second, Grace: 2 * time.Second, Watch: time.Second}}, p.argv)
			want := strings.Fields(p.kinds)
			slices.Sort(want)
			slices.Sort(kinds)
			if assert.Equal(t, want, append([]string{}, kinds...)) {
				tier.Played(t, "server: "+strings.Join(append([]string{filepath.Base(p.argv[1])}, p.argv[2:]...), " "), "idle", cmp.Or(p.kinds, "clean"))
			}
		})
	}
}

// TestEachKindIsPlanted: no kind of a law for servers is found by nothing.
func TestEachKindIsPlanted(t *testing.T) {
	t.Parallel()
	all := ""
	for _, p := range planted {
		all += p.kinds + " "
	}
	for _, p := range idlers {
		all += p.kinds + " "
	}
	for _, l := range law.Servers() {
		for _, id := range l.Kinds {
			assert.True(t, slices.Contains(strings.Fields(all), id), "no planted server shows %s", id)
		}
	}
}
