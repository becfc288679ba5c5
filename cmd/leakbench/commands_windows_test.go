package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCommandsThatDoNotWorkYet are refused with one line, a hint and exit code 2, whatever else is on their command line, and before
// anything starts. The others are not.
func TestCommandsThatDoNotWorkYet(t *testing.T) {
	refused := map[string][]string{
		"attach": {"4"}, "bisect": {"go-sdk"}, "explore": {"--runs", "1"}, "init": {"host.yaml"}, "lab": nil,
		"server": {"--", os.Args[0], "fakeserver"}, "hosts install": {"all"},
	}
	t.Chdir(t.TempDir())
	for name, rest := range refused {
		var out, complained bytes.Buffer
		assert.Equal(t, 2, execute(append(strings.Fields(name), rest...), &out, &complained), name)
		assert.Empty(t, out.String())
		assert.Equal(t, fmt.Sprintf("leakbench: leakbench %s does not work on Windows yet\nhint: run it on Linux, or in WSL\n", name), complained.String())
	}
	left, err := filepath.Glob("*")
	require.NoError(t, err)
	assert.Empty(t, left)
	root := (&app{}).root()
	for _, cmd := range root.Commands() {
		_, not := refused[cmd.Name()]
		assert.Equal(t, not, notYet(cmd.CommandPath()) != nil, cmd.Name())
		assert.Equal(t, !not, slices.Contains(works, cmd.Name()) || strings.HasPrefix(cmd.Name(), "__"), cmd.Name())
	}
}

// TestOneRun: a run, and what is done with it by the path of the newest one, to which there is no link.
func TestOneRun(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		line string
		code int
		says string
	}{
		{"run sharing --host reap-all", 1, "L3 "},
		{"run sharing", 0, "clean"},
		{"judge .leakbench/latest", 0, "sharing on exact"},
		{"open --print", 0, "report.html"},
		{"compare .leakbench/latest .leakbench/latest", 0, "0 new"},
		{"replay .leakbench/latest", 0, "sharing"},
		{"report .leakbench/latest --reporter md", 0, "sharing"},
		{"score --hosts exact --scenarios sharing --dir board -o board.md", 0, "1 clean"},
		{"selftest --law L10", 0, "mutant-l10"},
		{"list hosts --all", 0, "job-late"},
	} {
		var out, complained bytes.Buffer
		assert.Equal(t, c.code, execute(strings.Fields(c.line), &out, &complained), "%s\n%s%s", c.line, &out, &complained)
		assert.Contains(t, out.String(), c.says, "%s\n%s", c.line, &complained)
	}
}
