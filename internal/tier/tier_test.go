package tier_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		groups string
		plays  bool
	}{
		{"", flag.Lookup("test.run").Value.String() != ""},
		{"tricks", true},
		{"matrix,tricks", true},
		{"matrix", false},
		{"tricksters", false},
		{"all", true},
	} {
		t.Setenv("LEAKBENCH_GROUPS", c.groups)
		assert.Equal(t, c.plays, tier.Plays(tier.Tricks), "%q", c.groups)
		skipped := true
		t.Run("only", func(t *testing.T) {
			tier.Only(t, tier.Tricks)
			skipped = false
		})
		assert.Equal(t, c.plays, !skipped, "%q", c.groups)
	}
}

func TestPlayed(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("LEAKBENCH_CELLS", "")
	tier.Played(t, "nobody", "storm", "clean")
	t.Setenv("LEAKBENCH_CELLS", dir)
	tier.Played(t, "exact", "storm", "clean")
	tier.Played(t, "naive", "storm", "L1 L4 ")
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Equal(t, runtime.GOOS+"\texact\tstorm\tclean\n"+runtime.GOOS+"\tnaive\tstorm\tL1 L4\n", string(text))
}
