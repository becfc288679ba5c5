package attach_test

import (
	"bufio"
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play/attach"
	"github.com/leakbench/leakbench/internal/tier"
)

// scripted are healthy hosts of other makes: small programs that launch what reads their pipes, and tools beside it.
var scripted = map[string][]string{
	"one server, idle": {"bash", "-c", `exec 9> >(exec cat >/dev/null); echo ready; read -r`},
	"six servers of one line, launched with pauses, the last one in use": {"bash", "-c", `
		for i in 1 2 3 4 5 6; do eval "exec 1$i> >(exec cat >/dev/null)"; sleep 0.3; done
		echo ready; while sleep 0.1; do echo x >&16; done`},
	"servers of its own each": {"bash", "-c", `
		exec 9> >(exec cat - >/dev/null); sleep 0.3; exec 8> >(exec cat -u - >/dev/null); sleep 0.3; exec 7> >(exec cat -n - >/dev/null)
		echo ready; while sleep 0.1; do echo x >&7; done`},
	"a pipeline of a tool":          {"bash", "-c", `tail -f /dev/null | grep x | cat >/dev/null & echo ready; read -r; kill %1`},
	"a tool that has got its input": {"bash", "-c", `{ echo x | bash -c 'cat; exec sleep 100'; } >/dev/null & echo ready; read -r; pkill -P $!`},
	"two tools of one line, one with its input": {"bash", "-c", `
		{ echo x | sleep 101; } >/dev/null & { sleep 0.1 | sleep 101; } >/dev/null & echo ready; read -r; pkill -P $$`},
	"servers behind launchers": {"bash", "-c", `
		exec 9> >(sh -c 'sh -c "cat; true"; true' >/dev/null) 8> >(sh -c 'sh -c "cat; true"; true' >/dev/null)
		echo ready; while sleep 0.1; do echo x >&9; echo x >&8; done`},
	"a helper that it let go of": {"bash", "-c", `
		exec 9> >(bash -c 'sleep 3 </dev/null & exec cat' >/dev/null); (sleep 4 </dev/null >/dev/null 2>&1 &); echo ready; read -r`},
	"a server for each request": {"bash", "-c", `echo ready; while sleep 0.02; do echo x | cat >/dev/null; done`},
	"each kept for a while": {"bash", "-c", `
		keep() { exec 9> >(exec cat >/dev/null); echo x >&9; sleep 1.2; }
		(while true; do keep & sleep 0.3; wait -n; done) & sleep 2; echo ready; wait`},
	"a shell for each task, with pauses, the last one in use": {"bash", "-c", `
		for i in $(seq 20 33); do eval "exec $i> >(exec bash --norc >/dev/null 2>&1)"; echo : >&$i; sleep 0.3; done
		echo ready; while sleep 0.1; do echo : >&33; done`},
	"a log that it reads": {"bash", "-c", `exec 9< <(exec tail -f /dev/null); echo ready; read -r`},
	"python": {"python3", "-uc", `
import subprocess, sys, time
all = [subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(10)]
print("ready")
n = 0
while True:
    p = all[n % 10]; n += 1
    p.stdin.write(b"x\n"); p.stdin.flush(); p.stdout.readline(); time.sleep(0.02)`},
	"python, with servers that come and go": {"python3", "-uc", `
import subprocess, time
print("ready")
while True:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as p:
        p.stdin.write(b"x\n"); time.sleep(0.05)`},
	"node": {"node", "-e", `
const all = Array.from({length: 10}, () => require("child_process").spawn("cat", {stdio: ["pipe", "pipe", "inherit"]}))
console.log("ready")
let n = 0
setInterval(() => all[n++ % 10].stdin.write("x\n"), 20)`},
	"node, with one that is replaced in order": {"node", "-e", `
const {spawn} = require("child_process")
let now = spawn("cat"); console.log("ready")
setInterval(() => { const old = now; now = spawn("cat"); now.stdin.write("x\n"); old.stdin.end() }, 300)`},
}

// driving are healthy hosts that are built in, with what their users do.
var driving = map[string]struct {
	host string
	make func(d *driven) func()
}{
	"ten idle sessions": {"exact", func(d *driven) func() { return d.sessions(10, nil) }},
	"a session that is reconnected": {"exact", func(d *driven) func() {
		return func() { d.open("s", "app"); d.call("s"); d.rest(300 * time.Millisecond) }
	}},
	"ten sessions in turn, mcp-go": {"mcp-go", func(d *driven) func() { return d.sessions(10, func(n int) int { return n % 10 }) }},
	"ten sessions in turn, go-sdk": {"go-sdk", func(d *driven) func() { return d.sessions(10, func(n int) int { return n % 10 }) }},
	"sessions that come and go": {"mcp-go", func(d *driven) func() {
		n := 0
		return func() {
			n++
			name := fmt.Sprint("s", n)
			d.open(name, "app")
			d.call(name)
			d.ask("close", map[string]any{"session": name})
		}
	}},
}

// sessions opens some sessions of one server. What follows uses them as use says: nil is never.
func (d *driven) sessions(n int, use func(i int) int) func() {
	for i := range n {
		d.open(fmt.Sprint("s", i), "app")
	}
	i := 0
	return func() {
		if use != nil {
			d.call(fmt.Sprint("s", use(i)))
		} else {
			d.rest(20 * time.Millisecond)
		}
		i++
	}
}

// TestHealthyHosts: of twenty hosts that leak nothing none has a finding.
func TestHealthyHosts(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	assert.GreaterOrEqual(t, len(scripted)+len(driving), 20)
	for name, argv := range scripted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(argv[0]); err != nil {
				t.Skipf("%s is not installed", argv[0])
			}
			cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			cmd.WaitDelay = 5 * time.Second
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // whatever it starts ends with it
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = in.Close(); _ = cmd.Wait() })
			require.True(t, bufio.NewScanner(out).Scan())
			healthy(t, lookPatiently(t, cmd.Process.Pid))
		})
	}
	for name, one := range driving {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := start(t, one.host)
			defer beside(one.make(d))()
			healthy(t, lookPatiently(t, d.cmd.Process.Pid))
		})
	}
}

// lookPatiently gives a host time to wait for its children, which on a busy machine takes more than a second.
func lookPatiently(t *testing.T, pid int) *verdict.Judged {
	t.Helper()
	return look(t, pid, 6*time.Second, func(p *attach.Params) { p.Settle = 2500 * time.Millisecond })
}

func healthy(t *testing.T, j *verdict.Judged) {
	t.Helper()
	for i := range j.Verdict.Findings {
		f := &j.Verdict.Findings[i]
		assert.Fail(t, f.Title, "%v", f.Values)
	}
	assert.False(t, j.Verdict.Watched.Host.Exited)
}
