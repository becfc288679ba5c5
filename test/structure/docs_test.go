package structure_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/law"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject"
	"github.com/leakbench/leakbench/internal/subject/catalogue"
	"github.com/leakbench/leakbench/scenarios"
)

var update = flag.Bool("update", false, "write the generated pages anew")

// failureModes are what went wrong, one after the other, in the host of the
// first reports, as its issues and pull requests tell it.
var failureModes = []struct{ id, says string }{
	{"F1", "initialize hangs and discovery is retried: processes and descriptors grow with each retry"},
	{"F2", "the server writes something that is not MCP during the handshake, and discovery is retried"},
	{"F3", "several connects run at once: the last one is recorded, and the servers of the others are lost"},
	{"F4", "a shutdown or a reload runs during a connect: the connecting server is in no table yet"},
	{"F5", "the end of a probe kills or strands sessions in use"},
	{"F6", "a sweep kills the servers of other jobs"},
	{"F7", "a teardown only marks servers, and nothing on that path ends the marked ones"},
	{"F8", "the grace period of the supervisor is longer than that of the client: a server that ignores signals survives"},
	{"F9", "a wrapper starts the server in a session of its own: a signal to the known group misses it"},
	{"F10", "a helper outlives its server: in its group, in a session of its own, or because it holds its stdout"},
	{"F11", "the process group is looked up after its leader has exited"},
	{"F12", "a snapshot of PIDs misses the children of the thread that spawned them"},
	{"F13", "a snapshot of PIDs includes a server of another session, or a stranger"},
	{"F14", "a signal goes to a PID or a process group that another process has by now"},
	{"F15", "the host signals its own process group"},
	{"F16", "servers are killed and never reaped: zombies, for which kill(pid, 0) still succeeds"},
	{"F17", "a wait for any child consumes the exit status that another part of the host waits for"},
	{"F18", "the host is killed: a server that ignores stdin EOF stays"},
	{"F19", "a server completes the handshake and exits, again and again: launches have no limit"},
	{"F20", "every second launch fails: the reconnect backoff"},
	{"F21", "a server is never restarted, or grows: the count is flat and the memory is not"},
	{"F22", "the host itself is busy, or grows, on an error path"},
	{"F23", "several processes of a host launch the same servers"},
	{"F24", "a server has a session of its own, and a service manager empties its cgroup"},
}

// unplayed says why no scenario reproduces a report, or a failure mode.
var unplayed = map[string]string{
	"R040": "none: Windows, and the thread names no cause",
	"R041": "none: it needs a controlling terminal. The kind `stopped` covers the server",
	"R108": "none: two clients share a server, and the sessions of a driver do not. The kind `cut-off` covers the result",
	"R118": "none: Windows. A host that leaves pipe ends to other processes, and only closes its own, is the kind `eof-withheld`",
	"F11":  "none of its own: `helpers` finds what it leaves",
	"F17":  "none of its own: `zombies` finds what it leaves",
	"F22":  "none of its own: memory is judged in every scenario that repeats something (L6), processor time of the host is not",
	"F23":  "none: a host is one tree of processes",
	"F24":  "none: it is about the service manager. The bench finds what left its session by ancestry and by its own cgroup",
}

// TestFieldReportsPage holds docs/evidence/field-reports.md to what the scenarios name.
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
	b.WriteString("# Field reports\n\n<!-- Written by go test ./test/structure -run TestFieldReportsPage -update. Do not edit. -->\n\n")
	b.WriteString("Scenarios and findings name these ids. `R...` is a public thread about a stdio server that was lost or killed. `F...` is a failure\n")
	b.WriteString("mode of Hermes agent, the host of the first reports. The last column names the scenarios that reproduce it, or says why none does.\n\n")
	b.WriteString("| id | thread | scenarios |\n|---|---|---|\n")
	for i := 1; i <= 999; i++ {
		id := fmt.Sprintf("R%03d", i)
		thread := law.Thread(id)
		if thread == "" {
			assert.Empty(t, by[id], "%s is no report", id)
			continue
		}
		repo, number, _ := strings.Cut(thread, "#")
		fmt.Fprintf(&b, "| %s | [%s](https://github.com/%s/issues/%s) | %s |\n", id, thread, repo, number, scenariosOf(t, by, id))
		delete(by, id)
	}
	b.WriteString("\n| id | failure mode | scenarios |\n|---|---|---|\n")
	for _, f := range failureModes {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", f.id, f.says, scenariosOf(t, by, f.id))
		delete(by, f.id)
	}
	assert.Empty(t, by, "ids that no table explains")
	const page = "docs/evidence/field-reports.md"
	if *update {
		require.NoError(t, os.WriteFile(page, []byte(b.String()), 0o644))
	}
	got, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Equal(t, b.String(), string(got), "stale: go test ./test/structure -run TestFieldReportsPage -update")
}

// scenariosOf are the scenarios that name an id, or the reason why none does.
func scenariosOf(t *testing.T, by map[string][]string, id string) string {
	t.Helper()
	why, names := unplayed[id], by[id]
	assert.NotEqual(t, why == "", len(names) == 0, "%s: either scenarios (%v) or the reason for none (%q)", id, names, why)
	if why != "" {
		return why
	}
	return strings.Join(names, " ")
}

