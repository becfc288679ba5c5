package law

import (
	"slices"

	"github.com/leakbench/leakbench/internal/record"
)

// Untold is the kind of a host of which nobody tells which sessions it has. No host calls itself that.
const Untold record.Duty = "untold"

// DutyOf is empty where the host has not said what it is, or where nothing was left.
func DutyOf(host record.Duty, law string, cause record.Cause) Duty {
	if of := Of(law); of.Shows != Left {
		return Duty{}
	}
	for _, d := range all().Duties {
		if d.Host == host && (d.Causes == nil || slices.Contains(d.Causes, cause)) {
			return Duty{d.Why, d.Fix}
		}
	}
	return Duty{}
}
