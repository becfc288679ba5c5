package scenarios_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/scenarios"
)

// TestTextReadsBack writes the built-in scenarios and reads them again: all that Text is for is the same.
func TestTextReadsBack(t *testing.T) {
	t.Parallel()
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		s.About, s.Reports, s.Laws, s.Level, s.Rows, s.Tags, s.Limits.Severity = "", nil, nil, "", nil, nil, nil
		s.Limits.Patience /= 2 // else it is the default
		again, err := scenarios.Parse(s.File, []byte(s.Text()))
		require.NoError(t, err, "%s\n%s", name, s.Text())
		again.Source = s.Source
		scenarios.Unplaced(s)
		scenarios.Unplaced(again)
		assert.Equal(t, s, again, "%s\n%s", name, s.Text())
	}
}
