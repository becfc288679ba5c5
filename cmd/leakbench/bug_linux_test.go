//go:build !race

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/observe"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/tier"
)

// bugs are the functions that a bug is planted into, one for each kind of place that a panic can come from.
var bugs = []struct {
	name, file, function string
	nth                  int // call that panics
	lost                 int // runs whose page or verdict is lost with it, at most
}{
	{"a goroutine of a run", "internal/observe/host/run.go", "watchKeeper", 9, 0},
	{"a run", "internal/observe/host/checkpoint.go", "checkpoint", 9, 0},
	{"a run that holds its lock", "internal/observe/host/reconnect.go", "isBack", 2, 0},
	{"the keeper", "internal/observe/keeper/process.go", "census", 40, 0},
	{"the tries without the host", "internal/observe/host/control.go", "TryControl", 6, 0},
	{"a goroutine of the ledger", "internal/observe/ledger/peer.go", "serve", 60, 0},
	{"a line of the progress", "internal/play/line.go", "Line", 6, 0},
	{"the judge", "internal/judge/verdict/judge.go", "judge", 6, 1},
	{"the page of a run", "report/page/page.go", "newPage", 6, 1},
	{"the text", "report/terminal/text.go", "Text", 1, 0},
	{"the page of all runs", "report/page/page.go", "newPage", 30, 1},
}

// bugEnv is where the bug is, and at which call: only a program of withBugs reads it.
const bugEnv = "LEAKBENCH_TEST_BUG"

const plantedSource = `package %s

import (
	"os"
	"strconv"
	"sync/atomic"
)

var plantedCalls atomic.Int32

func planted(place string) {
	if os.Getenv("LEAKBENCH_TEST_BUG") == place && strconv.Itoa(int(plantedCalls.Add(1))) == os.Getenv("LEAKBENCH_TEST_BUG_AT") {
		panic("a planted bug")
	}
}
`

// withBugs builds leakbench with the bugs. The source stays as it is: the compiler is given other files in the place of some.
func withBugs(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	dir, overlay := t.TempDir(), map[string]string{}
	for i, b := range bugs {
		path := filepath.Join(root, b.file)
		if overlay[path] != "" {
			continue
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		at := slices.IndexFunc(tree.Decls, func(d ast.Decl) bool {
			fn, isFunc := d.(*ast.FuncDecl)
			return isFunc && fn.Name.Name == b.function
		})
		require.GreaterOrEqual(t, at, 0, "%s has no %s", b.file, b.function)
		open := set.Position(tree.Decls[at].(*ast.FuncDecl).Body.Lbrace).Offset + 1
		text = slices.Insert(text, open, fmt.Appendf(nil, "planted(%q);", b.function)...)
		for name, text := range map[string][]byte{
			path: text, filepath.Join(filepath.Dir(path), "planted.go"): fmt.Appendf(nil, plantedSource, tree.Name.Name),
		} {
			overlay[name] = filepath.Join(dir, fmt.Sprint(i, "-", filepath.Base(name)))
			require.NoError(t, os.WriteFile(overlay[name], text, 0o600))
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": overlay})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o600))
	program := filepath.Join(dir, "leakbench")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-o", program, ".")
	build.WaitDelay = 10 * time.Second
	said, err := build.CombinedOutput()
	require.NoError(t, err, string(said))
	return program
}

// TestABugInTheMiddle: where leakbench itself is wrong in the middle of many runs, those that were made are saved, judged and shown, what
// is said leads to the report of the bug, and nothing is left on the machine.
func TestABugInTheMiddle(t *testing.T) {
	tier.Only(t, tier.Scripts)
	t.Parallel()
	program := withBugs(t)
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			dir := t.TempDir()
			tmp, out := filepath.Join(dir, "t"), filepath.Join(dir, "runs")
			require.NoError(t, os.Mkdir(tmp, 0o700))
			mark := fmt.Sprintf("bug-%d-%s", os.Getpid(), b.name)
			cmd := exec.CommandContext(t.Context(), program, "run", "all", "--quick", "--host", "exact", "--out", out, "--progress", "plain")
			cmd.Env = append(os.Environ(), bugEnv+"="+b.function, fmt.Sprintf("%s_AT=%d", bugEnv, b.nth), markEnv+"="+mark, "TMPDIR="+tmp)
			cmd.WaitDelay = 10 * time.Second
			var shown, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &shown, &said
			_ = cmd.Run()
			assert.Equal(t, exitBug, cmd.ProcessState.ExitCode())
			goneWithin(t, mark, 2*time.Second*timeScale)
			left, err := os.ReadDir(tmp)
			require.NoError(t, err)
			assert.Empty(t, left)

			assert.Contains(t, said.String(), "panic: a planted bug\n")
			assert.Contains(t, said.String(), filepath.Base(b.file))
			saved := savedWhole(t, out, b.lost)
			assert.Greater(t, len(saved), 3)
			assert.Contains(t, said.String(), fmt.Sprintf("hint: this is a bug of leakbench: please report it at %s with this text and the run's folder; "+
				"%d runs saved in %s (leakbench runs --out %s)\n", issues, len(saved), out, out))
			if b.function != "Text" && b.function != "judge" { // of which one is lost
				for _, scenario := range saved {
					assert.Contains(t, shown.String(), scenario)
				}
			}
			if b.nth < 30 {
				assert.FileExists(t, filepath.Join(out, suiteFile))
			}
		})
	}
}

// savedWhole are the scenarios of the runs that were saved: each to its end, and but for so many with a page.
func savedWhole(t *testing.T, out string, lost int) (scenarios []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(out, "2*"))
	require.NoError(t, err)
	for _, dir := range all {
		run, err := record.Read(dir)
		require.NoError(t, err)
		assert.Empty(t, run.Truncated, dir)
		scenarios = append(scenarios, run.Header.Scenario.Name)
		if _, err := os.Stat(filepath.Join(dir, observe.ReportFile)); err != nil {
			lost--
		}
	}
	assert.GreaterOrEqual(t, lost, 0, "runs without a page")
	hidden, err := filepath.Glob(filepath.Join(out, "*", ".new-*"))
	require.NoError(t, err)
	assert.Empty(t, hidden)
	return scenarios
}
