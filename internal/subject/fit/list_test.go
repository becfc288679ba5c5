package fit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/fit"
	"github.com/leakbench/leakbench/scenarios"
)

// TestWithoutLists: a driver that offers no list is played what is left, unless the scenario is about lists.
func TestWithoutLists(t *testing.T) {
	t.Parallel()
	builtin := func(name string) *scenarios.Scenario {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		return s
	}
	mute := record.Hello{Ops: []string{"open", "call"}}
	left, why := fit.WithoutLists(builtin("lists"), mute)
	require.Empty(t, why)
	assert.NotContains(t, left.Ops(), record.OpList)
	assert.True(t, left.Unlisted(), "now the host has to ask by itself")
	_, why = fit.WithoutLists(builtin("relist"), mute)
	assert.Equal(t, "list: the driver does not offer it", why)
	_, why = fit.WithoutLists(builtin("relist"), record.Hello{NotApplicable: map[string]string{"list": "it has no tools"}})
	assert.Equal(t, "list: it has no tools", why)

	able := record.Hello{Ops: []string{"open", "call", "list"}}
	for _, name := range []string{"relist", "storm"} {
		s := builtin(name)
		left, why := fit.WithoutLists(s, able)
		assert.Empty(t, why)
		assert.Same(t, s, left)
	}
}
