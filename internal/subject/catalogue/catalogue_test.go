package catalogue_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/subject/catalogue"
)

// TestTheTable: no name stands twice, each mutant shows what it is for, and the
// healthy host is healthy.
func TestTheTable(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, h := range slices.Concat(catalogue.Hosts, catalogue.Mutants) {
		assert.False(t, seen[h.Name], h.Name)
		seen[h.Name] = true
		assert.NotEmpty(t, h.About)
		found, ok := catalogue.Named(h.Name)
		assert.True(t, ok)
		assert.Equal(t, h, found)
	}
	flaws := map[catalogue.Flaw]bool{catalogue.NoFlaw: true}
	for _, m := range catalogue.Mutants {
		assert.False(t, flaws[m.Flaw], m.Name)
		flaws[m.Flaw] = true
		assert.NotEmpty(t, m.Shows, m.Name)
	}
	_, ok := catalogue.Named("nobody")
	assert.False(t, ok)
}

func TestMatrix(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range catalogue.Matrix {
		assert.False(t, seen[row.Scenario], row.Scenario)
		seen[row.Scenario] = true
		laws, known := catalogue.Breaks(row.Scenario, catalogue.Healthy)
		assert.True(t, known)
		assert.Empty(t, laws)
	}
	for _, column := range catalogue.Columns {
		_, ok := catalogue.Named(column)
		assert.True(t, ok, column)
	}
	laws, known := catalogue.Breaks("lock", "orphan-set")
	assert.True(t, known)
	assert.Equal(t, "L10", laws)
	for _, unknown := range [][2]string{{"lock", "go-sdk"}, {"nowhere", "exact"}} {
		_, known := catalogue.Breaks(unknown[0], unknown[1])
		assert.False(t, known)
	}
}
