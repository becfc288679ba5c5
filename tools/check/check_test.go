package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestEachGroupHasItsTests: a group of tests has some, and a test names no group that is not there.
func TestEachGroupHasItsTests(t *testing.T) {
	t.Parallel()
	ofTests := map[string]bool{}
	all, err := allTests(root)
	require.NoError(t, err)
	for _, g := range groups {
		ofTests[g.name] = g.tests
		if g.tests {
			_, err := testsOf(all, g.name)
			require.NoError(t, err)
		}
	}
	for _, test := range all {
		for _, name := range test.groups {
			isGroup := name != "Only" && name != "Plays" && name != "Played"
			assert.True(t, !isGroup || test.dir == "internal/tier" || ofTests[strings.ToLower(name)], "%s/%s names %s", test.dir, test.name, name)
		}
	}
}

// TestSystemsAreVetted: the group lint compiles and vets for each system that has a process table of its own.
func TestSystemsAreVetted(t *testing.T) {
	t.Parallel()
	var tables []string
	for _, pattern := range []string{"internal/proc/table_*.go", "internal/proc/portable/list_*.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		tables = append(tables, files...)
	}
	lint := strings.Join(groups[slices.IndexFunc(groups, func(g group) bool { return g.name == "lint" })].steps, "\n")
	for _, file := range tables {
		_, system, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".go"), "_")
		if here := []string{"linux", "other", "test"}; !slices.Contains(here, system) && !strings.HasSuffix(system, "_test") {
			assert.Contains(t, lint, "GOOS="+system+" ", "the group lint does not vet for %s", system)
		}
	}
}

// TestHelpersNameNoGroup: what a helper names, testsOf does not find.
func TestHelpersNameNoGroup(t *testing.T) {
	t.Parallel()
	require.NoError(t, filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") || strings.Contains(path, "internal/tier/") {
			return err
		}
		text, err := os.ReadFile(path)
		inHelper := false
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "func ") {
				inHelper = !strings.HasPrefix(line, "func Test")
			}
			if inHelper && strings.Contains(line, "tier.Only(") {
				t.Errorf("%s: a helper names the group; name it in the test: %s", path, strings.TrimSpace(line))
			}
		}
		return err
	}))
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"--list", 0, "published"},
		{"--list --only wine", 0, "without root"},
		{"--only nosuch", 2, `no group "nosuch"`},
		{"--compare", 2, "takes the folders"},
		{"somewhere", 2, "takes the folders"},
		{"--update", 2, "goes with --compare"},
		{"--compare /nowhere", 2, "no cells in /nowhere"},
	} {
		var out bytes.Buffer
		assert.Equal(t, c.code, run(t.Context(), strings.Fields(c.args), &out, &out), c.args)
		assert.Contains(t, out.String(), c.says, c.args)
	}
}

// played writes cells as the tests do.
func played(t *testing.T, cells ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i, cell := range cells {
		file := filepath.Join(dir, "cells-"+string(rune('a'+i))+".tsv")
		require.NoError(t, os.WriteFile(file, []byte(strings.ReplaceAll(cell, " ", "\t")+"\n"), 0o600))
	}
	return dir
}

// TestALostCellIsRed: also one that has another name, and one that no list has.
func TestALostCellIsRed(t *testing.T) {
	t.Parallel()
	list := filepath.Join(t.TempDir(), "list.tsv")
	require.NoError(t, os.WriteFile(list, []byte("linux\texact\tstorm\tclean\nlinux\tnaive\tstorm\tL1\nwindows\texact\tstorm\tclean\n"), 0o600))
	all := []string{"linux exact storm clean", "linux naive storm L1", "windows exact storm clean"}
	for _, c := range []struct {
		about   string
		cells   []string
		lacking []string
		code    int
		says    string
	}{
		{"all", all, nil, exitOK, "all 3 of the list were played"},
		{"one is missing", all[1:], nil, exitRed, "1 cell of the list, not played:\n  linux | exact | storm | clean"},
		{"another verdict", append([]string{"linux exact storm L1"}, all[1:]...), nil, exitRed, "linux | exact | storm | L1"},
		{"one is new", append([]string{"linux late storm L1"}, all...), nil, exitRed, "1 cell played, not in the list"},
		{"no Wine", all[:2], []string{"wine"}, exitOK, "all 2 of the list were played"},
		{"Wine lost one", all[:2], []string{"kernels"}, exitRed, "windows | exact"},
	} {
		var out bytes.Buffer
		code, err := compareCells(&out, list, []string{played(t, c.cells...)}, c.lacking, false)
		require.NoError(t, err, c.about)
		assert.Equal(t, c.code, code, c.about)
		assert.Contains(t, out.String(), c.says, c.about)
	}
	code, err := compareCells(&bytes.Buffer{}, list, []string{played(t, "linux late storm L1")}, nil, true)
	require.NoError(t, err)
	assert.Equal(t, exitRed, code, "to add one is not to find the others")
	text, err := os.ReadFile(list)
	require.NoError(t, err)
	assert.Contains(t, string(text), "linux\tlate\tstorm\tL1\n")
	_, err = compareCells(&bytes.Buffer{}, list, []string{played(t, "linux exact storm")}, nil, false)
	assert.ErrorContains(t, err, "cells-a.tsv:1: a cell is")
}

