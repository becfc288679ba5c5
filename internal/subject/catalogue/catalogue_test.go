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
