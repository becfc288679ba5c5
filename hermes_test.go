package leakbench_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/host"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/scenarios"
)

// expectedCell is what a host is known to do in a scenario.
type expectedCell struct {
	Outcome string
	Laws    []string
}

// TestHermes plays the pinned version of Hermes agent, where it is installed.
func TestHermes(t *testing.T) {
	t.Parallel()
	python := hermesPython(t)
	text, err := os.ReadFile("hosts/hermes/expected.yaml")
	require.NoError(t, err)
	var expected map[string]map[string]expectedCell
	require.NoError(t, yaml.UnmarshalWithOptions(text, &expected, yaml.Strict()))
	require.NotEmpty(t, expected["hermes"])
	for scenario, want := range expected["hermes"] {
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			s, err := scenarios.Builtin(scenario)
			require.NoError(t, err)
			judged := playSpec(t, s, host.Spec{
				Name: "hermes", Kind: record.KindDriver,
				Argv: []string{python, "hosts/hermes/driver.py", "--home", t.TempDir()},
				// the driver's hello declares the rest
				Profile: record.Profile{Settle: record.Duration(15 * time.Second), Confirm: record.Duration(15 * time.Second), Stop: record.Duration(15 * time.Second)},
			})
			assert.Equal(t, want.Outcome, string(judged.Verdict.Outcome), account(judged))
			assert.Equal(t, strings.Join(want.Laws, " "), brokenLaws(judged.Verdict), account(judged))
			assert.Empty(t, judged.Verdict.Doubts)
		})
	}
}

// TestScenariosOfFindingsLoad: the scenarios that the pages of findings name.
func TestScenariosOfFindingsLoad(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("docs/findings/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		_, err := scenarios.Load(file)
		assert.NoError(t, err)
	}
}

// hermesPython is the interpreter that the pinned version is installed for.
func hermesPython(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("hosts/hermes/host.yaml")
	require.NoError(t, err)
	version := regexp.MustCompile(`(?m)^  version: (\S+)$`).FindSubmatch(text)
	require.NotNil(t, version)
	base := os.Getenv("LEAKBENCH_HOSTS_DIR")
	if base == "" {
		cache, err := os.UserCacheDir()
		require.NoError(t, err)
		base = filepath.Join(cache, "leakbench", "hosts")
	}
	python := filepath.Join(base, "hermes@"+string(version[1]), "bin", "python")
	if _, err = os.Stat(python); err == nil {
		return python
	}
	if os.Getenv("LEAKBENCH_REQUIRE") == "all" {
		require.NoError(t, err, "LEAKBENCH_REQUIRE=all")
	}
	t.Skipf("Hermes agent is not installed: %v", err)
	return ""
}
