package leakbench_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/host"
	"github.com/leakbench/leakbench/internal/verdict"
	"github.com/leakbench/leakbench/scenarios"
)

var update = flag.Bool("update", false, "write the generated pages anew")

// failureModes are what went wrong, one after the other, in the host of the
// first reports, as its issues and pull requests tell it.
var failureModes = []struct{ id, says string }{
	{"F1", "initialize hangs, discovery is retried: processes and descriptors grow in a straight line"},
	{"F3", "several connects at once: the last writer wins, the others' servers are nobody's"},
	{"F6", "a sweep that takes too much kills the servers of siblings"},
	{"F7", "a teardown that only marks, and no sweeper on that path"},
	{"F8", "the supervisor's grace is longer than the client's: a stubborn server survives"},
	{"F12", "a snapshot of pids that does not see the thread which spawned"},
	{"F13", "a snapshot of pids that takes another server's, or a stranger's, for its own"},
	{"F14", "a pid, or the number of a group, that somebody else has by now is signalled"},
	{"F16", "killed and never waited for: zombies, which kill(pid, 0) calls alive"},
	{"F18", "the host is killed: a server that ignores the end of its stdin stays"},
	{"F19", "a flapper shakes hands and drops: spawns without a budget"},
	{"F20", "every second launch fails: the reconnect ladder"},
	{"F21", "a server that is never recycled, or grows: the count is flat and the memory is not"},
}

// TestFieldReportsPage holds docs/field-reports.md to what the scenarios name.
func TestFieldReportsPage(t *testing.T) {
	t.Parallel()
	by := map[string][]string{}
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		for _, id := range s.Reports {
			by[id] = append(by[id], "`"+name+"`")
		}
	}
	var b strings.Builder
	b.WriteString("# Field reports\n\n<!-- Written by go test -run TestFieldReportsPage . -update. Do not edit. -->\n\n")
	b.WriteString("What the ids in scenarios and findings stand for. `R...` are public threads in which somebody lost a stdio server, or had one killed;\n")
	b.WriteString("`F...` are failure modes of the host of the first reports. The last column names the scenarios that reproduce it.\n\n")
	b.WriteString("| id | thread | scenarios |\n|---|---|---|\n")
	for i := 1; i <= 999; i++ {
		id := fmt.Sprintf("R%03d", i)
		thread := verdict.Thread(id)
		if thread == "" {
			assert.Empty(t, by[id], "%s is no report", id)
			continue
		}
		repo, number, _ := strings.Cut(thread, "#")
		fmt.Fprintf(&b, "| %s | [%s](https://github.com/%s/issues/%s) | %s |\n", id, thread, repo, number, strings.Join(by[id], " "))
		delete(by, id)
	}
	b.WriteString("\n| id | failure mode | scenarios |\n|---|---|---|\n")
	for _, f := range failureModes {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.id, f.says, strings.Join(by[f.id], " "))
		delete(by, f.id)
	}
	assert.Empty(t, by, "ids that no table explains")
	const page = "docs/field-reports.md"
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(got), "stale: go test -run TestFieldReportsPage . -update")
}

// TestTrackRecordIsTheMatrix holds the README's table to what the tests run.
func TestTrackRecordIsTheMatrix(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|[^|]*\\|(.*)\\|$")
	seen := map[string]bool{}
	hosts := []string{"exact", "naive", "reap-all", "orphan-set", "thread-blind", "mcp-go"}
	for _, m := range row.FindAllStringSubmatch(string(readme), -1) {
		scenario := m[1]
		seen[scenario] = true
		cells := strings.Split(m[2], "|")
		require.Len(t, cells, len(hosts), scenario)
		for i, name := range hosts {
			want := matrix[scenario][name]
			if name == "mcp-go" {
				want = published[scenario]
			}
			if want == "" {
				want = "clean"
			}
			assert.Equal(t, want, strings.TrimSpace(cells[i]), "%s on %s", scenario, name)
		}
	}
	for _, name := range scenarios.Names() {
		assert.True(t, seen[name], "the README's table lacks %s", name)
	}
	for _, s := range host.Builtin("") {
		if s.Name == "go-sdk" {
			continue // its cells are in hosts/expected.yaml, with those of the other SDKs
		}
		assert.True(t, slices.Contains(hosts, s.Name), "the README's table lacks %s", s.Name)
	}
}

// TestLinksLeadSomewhere follows each relative link of the pages.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("*.md")
	require.NoError(t, err)
	more, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	findings, err := filepath.Glob("docs/findings/*.md")
	require.NoError(t, err)
	more = append(more, findings...)
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	for _, page := range append(pages, more...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), m[1]))
			assert.NoError(t, err, "linked from %s", page)
		}
	}
}
