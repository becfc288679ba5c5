package scenarios

import (
	"strings"
	"time"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// tick reads the jobs of a tick and the steps beside them.
func (r *reader) tick(l *line, depth int) {
	m := l.subject.Mapping("tick")
	total := 0
	for _, item := range m.Need("jobs").List("jobs") {
		j := r.job(item)
		total += j.Count
		l.Jobs = append(l.Jobs, j)
	}
	if total > maxJobs {
		m.At("jobs").Problem("a tick has at most %d jobs", maxJobs)
		l.Jobs = nil
	}
	if during := m.Get("during"); during != nil {
		l.lanes = [][]line{r.steps(during, depth+1)}
	}
	m.Done()
}

func (r *reader) job(n *yamlfile.Node) Job {
	m := n.Mapping("a job")
	j := Job{Count: 1, Label: r.label(m.Need("server"))}
	if count := m.Get("count"); count != nil {
		j.Count = count.Whole("a number of jobs", 1, maxJobs)
	}
	j.Tool, j.Args = readTool(m)
	j.Timeout = m.Get("timeout").Duration()
	j.Cancel = m.Get("cancel").Yes()
	if j.Probe = m.Get("probe").Yes(); j.Probe && (j.Tool != "" || j.Args != nil || j.Timeout > 0 || j.Cancel) {
		m.At("probe").Problem("a probe is not told which tool to call, nor cut off: leave out tool, args, pad, timeout and cancel")
	}
	j.Expect = expected(m, j.Tool, j.Args, j.Timeout.D(), j.Cancel, readExpect(m))
	m.Done()
	return j
}

// maxPad is how many KiB a call may be padded with: a driver takes lines of
// 4 MiB.
const maxPad = 3072

// readTool reads which tool is called, and how.
func readTool(m *yamlfile.Mapping) (string, map[string]any) {
	tool := m.Get("tool").Choice("a tool of the fake server", tools...)
	n := m.Get("args")
	var args map[string]any
	if n != nil {
		args, _ = n.Mapping("args").Plain().(map[string]any)
	}
	if pad := m.Get("pad"); pad != nil {
		if args == nil {
			args = map[string]any{}
		}
		args["pad"] = strings.Repeat("x", pad.Whole("a number of KiB", 1, maxPad)<<10)
	}
	if tool != "sleep" {
		return tool, args
	}
	at := m.At("tool")
	if n != nil && n.Find("ms") != nil {
		at = n.Find("ms")
	}
	if ms, ok := sleepOf(args); !ok || ms < 0 || ms > yamlfile.MaxTime {
		at.Problem("sleep needs args: {ms: N}, a number of milliseconds up to %d", yamlfile.MaxTime.Milliseconds())
	}
	return tool, args
}

// sleepOf is how long a call of sleep takes.
func sleepOf(args map[string]any) (time.Duration, bool) {
	ms, ok := args["ms"].(int64)
	if !ok || ms > yamlfile.MaxTime.Milliseconds() {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

// expected is what to expect of a call: one that is cut off fails.
func expected(m *yamlfile.Mapping, tool string, args map[string]any, timeout time.Duration, cancel bool, told record.Expect) record.Expect {
	if cancel && timeout > 0 {
		m.At("timeout").Problem("a call is cut off by its timeout or cancelled, not both")
	}
	sleep, sleeps := sleepOf(args)
	cut := cancel || (tool == "sleep" && sleeps && timeout > 0 && sleep >= timeout)
	if !cut {
		return told
	}
	if m.Find("expect") != nil && told == "" {
		why := "is cancelled"
		if !cancel {
			why = "sleeps longer than its timeout"
		}
		m.At("expect").Problem("this call can't be ok: it %s", why)
	}
	if told == "" {
		return record.ExpectFail
	}
	return told
}

// cancelled is what to expect of an open: one that is cancelled fails.
func cancelled(m *yamlfile.Mapping, cancel bool, timeout time.Duration, told record.Expect) record.Expect {
	if !cancel {
		return told
	}
	if timeout > 0 {
		m.At("timeout").Problem("an open is cut off by its timeout or cancelled, not both")
	}
	if m.Find("expect") != nil && told == "" {
		m.At("expect").Problem("this open can't be ok: it is cancelled")
	}
	if told == "" {
		return record.ExpectFail
	}
	return told
}

func joined(words []string) string { return strings.Join(words, ", ") }
