package matrix_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/test/matrix"
)

// TestTheMatrixItself: no scenario stands twice, the healthy host is healthy, and each column is a host.
func TestTheMatrixItself(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range matrix.Rows {
		assert.False(t, seen[row.Scenario], row.Scenario)
		seen[row.Scenario] = true
		laws, known := matrix.Breaks(row.Scenario, catalogue.Healthy)
		assert.True(t, known)
		assert.Empty(t, laws)
	}
	for _, column := range matrix.Columns {
		_, ok := catalogue.Named(column)
		assert.True(t, ok, column)
	}
	laws, known := matrix.Breaks("lock", "orphan-set")
	assert.True(t, known)
	assert.Equal(t, "L10", laws)
	for _, unknown := range [][2]string{{"lock", "go-sdk"}, {"nowhere", "exact"}} {
		_, known := matrix.Breaks(unknown[0], unknown[1])
		assert.False(t, known)
	}
}
