package main

import (
	"bytes"
	"fmt"
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

// TestCommandsThatDoNotWorkYet are refused with one line, a hint and exit code 2, whatever else is on their command line, and before
// anything starts. The others are not.
func TestCommandsThatDoNotWorkYet(t *testing.T) {
	refused := map[string][]string{
		"attach": {"4"},
		"runs":   nil,
		"shrink": {"storm"},
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

// TestExploreOnWindows: nothing is found on exact. On naive something is, the scenario that it is kept as shows it again, and no process is
// left of all that.
func TestExploreOnWindows(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out := commanded("explore --host exact --runs 2 --seed 8 --jobs 2 --out exact")
	assert.Equal(t, 0, code, out)
	assert.Contains(t, out, "clean 2, inconclusive 0, with findings 0")
	code, out = commanded("explore --host naive --runs 1 --seed 20 --settle 500ms --confirm 100ms --shrink 0 --corpus kept --out naive")
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "✗ L1 superseded (new)")
	kept, err := filepath.Glob("kept/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, kept)
	code, out = commanded("run " + strings.Join(kept, " ") + " --host naive --jobs 2 --settle 500ms --confirm 100ms")
	assert.Equal(t, 1, code, out)
	assert.Contains(t, out, "L1 superseded")
	self := filepath.Base(os.Args[0])
	assert.Eventually(t, func() bool { return running(t, self) == 1 }, 20*time.Second, 10*time.Millisecond, "only the test itself runs")
}

// TestInitOnWindows: a command line with backslashes, blanks and quotes becomes a host file that is tried and played. The program's path
// and the folder have letters beyond ASCII.
func TestInitOnWindows(t *testing.T) {
	t.Chdir(t.TempDir())
	program := filepath.Join("mein Größe", "host λ.exe")
	require.NoError(t, os.MkdirAll(filepath.Dir(program), 0o700))
	copyOf(t, program)
	var out, complained bytes.Buffer
	a := &app{out: &out, err: &complained}
	root := a.root()
	root.SetIn(strings.NewReader(`"` + `.\` + program + `" host exact` + "\r\ndriver\r\n"))
	require.Equal(t, 0, a.execute(root, []string{"init", `.\mein Größe\host.yaml`}), "%s%s", &out, &complained)
	assert.Contains(t, out.String(), "shook hands with 2 of them")
	text, err := os.ReadFile("leakbench.yaml")
	require.NoError(t, err)
	assert.Contains(t, string(text), `host: "./mein Größe/host.yaml"`, "on other systems it is the same")
	code, said := commanded("run sharing")
	assert.Equal(t, 0, code, said)
}

func commanded(line string) (int, string) {
	var out bytes.Buffer
	code := execute(strings.Fields(line), &out, &out)
	return code, out.String()
}

// TestLabOnWindows: a client of the published Python SDK in somebody's own test, beside leakbench lab.
func TestLabOnWindows(t *testing.T) {
	python, err := exec.LookPath("python")
	if err != nil {
		require.NotEqual(t, "all", os.Getenv("LEAKBENCH_REQUIRE"), "python is not in PATH")
		t.Skip("python is not in PATH")
	}
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), python, filepath.Join(root, "testdata", "windows", "lab.py"), t.TempDir())
	library := filepath.Join(root, "integrations", "python") + ";" + filepath.Join(root, "examples", "python")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+library, "LEAKBENCH_BINARY="+self)
	cmd.WaitDelay = time.Second
	var complained bytes.Buffer
	cmd.Stderr = &complained
	out, err := cmd.Output()
	require.NoError(t, err, "%s", &complained)
	said := strings.ReplaceAll(string(out), "\r\n", "\n")
	assert.Equal(t, "fixed: clean\nleaking: leak True\nchildren: True True\ndeaf: leak True True\nleft: []\n", said)
}

// TestHostsInstallOnWindows: without a package manager it says what brings one, and makes nothing.
func TestHostsInstallOnWindows(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hosts")
	t.Setenv("LEAKBENCH_HOSTS_DIR", folder)
	t.Setenv("PATH", t.TempDir())
	code, out := commanded("hosts install typescript-sdk")
	assert.Equal(t, 4, code)
	assert.Contains(t, out, "node 20 or newer, with npm is needed, and not there\nhint: winget install OpenJS.NodeJS.LTS")
	code, out = commanded("bisect storm --host python-sdk --good 2.1.0 --bad 2.3.0")
	assert.Equal(t, 4, code)
	assert.Contains(t, out, "pip lists no versions of mcp")
	assert.NoDirExists(t, folder)
}

// TestChecksThatNeedSignals are left out, and refused where they are named.
func TestChecksThatNeedSignals(t *testing.T) {
	t.Parallel()
	all, err := checksOf(nil)
	require.NoError(t, err)
	assert.Len(t, all, 5)
	for _, name := range []string{"sigterm", "server-shell"} {
		_, err := checksOf([]string{"eof", name})
		assert.ErrorContains(t, err, "--only "+name+": the check needs SIGTERM")
	}
}
