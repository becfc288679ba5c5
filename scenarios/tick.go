package scenarios

import (
	"strings"
	"time"
)

// tick reads the jobs of a tick and the steps beside them.
func (r *reader) tick(l *line, depth int) {
	m := l.subject.mapping("tick")
	total := 0
	for _, item := range m.need("jobs").list("jobs") {
		j := r.job(item)
		total += j.Count
		l.Jobs = append(l.Jobs, j)
	}
	if total > maxJobs {
		m.at("jobs").problem("a tick has at most %d jobs", maxJobs)
		l.Jobs = nil
	}
	if during := m.get("during"); during != nil {
		l.lanes = [][]line{r.steps(during, depth+1)}
	}
	m.done()
}

func (r *reader) job(n *node) Job {
	m := n.mapping("a job")
	j := Job{Count: 1, Label: r.label(m.need("server"))}
	if count := m.get("count"); count != nil {
		j.Count = count.whole("a number of jobs", 1, maxJobs)
	}
	j.Tool, j.Args = readTool(m)
	j.Timeout = m.get("timeout").duration()
	j.Cancel = m.get("cancel").yes()
	j.Expect = expected(m, j.Tool, j.Args, j.Timeout.D(), j.Cancel, readExpect(m))
	m.done()
	return j
}

// maxPad is how many KiB a call may be padded with: a driver takes lines of
// 4 MiB.
const maxPad = 3072

// readTool reads which tool is called, and how.
func readTool(m *mapping) (string, map[string]any) {
	tool := m.get("tool").choice("a tool of the fake server", tools...)
	n := m.get("args")
	var args map[string]any
	if n != nil {
		args, _ = n.mapping("args").plain().(map[string]any)
	}
	if pad := m.get("pad"); pad != nil {
		if args == nil {
			args = map[string]any{}
		}
		args["pad"] = strings.Repeat("x", pad.whole("a number of KiB", 1, maxPad)<<10)
	}
	if tool != "sleep" {
		return tool, args
	}
	at := m.at("tool")
	if n != nil && n.find("ms") != nil {
		at = n.find("ms")
	}
	if ms, ok := sleepOf(args); !ok || ms < 0 || ms > maxTime {
		at.problem("sleep needs args: {ms: N}, a number of milliseconds up to %d", maxTime.Milliseconds())
	}
	return tool, args
}

// sleepOf is how long a call of sleep takes.
func sleepOf(args map[string]any) (time.Duration, bool) {
	ms, ok := args["ms"].(int64)
	if !ok || ms > maxTime.Milliseconds() {
		return 0, false
	}
	return time.Duration(ms) * time.Millisecond, true
}

// expected is what to expect of a call: one that is cut off fails.
func expected(m *mapping, tool string, args map[string]any, timeout time.Duration, cancel bool, told string) string {
	if cancel && timeout > 0 {
		m.at("timeout").problem("a call is cut off by its timeout or cancelled, not both")
	}
	sleep, sleeps := sleepOf(args)
	cut := cancel || (tool == "sleep" && sleeps && timeout > 0 && sleep >= timeout)
	if !cut {
		return told
	}
	if m.find("expect") != nil && told == "" {
		why := "is cancelled"
		if !cancel {
			why = "sleeps longer than its timeout"
		}
		m.at("expect").problem("this call can't be ok: it %s", why)
	}
	if told == "" {
		return "fail"
	}
	return told
}

// cancelled is what to expect of an open: one that is cancelled fails.
func cancelled(m *mapping, cancel bool, timeout time.Duration, told string) string {
	if !cancel {
		return told
	}
	if timeout > 0 {
		m.at("timeout").problem("an open is cut off by its timeout or cancelled, not both")
	}
	if m.find("expect") != nil && told == "" {
		m.at("expect").problem("this open can't be ok: it is cancelled")
	}
	if told == "" {
		return "fail"
	}
	return told
}

func joined(words []string) string { return strings.Join(words, ", ") }
