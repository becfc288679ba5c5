package validate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/validate"
)

// What a file is follows from its keys, and from its name where it has none.
func TestFile(t *testing.T) {
	t.Parallel()
	const scenario = "name: tiny\ntitle: One open\nservers:\n  one:\nsteps:\n  - {open: s, server: one}\n  - checkpoint: after\n"
	for name, c := range map[string]struct{ file, text, kind, says string }{
		"a scenario":          {"a.yaml", scenario, "scenario", "1 server"},
		"a host":              {"b.yaml", "name: mine\nabout: a host\ncommand: [mine]\ndrive: driver\n", "host", "host mine"},
		"a list":              {"c.yaml", "known:\n  - {finding: storm:L1, reason: r, expires: 2999-12-31}\n", "known", "1 entry"},
		"a list without any":  {"known.yaml", "# none yet\n", "known", "0 entries"},
		"a broken scenario":   {"d.yaml", "nom: tiny\n", "scenario", "d.yaml:1:1"},
		"a broken host":       {"e.yaml", "command: []\n", "host", "e.yaml:1:"},
		"a list and its keys": {"f.yaml", "known:\n  - {finding: storm:L1}\ncommand: [x]\n", "known", "f.yaml:"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), c.file)
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			got := validate.File(path, nil)
			assert.Equal(t, c.kind, got.Kind)
			assert.Equal(t, len(got.Problems) == 0, got.OK, "%+v", got)
			assert.Contains(t, got.What+got.Problems.Error(), c.says)
			assert.Empty(t, got.Error)
		})
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	got := validate.File("-", strings.NewReader("known: []\n"))
	assert.Equal(t, "known", got.Kind)
	assert.Equal(t, "-", got.File)
	got = validate.File("-", strings.NewReader("known: {}\n"))
	assert.False(t, got.OK)
	assert.Contains(t, got.Problems.Error(), "standard input:1:")
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	got := validate.File(filepath.Join(t.TempDir(), "none.yaml"), nil)
	assert.False(t, got.OK)
	assert.Contains(t, got.Error, "failed to read the file")
	assert.Empty(t, got.Kind)
}

func TestEachKindHasASchema(t *testing.T) {
	t.Parallel()
	for _, kind := range validate.Kinds {
		assert.Contains(t, string(kind.Schema()), `"$schema"`, kind.Name)
	}
}
