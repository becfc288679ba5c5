package attach_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	judgeattach "github.com/leakbench/leakbench/internal/judge/attach"
	"github.com/leakbench/leakbench/internal/judge/breach"
	"github.com/leakbench/leakbench/internal/judge/verdict"
	observeattach "github.com/leakbench/leakbench/internal/observe/attach"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/attach"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
	"github.com/leakbench/leakbench/internal/tier"
)

// TestMain lets the test binary be the hosts and their servers.
func TestMain(m *testing.M) { reexectest.WaitingMain(m, 3) }

// driven is a built-in host, which does what its driver is told.
type driven struct {
	t       *testing.T
	cmd     *exec.Cmd
	in      *json.Encoder
	answers *bufio.Scanner
	n       int
	clock   bool
}

func start(t *testing.T, host string) *driven {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, "host", host)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	d := &driven{t: t, cmd: cmd, in: json.NewEncoder(in), answers: bufio.NewScanner(out)}
	require.True(t, d.answers.Scan(), "hello")
	t.Cleanup(func() {
		_ = d.in.Encode(map[string]any{"id": 1 << 20, "op": "stop"})
		_ = in.Close()
		_ = cmd.Wait()
	})
	return d
}

// server is a fake server that ends by itself soon, whatever the host does. No other test has one of the same command line: what a host
// of another test leaves would look like a server of this one that has lost its host.
func (d *driven) server(label string) map[string]any {
	label = fmt.Sprint(label, d.cmd.Process.Pid)
	self, _ := os.Executable()
	return map[string]any{"name": label, "command": self, "args": []string{"fakeserver", "--label", label, "--lifetime", "60s"}}
}

func (d *driven) ask(op string, fields map[string]any) {
	d.n++
	request := map[string]any{"id": d.n, "op": op}
	for k, v := range fields {
		request[k] = v
	}
	if d.in.Encode(request) != nil || !d.answers.Scan() {
		d.t.Logf("%s was not answered", op)
	}
}

func (d *driven) open(session, label string) {
	d.ask("open", map[string]any{"session": session, "server": d.server(label)})
}

// call is a call that takes a moment, so that who calls again and again leaves the processors to others.
func (d *driven) call(session string) { d.sleep(session, 20*time.Millisecond) }

// sleep is a call of a tool that takes so long.
func (d *driven) sleep(session string, span time.Duration) {
	d.ask("call", map[string]any{"session": session, "tool": "sleep", "args": map[string]any{"ms": span.Milliseconds()}})
}

// rest is a pause that the host makes: it waits for a server that is none of those that are looked at.
func (d *driven) rest(span time.Duration) {
	if !d.clock {
		d.clock = true
		d.open("clock", "clock")
	}
	d.sleep("clock", span)
}

// group is what a run has seen of the servers of a label.
func group(t *testing.T, j *verdict.Judged, label string) *judgeattach.Group {
	t.Helper()
	at := slices.IndexFunc(j.Verdict.Watched.Groups, isCalled(label))
	require.GreaterOrEqual(t, at, 0, "no server is called %s", label)
	return j.Verdict.Watched.Groups[at]
}

// isCalled says of a group that its servers have a label.
func isCalled(label string) func(*judgeattach.Group) bool {
	return func(g *judgeattach.Group) bool {
		return slices.ContainsFunc(g.Command, func(arg string) bool { return strings.HasPrefix(arg, label) })
	}
}

// beside does something again and again, until done is called.
func beside(do func()) (done func()) {
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-stop:
				return
			default:
				do()
			}
		}
	}()
	return func() { close(stop); <-ended }
}

// day is a compressed day of cron beside a user's session: each tick opens a session of its own that is cut off in its call, and a
// pause follows.
func (d *driven) day() func() {
	d.open("user", "desk")
	tick := 0
	return func() {
		tick++
		var jobs []map[string]any
		for job := range 2 {
			jobs = append(jobs, map[string]any{
				"session": fmt.Sprintf("tick%d.job%d", tick, job), "server": d.server("worker"), "tool": "sleep",
				"args": map[string]any{"ms": 60000 * job}, "timeout_ms": 50,
			})
		}
		d.ask("tick", map[string]any{"jobs": jobs})
		d.call("user")
		d.rest(400 * time.Millisecond)
	}
}

// look watches a host for a while.
func look(t *testing.T, pid int, during time.Duration, change ...func(*attach.Params)) *verdict.Judged {
	t.Helper()
	return lookUntil(t, pid, during, nil, change...)
}

// lookUntil watches a host until a look shows enough, or for as long as that may take on a busy machine.
func lookUntil(t *testing.T, pid int, during time.Duration, enough func(*judgeattach.View) bool, change ...func(*attach.Params)) *verdict.Judged {
	t.Helper()
	found, err := observeattach.Find(fmt.Sprint(pid))
	require.NoError(t, err)
	p := attach.Params{Host: found[0], For: during, Settle: time.Second}
	for _, c := range change {
		c(&p)
	}
	ctx, end := context.WithCancel(context.WithoutCancel(t.Context()))
	defer end()
	if p.OnLook == nil && enough != nil {
		p.OnLook = func(_ observeattach.Look, run *record.Run) {
			if enough(judgeattach.Of(run)) {
				end()
			}
		}
	}
	j, err := attach.Play(ctx, p)
	require.NoError(t, err)
	return j
}

// found says that five looks have found something.
func found() func(*judgeattach.View) bool {
	times := 0
	return func(v *judgeattach.View) bool {
		if len(v.Breaches) > 0 {
			times++
		}
		return times == 5
	}
}

