//go:build unix

package subject_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/files"
	"github.com/leakbench/leakbench/internal/subject"
)

// The clients before a gateway get what stands behind them by their environment, and end with their stdin.
func TestClientsEndWithTheirStdin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	self, log := filepath.Join(dir, "clients"), filepath.Join(dir, "gateway-clients.log")
	script := `#!/bin/sh
echo "$* $LEAKBENCH_GATEWAY" >&2
echo '{"hello":{"protocol":1,"host":"clients","ops":["open"]}}'
cat >/dev/null
echo over >&2
`
	require.NoError(t, files.Program(self, []byte(script)))
	c, d, err := subject.StartClients(t.Context(), self, log, subject.GatewayParams{URL: "http://there/mcp"})
	require.NoError(t, err)
	hello, err := d.Hello(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "clients", hello.Host)
	d.Close()
	require.NoError(t, c.End())
	said, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Regexp(t, `^host gateway-clients \{.*http://there/mcp.*\}\nover\n$`, string(said))
	var none *subject.Clients
	assert.NoError(t, none.End())
}

func TestClientsThatCantStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, _, err := subject.StartClients(t.Context(), filepath.Join(dir, "none"), filepath.Join(dir, "gateway-clients.log"), subject.GatewayParams{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}
