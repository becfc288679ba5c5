package model

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/leakbench/leakbench/internal/duration"
	"github.com/leakbench/leakbench/internal/history"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/report/words"
)

// Skipped is how many steps were skipped.
func (s *Run) Skipped() (n int) {
	for _, st := range s.History.Steps() {
		if st.Skipped {
			n++
		}
	}
	return n
}

// CheckState says how a checkpoint went.
func (s *Run) CheckState(c *history.Checkpoint) string {
	took := duration.Text(s.Ended(c.Ended) - c.Begun)
	if c.Quiet {
		return "as expected after " + took
	}
	return "unexpected state after " + took
}

// AsExpected says whether a step ended as its scenario expects.
func AsExpected(s *history.Step) bool {
	switch {
	case s.Ended == history.Never:
		return false
	case s.Skipped, s.Expect == record.ExpectAny:
		return true
	case s.Expect == record.ExpectFail:
		return !s.OK
	}
	return s.OK
}

// StepResult says how a step ended.
func StepResult(s *history.Step) string {
	switch {
	case s.Ended == history.Never:
		return "never ended"
	case s.Skipped && s.Patience > 0:
		return "not applicable"
	case s.Skipped:
		return "skipped"
	case s.Patience > 0 && !s.OK:
		return "the host gave up after " + duration.Text(s.Ended-s.Begun)
	case s.Patience > 0 && s.Expect == record.ExpectAny: // by a try of the host's own
		return "answered after " + duration.Text(s.Ended-s.Begun) + ", although its server never did"
	case s.OK && s.Expect == record.ExpectFail:
		return "ok, but should fail"
	case s.OK:
		return "ok"
	}
	return cmp.Or(failures[s.Expect], "failed")
}

var failures = map[record.Expect]string{record.ExpectFail: "failed, as it should", record.ExpectAny: "failed, which is allowed"}

// OwnLimits are what came of the steps that were left to the host's own time limit.
func (s *Run) OwnLimits() (lines []string) {
	for _, st := range s.History.Steps() {
		if st.Patience == 0 || st.Ended == history.Never {
			continue
		}
		line := StepName(st) + ": " + StepResult(st)
		if st.Skipped {
			line += ", " + st.Error
		}
		lines = append(lines, line)
	}
	return lines
}

// Reconnects say, for each session that was called before it was opened anew, how it came back.
func (s *Run) Reconnects() (lines []string) {
	var sessions []string
	ways := map[string]map[record.Reconnects]int{}
	for _, st := range s.History.Steps() {
		if st.Reconnect == "" || st.Failed() || st.Ended == history.Never {
			continue
		}
		if ways[st.Session] == nil {
			sessions, ways[st.Session] = append(sessions, st.Session), map[record.Reconnects]int{}
		}
		ways[st.Session][st.Reconnect]++
	}
	for _, name := range sessions {
		var parts []string
		for _, way := range []struct {
			how  record.Reconnects
			text string
		}{{record.ByItself, "by itself"}, {record.ByOpen, "when it was opened"}} {
			if n := ways[name][way.how]; n > 0 {
				parts = append(parts, text.Count(n, "time")+" "+way.text)
			}
		}
		lines = append(lines, name+": "+strings.Join(parts, ", "))
	}
	return lines
}

// StepTitle is a step in one line: "open s1 (flaky): failed: ...".
func StepTitle(s *history.Step) string {
	title := StepName(s)
	if s.Label != "" && s.Session != "" {
		title += " (" + s.Label + ")"
	}
	title += ": " + StepResult(s)
	if s.Error != "" {
		title += ": " + s.Error
	}
	return title
}

// StepName is what a step does: "open s1".
func StepName(s *history.Step) string {
	return words.Join(string(s.Op), cmp.Or(s.Session, s.Label), s.Detail)
}

// HostEnd says how a life of the host ended, "" where it did not.
func HostEnd(h *history.Host) string {
	if h.Exited == history.Never {
		return ""
	}
	return ExitText(&h.Exit)
}

// ExitText says how a process ended.
func ExitText(e *record.Exit) string {
	switch {
	case e == nil:
		return ""
	case e.Signal != "" && e.Asked:
		return "by " + e.Signal + ", as asked"
	case e.Signal != "":
		return "by " + e.Signal
	case e.Asked:
		return fmt.Sprintf("exit %d, as asked", e.Code)
	}
	return fmt.Sprintf("exit %d, unasked", e.Code)
}
