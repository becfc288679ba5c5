package host_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/observe/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// memoryCgroup is a cgroup that may have some MiB, of version 1 or 2.
func memoryCgroup(t *testing.T, mib int) string {
	t.Helper()
	lines, _ := os.ReadFile("/proc/self/cgroup")
	var why []string
	for line := range strings.Lines(string(lines)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		below, file := "/sys/fs/cgroup", "memory.max"
		switch {
		case len(fields) < 3:
			continue
		case fields[1] == "memory":
			below, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case fields[1] != "":
			continue
		}
		for _, parent := range []string{filepath.Join(below, fields[2]), below} { // the first one is not there in a namespace of its own
			dir := filepath.Join(parent, fmt.Sprintf("leakbench-test-%d", os.Getpid()))
			err := os.Mkdir(dir, 0o755)
			if err == nil {
				t.Cleanup(func() { _ = os.Remove(dir) })
				err = os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(mib<<20)), 0o644)
			}
			if err == nil {
				return dir
			}
			why = append(why, err.Error())
		}
	}
	t.Skipf("no cgroup with a limit on memory can be made here: %s", strings.Join(why, "; "))
	return ""
}

// TestKilledForWantOfMemory: what the kernel has killed is no harm that the host has done.
func TestKilledForWantOfMemory(t *testing.T) {
	dir := memoryCgroup(t, 40)
	source := strings.Replace(quick, "only: {}", "only: {faults: [{on: call, do: grow, mib: 200}]}", 1)
	source = strings.Replace(source, "  - call: s\n", "  - {call: s, expect: any}\n", 1)
	var limited error
	v, _ := play(t, source, "exact", func(p *host.Params) {
		p.OnEvent = func(e record.Event) {
			if e.Kind == record.Born {
				limited = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(e.Birth.PID)), 0o644)
			}
		}
	})
	require.NoError(t, limited)
	assert.Equal(t, verdict.Inconclusive, v.Outcome, "%+v\n%+v", v.Findings, v.Doubts)
	assert.Contains(t, codes(v), string(record.DoubtOutside))
	assert.Empty(t, v.Findings)
}

// TestAnotherKilledForWantOfMemory: what the kernel has killed elsewhere says nothing of a server that the host has killed.
func TestAnotherKilledForWantOfMemory(t *testing.T) {
	dir := memoryCgroup(t, 20)
	if log, err := os.Open("/dev/kmsg"); err != nil {
		t.Skipf("the kernel does not say here whom it has killed: %v", err)
	} else {
		log.Close()
	}
	eater := exec.CommandContext(t.Context(), "sh", "-c", `echo $$ >"$1/cgroup.procs" && exec tail /dev/zero`, "sh", dir)
	eater.Cancel, eater.WaitDelay = func() error { return eater.Process.Kill() }, time.Second
	var eaten error
	v, _ := play(t, reload, "mutant-l3", func(p *host.Params) {
		p.OnEvent = func(e record.Event) {
			if e.Kind == record.Born && eater.Process == nil {
				eaten = eater.Run()
			}
		}
	})
	require.ErrorContains(t, eaten, "killed")
	assert.NotContains(t, codes(v), string(record.DoubtOutside))
	assert.Equal(t, verdict.Leak, v.Outcome, "%+v\n%+v", v.Findings, v.Doubts)
}

// TestKilledFromOutside: a server that somebody else has killed is no harm that the host has done, and one that the host has
// killed still is.
func TestKilledFromOutside(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	if !traced(t) {
		return
	}
	killer := exec.CommandContext(t.Context(), "sh", "-c", `read pid && kill -9 "$pid" && cat`)
	killer.Cancel, killer.WaitDelay = func() error { return killer.Process.Kill() }, time.Second
	pids, err := killer.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, killer.Start())
	t.Cleanup(func() { pids.Close(); _ = killer.Wait() })
	servers := map[string]int{}
	v, _ := play(t, quick, "exact", func(p *host.Params) {
		p.OnEvent = func(e record.Event) {
			switch {
			case e.Kind == record.Born:
				servers[e.Server] = e.Birth.PID
			case e.Kind == record.RPC && e.RPC.Method == record.MethodCall && e.RPC.Phase == record.PhaseAnswered:
				fmt.Fprintln(pids, servers[e.Server])
			}
		}
	})
	assert.Equal(t, verdict.Inconclusive, v.Outcome, "%+v\n%+v", v.Findings, v.Doubts)
	assert.Contains(t, codes(v), string(record.DoubtOutside))
	assert.Contains(t, fmt.Sprint(v.Doubts), `was sent SIGKILL by "sh"`)
	assert.Empty(t, v.Findings)

	v, _ = play(t, reload, "mutant-l3", nil)
	assert.Equal(t, verdict.Leak, v.Outcome, "%+v\n%+v", v.Findings, v.Doubts)
	assert.NotContains(t, codes(v), string(record.DoubtOutside))
}

// reload has mutant-l3 kill the newest other server.
const reload = `name: again
title: a session is connected anew beside others
servers:
  only: {}
limits: {settle: 1s, confirm: 500ms}
steps:
  - {open: a, server: only}
  - {open: b, server: only}
  - {call: a}
  - {call: b}
  - {open: a, server: only}
  - {call: a}
  - checkpoint: connected
`
