package server_test

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/verdict"
	observeserver "github.com/leakbench/leakbench/internal/observe/server"
	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/play/server"
	"github.com/leakbench/leakbench/internal/reexec/reexectest"
)

func TestMain(m *testing.M) { reexectest.WaitingMain(m, 3) }

const servers = "../../../testdata/servers/"

func fake(args ...string) []string {
	self, _ := os.Executable()
	return append([]string{self, "fakeserver"}, args...)
}

func script(name string, args ...string) []string {
	program := "python3"
	switch {
	case strings.HasSuffix(name, ".mjs"):
		program = "node"
	case runtime.GOOS == "windows":
		program = "python"
	}
	return append([]string{program, servers + name}, args...)
}

// named are the checks of these names, in their own order.
func named(names ...string) []observeserver.Check {
	return slices.DeleteFunc(observeserver.Checks(), func(c observeserver.Check) bool { return !slices.Contains(names, c.Name) })
}

// try plays checks against a server, and returns the kinds that were found and the verdicts.
func try(t *testing.T, p server.Params, argv []string) (kinds []string, runs []verdict.Verdict) {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), err)
		t.Skip(err)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	bench, series := play.Bench{Self: self, Out: t.TempDir()}, play.Series{}
	one, err := server.Plan(p, argv, &bench, &series)
	require.NoError(t, err)
	tries, not, err := series.Play(context.Background(), one)
	require.NoError(t, err)
	require.Empty(t, not)
	require.Len(t, tries, len(series.Scenarios))
	for _, try := range tries {
		v := try.Verdict
		again, err := play.Load(try.Dir)
		require.NoError(t, err)
		assert.Equal(t, v, again.Verdict, "the file alone gives the same verdict")
		runs = append(runs, v)
		for i := range v.Findings {
			kinds = append(kinds, v.Findings[i].Kind)
		}
	}
	return kinds, runs
}
