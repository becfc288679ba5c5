package scenarios

import (
	"cmp"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// patient is the key of a step that waits for the host's own time limit.
func (l *Step) patient() yamlfile.Key {
	return yamlfile.May("patient", "give the host no time limit, and wait for its own, up to limits.patience; without one the step is "+
		"cancelled and not applicable", yamlfile.Yes(&l.Patient))
}

// cancelAfter is the key of a cancel that does not come at once.
func (l *Step) cancelAfter() yamlfile.Key {
	return yamlfile.May("cancel_after", "how long after that to cancel it (default: at once)", yamlfile.Time(&l.CancelAfter))
}

// checkCut holds the keys that cut a step off against each other, and settles what to expect of a patient one: the host gives up.
func (l *Step) checkCut(m *yamlfile.Node) {
	if l.CancelAfter > 0 && !l.Cancel {
		m.Key("cancel_after").Problem("cancel_after says when a step is cancelled: write cancel: true before it")
	}
	if !l.Patient {
		return
	}
	if l.Timeout > 0 || l.Cancel {
		m.Key("patient").Problem("a patient step is cut off by the host's own time limit alone: leave out timeout and cancel")
	}
	if l.Expect == "" && m.Find("expect") != nil {
		m.Key("expect").Problem("this step can't be ok: it waits for the host to give up (fail, or any)")
	}
	l.Expect = cmp.Or(l.Expect, record.ExpectFail)
}

func isPatient(s Step) bool { return s.Patient }

// patienceOf is for how long patient steps wait; 0 where there is none.
func patienceOf(steps []Step, given record.Duration) record.Duration {
	if !anyStep(steps, isPatient) {
		return 0
	}
	return cmp.Or(given, defaultPatience)
}
