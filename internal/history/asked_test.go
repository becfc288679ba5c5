package history

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/record"
)

// TestAHostThatCannotBeAsked: a step that was skipped after it had begun has asked for nothing. One that came before has.
func TestAHostThatCannotBeAsked(t *testing.T) {
	t.Parallel()
	p := &tape{}
	p.host(41)
	asks := record.Step{N: 1, Op: record.OpTerm, Detail: "CTRL_C"}
	begun := p.step(record.StepBegun, asks)
	h := of(p.events).Host()
	assert.Equal(t, []any{begun, record.OpTerm, "CTRL_C"}, []any{h.AskedAt, h.AskedOp, h.AskedBy})

	p.step(record.StepSkipped, asks)
	h = of(p.events).Host()
	assert.Equal(t, []any{Never, record.Op(""), ""}, []any{h.AskedAt, h.AskedOp, h.AskedBy})

	first := p.step(record.StepBegun, record.Step{N: 2, Op: record.OpStop})
	p.step(record.StepBegun, record.Step{N: 3, Op: record.OpTerm})
	p.step(record.StepSkipped, record.Step{N: 3, Op: record.OpTerm})
	assert.Equal(t, first, of(p.events).Host().AskedAt)
}
