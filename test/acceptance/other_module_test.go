package acceptance_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/subject"
)

// TestDriverOfAnotherModule builds a driver in a module that only requires this
// one, and plays a run with it.
func TestDriverOfAnotherModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("driver", "testdata", "external"))))
	sums, err := os.ReadFile("go.sum") // what `go get` writes
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644))
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	program := filepath.Join(dir, "external")
	command(t, dir, "go", "mod", "edit", "-replace=github.com/leakbench/leakbench="+root)
	command(t, dir, "go", "build", "-mod=mod", "-o", program, ".")
	spec, err := subject.Lookup("", program)
	require.NoError(t, err)
	judged := playUntil(t, short, cellOf(builtin(t, "reload"), spec), play.Limits{}, breaks(""))
	assert.Equal(t, verdict.Clean, judged.Verdict.Outcome, account(judged))
}