func kinds(j *verdict.Judged) (all []string) {
	for i := range j.Verdict.Findings {
		all = append(all, j.Verdict.Findings[i].Law+" "+j.Verdict.Findings[i].Kind)
	}
	return all
}

// TestADayOfCron: what the reference hosts leave after a compressed day of cron is found, from outside. What reap-all does wrong is to
// kill the server of a live session: who ended a process can't be seen from outside.
func TestADayOfCron(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	for host, want := range map[string][]string{
		"exact": nil, "naive": {"L1 superseded"}, "thread-blind": {"L1 superseded"}, "orphan-set": nil, "reap-all": nil, "mcp-go": nil, "go-sdk": nil,
		"mutant-l4": {"L4 zombie"}, "mutant-l5": {"L5 fd-leak"},
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			d := start(t, host)
			defer beside(d.day())()
			if want == nil {
				assert.Empty(t, kinds(look(t, d.cmd.Process.Pid, 8*time.Second)))
				return
			}
			assert.Equal(t, want, kinds(lookUntil(t, d.cmd.Process.Pid, time.Minute, found())))
		})
	}
}

// TestTenEqualServers: each of ten sessions has a server of the same command line, and they are used in turn, or only the last one is.
func TestTenEqualServers(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(i int) int{"all": func(i int) int { return i % 10 }, "the last": func(int) int { return 9 }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t, "exact")
			for i := range 10 {
				d.open(fmt.Sprint("s", i), "app")
			}
			i := 0
			defer beside(func() { d.call(fmt.Sprint("s", use(i))); i++ })()
			j := look(t, d.cmd.Process.Pid, 4*time.Second)
			assert.Empty(t, j.Verdict.Findings)
			assert.Equal(t, 10, group(t, j, "app").Alive)
			want := verdict.Clean
			if name == "the last" {
				want = verdict.Inconclusive
			}
			assert.Equal(t, want, j.Verdict.Outcome, "%v", j.Verdict.Doubts)
		})
	}
}

// TestByTheClock: a host launches a server every 1.3 s, without a pause between two of them. One that uses the newest alone leaves the
// others behind. One that uses them all has a pool that grows.
func TestByTheClock(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	for _, one := range []struct {
		name, host string
		session    func(n int) string // that the launch is for
		use        func(n, turn int) int
		want       []string
	}{
		{"only the newest is used", "naive", func(int) string { return "s" }, func(n, _ int) int { return n }, []string{"L1 superseded"}},
		{"all are used", "exact", func(n int) string { return fmt.Sprint("s", n) }, func(n, turn int) int { return 1 + turn%n }, nil},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			d := start(t, one.host)
			n, turn, last, all := 0, 0, time.Time{}, &atomic.Bool{}
			defer beside(func() {
				if time.Since(last) >= 1300*time.Millisecond && n < 15 {
					n, last = n+1, time.Now()
					d.open(one.session(n), "app") // on a busy machine one may fail
				}
				all.Store(n == 15)
				d.call(one.session(one.use(n, turn)))
				turn++
			})()
			if one.want != nil {
				assert.Equal(t, one.want, kinds(lookUntil(t, d.cmd.Process.Pid, time.Minute, found())))
				return
			}
			j := lookUntil(t, d.cmd.Process.Pid, time.Minute, func(v *judgeattach.View) bool { // one that leaks would have been found by then
				app := slices.IndexFunc(v.Groups, isCalled("app"))
				open := slices.ContainsFunc(v.Open, func(u breach.Unjudged) bool { return u.Law == "L1" }) // some look idle on a busy machine
				return all.Load() && app >= 0 && v.Groups[app].Used == v.Groups[app].Alive && !open
			})
			assert.Empty(t, kinds(j))
			app := group(t, j, "app")
			assert.Equal(t, app.Alive, app.Used)
			assert.Greater(t, app.Alive, 10)
			assert.Equal(t, verdict.Clean, j.Verdict.Outcome, "%v", j.Verdict.Doubts)
		})
	}
}

// TestRecordedIsJudgedTheSame: the file says what attach said.
func TestRecordedIsJudgedTheSame(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	d := start(t, "naive")
	for range 14 {
		d.open("s", "app")
		d.rest(700 * time.Millisecond)
	}
	defer beside(func() { d.call("s") })()
	file := filepath.Join(t.TempDir(), "run.jsonl")
	j := look(t, d.cmd.Process.Pid, 3*time.Second, func(p *attach.Params) { p.Record, p.FailOn = file, []string{"L4"} })
	require.Equal(t, []string{"L1 superseded"}, kinds(j))
	assert.GreaterOrEqual(t, j.Verdict.Findings[0].Count, 10, "on a busy machine some are too close to the newest for a verdict")
	assert.Equal(t, record.SeverityWarning, j.Verdict.Findings[0].Severity)
	assert.Equal(t, verdict.Clean, j.Verdict.Outcome)
	again, err := play.Load(file)
	require.NoError(t, err)
	assert.Equal(t, kinds(j), kinds(&again))
	assert.Equal(t, j.Verdict.Outcome, again.Verdict.Outcome)
	assert.Equal(t, j.Verdict.Findings[0].Count, again.Verdict.Findings[0].Count)
	assert.Equal(t, j.Verdict.Findings[0].Fingerprint, again.Verdict.Findings[0].Fingerprint)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.NotContains(t, strings.ToLower(string(text)), "sigkill")
}
