package compare

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02, and
// p.adjust(c(0.5, 0.6, 0.01), "holm") is 1 1 0.03.
func TestHolmAgreesWithR(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.5, 0.6, 0.01}, []float64{1, 1, 0.03}},
		{[]float64{0.02}, []float64{0.02}},
		{nil, []float64{}},
	} {
		tests := make([]*Measure, len(c.p))
		for i, p := range c.p {
			tests[i] = &Measure{P: p}
		}
		holm(tests)
		got := make([]float64, len(tests))
		for i, m := range tests {
			got[i] = m.Holm
		}
		assert.InDeltaSlice(t, c.want, got, 1e-12)
	}
}

// 2/C(12,6) is 0.0022, 2/C(14,7) is 0.00058, 2/C(18,9) is 0.00004.
func TestRunsThatAreNeeded(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 6, needed(0, 0.05))
	assert.Equal(t, 6, needed(23, 0.05))
	assert.Equal(t, 7, needed(24, 0.05))
	assert.Equal(t, 9, needed(350, 0.05))
}
