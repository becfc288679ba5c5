package doctor_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/play/doctor"
)

// TestRunsAreRefused before anything is started.
func TestRunsAreRefused(t *testing.T) {
	lacks := doctor.Lacks("")
	assert.Equal(t, "leakbench can't start hosts on Windows yet: nothing was played", lacks[0].Error())
	assert.NotEmpty(t, lacks[0].Do)
}