// TestGroupsAreJudged plays small groups for real.
func TestGroupsAreJudged(t *testing.T) {
	t.Parallel()
	never := func(string) string { return "no such machine" }
	var out bytes.Buffer
	b := &bench{root: t.TempDir(), work: t.TempDir(), out: &out}
	b.cells = b.work
	results := b.playAll(t.Context(), []group{
		{name: "green", steps: []string{"echo fine", "true"}},
		{name: "red", steps: []string{"echo about to fail; false", "echo not reached"}},
		{name: "unprepared", prepare: []string{"exit 3"}, steps: []string{"true"}, timed: true},
		{name: "piped", steps: []string{"false | true"}},
		{name: "lacking", steps: []string{"false"}, lacks: never},
		{name: "allowed", steps: []string{"false"}, lacks: never, lackedBy: "any machine"},
		{name: "timed", steps: []string{`[ -n "$LEAKBENCH_CELLS" ] && [ "$MORE" = 1 ]`}, env: []string{"MORE=1"}, timed: true},
	})
	red := map[bool][]string{}
	for _, r := range results {
		for _, all := range []bool{false, true} {
			if r.red(all) {
				red[all] = append(red[all], r.group.name)
			}
		}
	}
	assert.Equal(t, []string{"red", "unprepared", "piped"}, red[false])
	assert.Equal(t, []string{"red", "unprepared", "piped", "lacking"}, red[true])
	assert.Contains(t, out.String(), "FAIL  red")
	assert.Contains(t, out.String(), "skip  allowed")
	var said bytes.Buffer
	results[1].explain(&said)
	assert.Contains(t, said.String(), "about to fail")
	assert.NotContains(t, said.String(), "not reached\n")
}

// TestStoppedGroupsAreRed: what was not played is not ok, and what was under way has ended with all that it started.
func TestStoppedGroupsAreRed(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	b := &bench{root: t.TempDir(), work: t.TempDir(), out: &out, grace: 100 * time.Millisecond}
	begun := filepath.Join(b.work, "begun")
	go func() {
		defer stop()
		assert.Eventually(t, func() bool { _, err := os.Stat(begun); return err == nil }, 20*time.Second, 5*time.Millisecond)
	}()
	results := b.playAll(ctx, []group{
		{name: "under-way", steps: []string{"trap '' TERM; sleep 300 & echo $! >pid; echo >" + begun + "; wait"}},
		{name: "waiting", steps: []string{"true"}, timed: true},
	})
	for _, r := range results {
		assert.True(t, r.red(false), r.group.name)
	}
	assert.NotContains(t, out.String(), "ok")
	pid, err := os.ReadFile(filepath.Join(b.root, "pid"))
	require.NoError(t, err)
	assert.Eventually(t, func() bool {
		return exec.Command("bash", "-c", "kill -0 "+string(pid)).Run() != nil
	}, 20*time.Second, 5*time.Millisecond, "a process is left")
}

// TestWorkflowsPlayEachGroup: the groups that CI plays are listed by hand there.
func TestWorkflowsPlayEachGroup(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "ci.yml"))
	require.NoError(t, err)
	night, err := os.ReadFile(filepath.Join(root, ".github", "workflows", "nightly.yml"))
	require.NoError(t, err)
	byDefault, err := choose(groups, "", false)
	require.NoError(t, err)
	for _, g := range groups {
		assert.Equal(t, !g.nightly, slices.ContainsFunc(byDefault, func(o group) bool { return o.name == g.name }))
		if g.nightly {
			assert.Contains(t, string(night), "tools/check --only "+g.name+"\n")
		} else if g.name != "kernels" { // it takes hours: nightly
			assert.Regexp(t, `(group: \[|, |--only )`+g.name+`[],\n]`, string(text))
		}
	}
}

// TestCounts: what a test says is passed on where it fails.
func TestCounts(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &counter{to: &out}
	for _, line := range []string{
		`{"Action":"run","Package":"p","Test":"TestA"}`,
		`{"Action":"output","Package":"p","Test":"TestA","Output":"a says\n"}`,
		`{"Action":"output","Package":"p","Test":"TestB","Output":"b says\n"}`,
		`{"Action":"pass","Package":"p","Test":"TestA"}`,
		`{"Action":"fail","Package":"p","Test":"TestB"}`,
		`{"Action":"skip","Package":"p","Test":"TestC"}`,
		`{"Action":"run","Package":"p","Test":"TestD"}`,
		`{"Action":"output","Package":"p","Test":"TestD","Output":"d hangs\n"}`,
		`{"Action":"skip","Package":"p","Test":"TestE/one"}`,
		`{"Action":"pass","Package":"p","Test":"TestE"}`,
		`{"Action":"output","Package":"p","Output":"FAIL p\n"}`,
		`{"Action":"fail","Package":"p"}`,
		`no JSON`,
	} {
		for _, part := range []string{line[:5], line[5:], "\n"} {
			_, err := c.Write([]byte(part))
			require.NoError(t, err)
		}
	}
	c.Close()
	assert.Equal(t, counts{1, 2, 1}, c.counts)
	assert.Empty(t, c.again(), "one of them hangs")
	assert.Equal(t, "1 test, 2 skipped, 1 failed", c.counts.String())
	assert.Equal(t, "b says\nFAIL p\nd hangs\nno JSON\n", out.String())
}
