package integrations_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/integrations"
)

// TestKits: each kit has its folder, its proof (a script that finds a leak with it) and its row in the documentation.
func TestKits(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("*/leakbench")
	require.NoError(t, err)
	for _, folder := range folders {
		assert.Contains(t, integrations.Kits, filepath.Dir(folder), "integrations.go lists no such kit")
	}
	page, err := os.ReadFile("../docs/use/testing.md")
	require.NoError(t, err)
	for language := range integrations.Kits {
		assert.DirExists(t, filepath.Join(language, "leakbench"), "the kit %s has no library", language)
		assert.FileExists(t, "../testdata/script/kit-"+language+".txtar", "the kit %s has no proof", language)
		assert.Regexp(t, `(?mi)^\| `+language+` \|`, string(page), "docs/use/testing.md lacks the kit %s", language)
		_, err := integrations.Library(language)
		assert.NoError(t, err)
	}
}
