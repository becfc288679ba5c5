// Package yamltest holds readers of YAML files to the messages that they have for wrong ones. It is for tests.
package yamltest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/yamlfile"
)

// Errors parses each file of testdata/errors. Its messages stand beside it, and
// update writes them anew. check, which may be nil, looks at them as well.
func Errors(t *testing.T, update bool, parse func(name string, src []byte) error, check func(*testing.T, []byte, yamlfile.Errors)) {
	t.Helper()
	paths, err := filepath.Glob("testdata/errors/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(path)
			require.NoError(t, err)
			var all yamlfile.Errors
			require.ErrorAs(t, parse(filepath.Base(path), src), &all)
			if check != nil {
				check(t, src, all)
			}
			golden, got := strings.TrimSuffix(path, ".yaml")+".golden", all.Error()+"\n"
			if update {
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), got, "go test with -update writes %s anew", golden)
		})
	}
}

// Schema checks that a committed schema is what the reader asks. update writes it anew.
func Schema(t *testing.T, update bool, path string, schema []byte) {
	t.Helper()
	if update {
		require.NoError(t, os.WriteFile(path, schema, 0o644))
	}
	shipped, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(schema), string(shipped), "%s is stale: go test with -update writes it anew", path)
}
