package server_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/observe/server"
)

// TestChecks: a check is found by either of its names, and each law for servers is what some check is about.
func TestChecks(t *testing.T) {
	t.Parallel()
	about := map[string]bool{}
	for i, c := range server.Checks() {
		assert.Equal(t, server.CheckNames()[i], c.Name)
		assert.Equal(t, server.CheckScenarios()[i], c.Scenario())
		for _, name := range []string{c.Name, c.Scenario()} {
			found, known := server.CheckNamed(name)
			assert.True(t, known)
			assert.Equal(t, c, found)
		}
		for _, id := range c.Laws {
			about[id] = true
			assert.NotEmpty(t, law.Of(id).Name, id)
		}
	}
	for _, l := range law.Servers() {
		assert.True(t, about[l.ID], "no check is about %s", l.ID)
	}
	_, known := server.CheckNamed("storm")
	assert.False(t, known)
}
