package report

import (
	"strings"

	"github.com/leakbench/leakbench/internal/record"
)

// asExpected says whether a step ended as its scenario expects.
func asExpected(s *stepSpan) bool {
	switch {
	case s.open:
		return false
	case s.skipped, s.Expect == record.ExpectAny:
		return true
	case s.Expect == record.ExpectFail:
		return !s.OK
	}
	return s.OK
}

// stepResult says how a step ended.
func stepResult(s *stepSpan) string {
	switch {
	case s.open:
		return "never ended"
	case s.skipped:
		return "skipped"
	case s.OK && s.Expect == record.ExpectFail:
		return "ok, but should fail"
	case s.OK:
		return "ok"
	case s.Expect == record.ExpectFail:
		return "failed, as it should"
	case s.Expect == record.ExpectAny:
		return "failed, which is allowed"
	}
	return "failed"
}

// stepTitle is a step in one line: "open s1 (flaky): failed: ...".
func stepTitle(s *stepSpan) string {
	title := stepName(s)
	if s.Label != "" && s.Session != "" {
		title += " (" + s.Label + ")"
	}
	title += ": " + stepResult(s)
	if s.Error != "" {
		title += ": " + s.Error
	}
	return title
}

func stepName(s *stepSpan) string {
	parts := []string{string(s.Op)}
	switch {
	case s.Session != "":
		parts = append(parts, s.Session)
	case s.Label != "":
		parts = append(parts, s.Label)
	}
	if s.Detail != "" {
		parts = append(parts, s.Detail)
	}
	return strings.Join(parts, " ")
}
