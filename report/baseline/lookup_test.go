package baseline

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/judge/gate"
)

func TestEachDecisionHasALook(t *testing.T) {
	t.Parallel()
	for _, d := range gate.Decisions() {
		assert.NotEmpty(t, decisionLooks[d].Word, d)
		assert.NotEmpty(t, decisionLooks[d].Class, d)
		assert.NotEmpty(t, decisionLooks[d].Glyph, d)
	}
	assert.Len(t, decisionLooks, len(gate.Decisions()))
}
