package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play/project"
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
			got := project.Validate([]string{path}, nil)[0]
			assert.Equal(t, c.kind, got.Kind)
			assert.Equal(t, len(got.Problems) == 0, got.OK, "%+v", got)
			assert.Contains(t, got.What+got.Problems.Error(), c.says)
			assert.Empty(t, got.Error)
		})
	}
}

func TestStandardInput(t *testing.T) {
	t.Parallel()
	got := project.Validate([]string{"-"}, strings.NewReader("known: []\n"))[0]
	assert.Equal(t, "known", got.Kind)
	assert.Equal(t, "-", got.File)
	got = project.Validate([]string{"-"}, strings.NewReader("known: {}\n"))[0]
	assert.False(t, got.OK)
	assert.Contains(t, got.Problems.Error(), "standard input:1:")
}

func TestWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	got := project.Validate([]string{filepath.Join(t.TempDir(), "none.yaml")}, nil)[0]
	assert.False(t, got.OK)
	assert.Contains(t, got.Error, "failed to read the file")
	assert.Empty(t, got.Kind)
}

func TestEachKindHasASchema(t *testing.T) {
	t.Parallel()
	for _, kind := range project.Kinds {
		assert.Contains(t, string(kind.Schema()), `"$schema"`, kind.Name)
	}
}

// TestAListNamesScenariosThatThereAre: built-in ones, and those that are checked beside it, in whatever order.
func TestAListNamesScenariosThatThereAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list, mine := filepath.Join(dir, "list.yaml"), filepath.Join(dir, "mine.yaml")
	require.NoError(t, os.WriteFile(list, []byte("known:\n  - {finding: tiny:L1, reason: r, expires: 2999-12-31}\n"), 0o600))
	require.NoError(t, os.WriteFile(mine, []byte("name: tiny\ntitle: t\nservers:\n  one:\nsteps:\n  - {open: s, server: one}\n  - checkpoint: after\n"), 0o600))
	got := project.Validate([]string{list}, nil)[0]
	assert.False(t, got.OK)
	require.Len(t, got.Problems, 1)
	assert.Equal(t, []int{2, 15}, []int{got.Problems[0].Line, got.Problems[0].Column})
	assert.Contains(t, got.Problems[0].Message, `there is no scenario "tiny"`)
	for _, c := range project.Validate([]string{list, mine}, nil) {
		assert.True(t, c.OK, "%+v", c)
	}
}
