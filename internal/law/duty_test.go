package law

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestDuty: whose duty it is follows from what the host is, and from how its session or it ended; only of what was left.
func TestDuty(t *testing.T) {
	t.Parallel()
	assert.Contains(t, DutyOf(record.DutyLibrary, "L1", record.CauseSessionForgotten).Why, "The application dropped the client without Close; the library has no finalizer")
	assert.Contains(t, DutyOf(record.DutyLibrary, "L1", record.CauseSessionClosed).Why, "ending the server is the library's duty")
	assert.Contains(t, DutyOf(record.DutyLibrary, "L2", record.CauseHostKilled).Why, "was killed")
	assert.Contains(t, DutyOf(record.DutyLibrary, "L1", record.CauseReconnect).Why, "The host is a library")
	assert.Contains(t, DutyOf(record.DutyApplication, "L1", record.CauseReconnect).Why, "The host is an application")
	assert.Contains(t, DutyOf(record.DutyGateway, "L1", record.CauseReconnect).Why, "gateway's duty")
	assert.Contains(t, DutyOf(Untold, "L1", record.CauseSideBySide).Fix, "launches: 2")
	for _, none := range []Duty{
		DutyOf("", "L1", record.CauseSessionClosed), DutyOf("server", "L1", record.CauseSessionClosed), DutyOf(Untold, "L1", record.CauseJobDone), DutyOf(record.DutyLibrary, "L3", record.CauseHostAtWork),
	} {
		assert.Zero(t, none)
	}
}
