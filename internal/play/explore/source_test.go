package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/explore/cover"
	"github.com/leakbench/leakbench/internal/play/explore/grammar"
)

func aimedAt(t *testing.T, n int, guided bool) (cells, of int) {
	t.Helper()
	s := newSource(1, grammar.Reach{})
	done := map[cover.Cell]bool{}
	for i := range n {
		if !guided {
			clear(s.aimed)
		}
		made, err := s.next(i)
		require.NoError(t, err)
		for _, c := range cover.Aims(made) {
			done[c] = true
		}
	}
	return len(done), len(s.cells)
}

// TestGuide: going by what was tried covers more than chance.
func TestGuide(t *testing.T) {
	t.Parallel()
	guided, of := aimedAt(t, 300, true)
	blind, _ := aimedAt(t, 300, false)
	t.Logf("300 scenarios aim at %d of %d; without the guide at %d", guided, of, blind)
	assert.Greater(t, guided, blind*11/10)
	assert.Greater(t, guided, of/2)
}
