package leakbench_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/tier"
)

// release is what .goreleaser.yaml says of a build.
type release struct {
	Builds []struct {
		Flags   []string `yaml:"flags"`
		Ldflags []string `yaml:"ldflags"`
		Env     []string `yaml:"env"`
		Main    string   `yaml:"main"`
	} `yaml:"builds"`
}

// TestReleasesAreReproducible builds as a release does, in two places, and
// compares: no path and no clock of the machine is in the program.
func TestReleasesAreReproducible(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Release)
	text, err := os.ReadFile(".goreleaser.yaml")
	require.NoError(t, err)
	var r release
	require.NoError(t, yaml.Unmarshal(text, &r))
	require.Len(t, r.Builds, 1)
	b := r.Builds[0]
	ldflags := strings.NewReplacer("{{.Version}}", "1.2.3", "{{.FullCommit}}", "0123abc", "{{.CommitDate}}", "2030-01-31T12:00:00Z").Replace(strings.Join(b.Ldflags, " "))
	require.NotContains(t, ldflags, "{{")
	var sums []string
	var program string
	for _, place := range []string{copyOfTheSource(t), copyOfTheSource(t)} {
		program = filepath.Join(t.TempDir(), "leakbench")
		args := append([]string{"build", "-buildvcs=false", "-o", program, "-ldflags", ldflags}, b.Flags...)
		cmd := exec.CommandContext(t.Context(), "go", append(args, b.Main)...)
		cmd.Dir, cmd.Env, cmd.WaitDelay = place, append(os.Environ(), b.Env...), time.Second
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		built, err := os.ReadFile(program)
		require.NoError(t, err)
		assert.NotContains(t, string(built), place, "a path of the machine")
		sum := sha256.Sum256(built)
		sums = append(sums, hex.EncodeToString(sum[:]))
	}
	assert.Equal(t, sums[0], sums[1])

	out, err := exec.CommandContext(t.Context(), program, "version").Output()
	require.NoError(t, err)
	assert.Equal(t, "leakbench 1.2.3 commit 0123abc of 2030-01-31T12:00:00Z built with "+runtime.Version()+"\n", string(out))
	out, err = exec.CommandContext(t.Context(), program, "version", "--format", "json").Output()
	require.NoError(t, err)
	var said map[string]string
	require.NoError(t, json.Unmarshal(out, &said))
	assert.Equal(t, map[string]string{"version": "1.2.3", "commit": "0123abc", "date": "2030-01-31T12:00:00Z", "go": runtime.Version()}, said)
}

// copyOfTheSource is a folder elsewhere with links to all that is built.
func copyOfTheSource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "cmd", "internal", "fakeserver", "scenarios", "report", "hosts", "driver", "integrations"} {
		from, err := filepath.Abs(name)
		require.NoError(t, err)
		if info, err := os.Stat(from); err == nil && info.IsDir() {
			require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(from)))
			continue
		}
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return dir
}
