package report

import "strings"

// asExpected says whether a step ended as its scenario expects.
func asExpected(s *stepSpan) bool {
	switch {
	case s.open:
		return false
	case s.skipped, s.Expect == "any":
		return true
	case s.Expect == "fail":
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
	case s.OK && s.Expect == "fail":
		return "ok, but should fail"
	case s.OK:
		return "ok"
	case s.Expect == "fail":
		return "failed, as it should"
	case s.Expect == "any":
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
	parts := []string{s.Op}
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
