package redacttest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/redact/redacttest"
)

func TestValuesHaveTheirShape(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // no secret is made
	for _, s := range redacttest.Shapes(t, "../testdata/services.tsv") {
		assert.Regexp(t, "^(?:"+s.Form.String()+")$", s.Value(r), s.Rule)
		assert.NotEmpty(t, s.Service, s.Rule)
	}
}
