package fakeserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A host that chooses the variables of its servers leaves ComSpec out, as the published TypeScript SDK does.
func TestShellWithoutComSpec(t *testing.T) {
	t.Setenv("ComSpec", "")
	shell, err := commandShell()
	require.NoError(t, err)
	assert.FileExists(t, shell)
}
