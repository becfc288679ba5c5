package leaktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// TestTwoPackagesWithoutAHome: two packages are tested at the same time, where no home can be written and nothing is built yet. One of
// them compiles the program, the other waits, and later runs find it.
func TestTwoPackagesWithoutAHome(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Slow)
	dir, temp, file := external(t), t.TempDir(), filepath.Join(t.TempDir(), "file")
	goIn(t, dir, "test", "-c", "-o", "pool.test", ".")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	env := []string{"GOCACHE=" + filepath.Join(file, "cache"), "TMPDIR=" + temp, "TMP=" + temp}
	var both [2]string
	var wg sync.WaitGroup
	for i := range both {
		wg.Go(func() {
			var passed bool
			passed, both[i] = play(t, dir, "^TestFlat$", env...)
			assert.True(t, passed, both[i])
		})
	}
	wg.Wait()
	all := both[0] + both[1]
	assert.Equal(t, 2, strings.Count(all, "the leakbench program is built in "+filepath.Join(temp, "leaktest")), all)
	assert.Equal(t, 1, strings.Count(all, "building the leakbench program"), all)
	assert.Equal(t, 1, strings.Count(all, "waiting for another test that builds the leakbench program"), all)

	passed, out := play(t, dir, "^TestFlat$", env...)
	assert.True(t, passed, out)
	assert.NotContains(t, out, "building the leakbench program", "it is built already")
}