// TestTrackRecordIsTheMatrix holds the table of docs/evidence/track-record.md to what the tests run.
func TestTrackRecordIsTheMatrix(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/evidence/track-record.md")
	require.NoError(t, err)
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|[^|]*\\|(.*)\\|$")
	seen := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		scenario := m[1]
		seen[scenario] = true
		cells := strings.Split(m[2], "|")
		require.Len(t, cells, len(catalogue.Columns), "the track record's table, %s: it has the columns %v", scenario, catalogue.Columns)
		for i, name := range catalogue.Columns {
			want, known := catalogue.Breaks(scenario, name)
			assert.True(t, known, "the catalogue's matrix lacks %s", scenario)
			if want == "" {
				want = "clean"
			}
			assert.Equal(t, want, strings.TrimSpace(cells[i]), "%s on %s", scenario, name)
		}
	}
	for _, name := range scenarios.Names() {
		assert.True(t, seen[name], "the track record's table lacks %s", name)
	}
	for _, s := range subject.Builtin("") {
		if s.Name == "go-sdk" {
			continue // its cells are in hosts/expected.yaml, with those of the other SDKs
		}
		assert.True(t, slices.Contains(catalogue.Columns, s.Name), "the track record's table lacks %s", s.Name)
	}
}

// TestTheLawsAreNamed holds what the pages say of the laws to the catalogue: the list of README, the range in docs/understand/faq.md, and
// the series of docs/understand/trust.md, which has so many runs of a law as mutants break it.
func TestTheLawsAreNamed(t *testing.T) {
	t.Parallel()
	page := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	readme := page("README.md")
	var named, want, warnings []string
	for _, m := range regexp.MustCompile(`(L\d+)\s\*([^*]+)\*`).FindAllStringSubmatch(readme, -1) {
		named = append(named, m[1]+" "+m[2])
	}
	for _, l := range law.All() {
		want = append(want, l.ID+" "+l.Name)
		if l.Severity == record.SeverityWarning {
			warnings = append(warnings, l.ID)
		}
	}
	assert.Equal(t, want, named, "README's list of laws")
	last := len(warnings) - 1
	assert.Contains(t, readme, "A finding of "+strings.Join(warnings[:last], ", ")+" or "+warnings[last]+" is a warning.")

	ids := law.IDs()
	span := regexp.MustCompile(`(?m)^\| law \|.* (L\d+ to L\d+) \|$`).FindStringSubmatch(page("docs/understand/faq.md"))
	require.Len(t, span, 2, "docs/understand/faq.md: the row of law")
	assert.Equal(t, ids[0]+" to "+ids[len(ids)-1], span[1], "docs/understand/faq.md: the range of laws")

	trust := page("docs/understand/trust.md")
	loop := regexp.MustCompile(`for law in ([L0-9 ]+); do leakbench selftest`).FindStringSubmatch(trust)
	require.Len(t, loop, 2, "docs/understand/trust.md: the loop over the laws")
	assert.Equal(t, strings.Join(ids, " "), loop[1], "docs/understand/trust.md: the loop over the laws")
	shown := map[string]int{}
	for _, m := range catalogue.Mutants {
		for _, f := range m.Shows {
			shown[f.Law]++
		}
	}
	played := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| (L\d+(?:, L\d+)*) \| (\d+)(?: each)? \| \d+ \|`).FindAllStringSubmatch(trust, -1) {
		for _, id := range strings.Split(m[1], ", ") {
			played[id], _ = strconv.Atoi(m[2])
		}
	}
	assert.Equal(t, shown, played, "docs/understand/trust.md: mutants of each law that were played")
}

// linkTo is a relative link of a page: its file, and its place in that.
var linkTo = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

// linksOf are the files that a page has relative links to.
func linksOf(t *testing.T, page string) (files []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	for _, m := range linkTo.FindAllStringSubmatch(string(text), -1) {
		files = append(files, filepath.Join(filepath.Dir(page), m[1]))
	}
	return files
}

// pagesBelow are the files of a folder that are pages.
func pagesBelow(t *testing.T, dir string) (pages []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	}))
	return pages
}

// TestLinksLeadSomewhere follows each relative link of the pages.
func TestLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("*.md")
	require.NoError(t, err)
	for _, page := range append(pages, pagesBelow(t, "docs")...) {
		for _, file := range linksOf(t, page) {
			_, err := os.Stat(file)
			assert.NoError(t, err, "linked from %s", page)
		}
	}
}

// TestEachPageIsNear: from the index of docs, no page is more than two clicks away. A schema is one click away.
func TestEachPageIsNear(t *testing.T) {
	t.Parallel()
	index := filepath.Join("docs", "README.md")
	first := linksOf(t, index)
	near := append([]string{index}, first...)
	for _, page := range first {
		if filepath.Ext(page) == ".md" {
			near = append(near, linksOf(t, page)...)
		}
	}
	for _, page := range pagesBelow(t, "docs") {
		assert.Contains(t, near, page)
	}
	schemas, err := filepath.Glob("docs/schema/*")
	require.NoError(t, err)
	require.NotEmpty(t, schemas)
	for _, schema := range schemas {
		assert.Contains(t, first, filepath.FromSlash(schema))
	}
}
