package verdict

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

const codesFile = "testdata/codes.txt"

// The file holds what scripts and lists of known findings go by: kinds,
// fingerprints, the codes of doubts, and the outcome, which the exit code
// follows from. It only ever grows.
var update = flag.Bool("update", false, "write the files of testdata anew")

func TestCodesAreFrozen(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	line := func(name string, run *record.Run) {
		v := Judge(run)
		fmt.Fprintf(&b, "%s: %s %v\n", name, v.Outcome, codesIn(v))
		for _, f := range v.Findings {
			fmt.Fprintf(&b, "  %s %s %q %s %s x%d\n", f.Law, f.Kind, f.Label, f.Severity, f.Fingerprint, f.Count)
		}
	}
	for _, c := range allCases() {
		line(c.kind, c.show(newPlay()))
		line(c.kind+", near", c.near(withCrowd()))
	}
	for _, c := range doubtCases {
		line("doubt "+string(c.code), c.show(newPlay()))
	}
	files, err := filepath.Glob("../../../testdata/runs/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	servers, err := filepath.Glob("../server/testdata/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, servers)
	files = append(files, servers...)
	for _, file := range files {
		run, err := record.Read(file)
		require.NoError(t, err)
		line(filepath.Base(file), run)
	}
	if *update {
		require.NoError(t, os.WriteFile(codesFile, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(codesFile)
	require.NoError(t, err)
	assert.Equal(t, string(want), b.String())
}

// Any sentence may be reworded: with each of them changed, the codes are those
// of before.
func TestSentencesAreNotCodes(t *testing.T) {
	if testing.Short() {
		t.Skip("the package is built again")
	}
	t.Parallel()
	replace, reworded := map[string]string{}, 0
	dir := t.TempDir()
	for _, pattern := range proseIn {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			from, err := filepath.Abs(file)
			require.NoError(t, err)
			to := filepath.Join(dir, fmt.Sprintf("%d%s", len(replace), filepath.Ext(file)))
			if filepath.Ext(file) == ".toml" {
				reworded += rewordData(t, from, to)
			} else {
				reworded += reword(t, from, to)
			}
			replace[from] = to
		}
	}
	require.Greater(t, reworded, 400)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	out, err := exec.CommandContext(t.Context(), "go", "test", "-overlay", file, "-count=1", "-v", "-run", "^(TestCodesAreFrozen|TestAccounts)$", ".").CombinedOutput()
	require.Error(t, err, "the sentences are others, so what a reader sees is another")
	assert.Contains(t, string(out), "--- PASS: TestCodesAreFrozen", "%s", out)
	assert.Contains(t, string(out), "--- FAIL: TestAccounts", "%s", out)
}

// proseIn are the files that hold what people read.
var proseIn = []string{"*.go", "../doubts/*.go", "../law/*.go", "../law/texts/*.toml", "../prose/*.go", "../server/*.go"}

// reword writes a file anew in which each string with words in it is another.
// Constants with a type are codes.
func reword(t *testing.T, from, to string) (n int) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, from, nil, parser.ParseComments) // go:embed is one
	require.NoError(t, err)
	tags := map[*ast.BasicLit]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Field:
			tags[node.Tag] = true
		case *ast.ValueSpec:
			return node.Type == nil
		case *ast.BasicLit:
			text, err := strconv.Unquote(node.Value)
			if err == nil && !tags[node] && node.Kind == token.STRING && len(strings.Fields(text)) > 1 {
				node.Value = strconv.Quote("In other words, " + text)
				n++
			}
		}
		return true
	})
	f, err := os.Create(to)
	require.NoError(t, err)
	require.NoError(t, format.Node(f, fset, file))
	require.NoError(t, f.Close())
	return n
}

// said begins a text of the catalogue. The other keys have codes and names.
var said = regexp.MustCompile(`(?m)^(says|why|signature|fix|windows|means|do|text|narrative|title|headline|expected|found|value) = ("""\n|")`)

// rewordData writes a file of texts anew in which each text is another.
func rewordData(t *testing.T, from, to string) int {
	t.Helper()
	src, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, said.ReplaceAll(src, []byte("${0}In other words, ")), 0o600))
	return len(said.FindAll(src, -1))
}

// TestPrintUnderAnotherLabel: the same cause has one fingerprint for each label, and a finding about no server has one for all.
func TestPrintUnderAnotherLabel(t *testing.T) {
	t.Parallel()
	labels := 0
	for _, c := range allCases() {
		for _, f := range Judge(c.show(newPlay())).Findings {
			assert.Equal(t, f.Fingerprint, f.PrintOf(f.Label), c.kind)
			if f.Label == "" {
				assert.Equal(t, f.Fingerprint, f.PrintOf("other"), c.kind)
				continue
			}
			labels++
			assert.NotEqual(t, f.Fingerprint, f.PrintOf("other"), c.kind)
			again := f
			again.Label = "renamed"
			assert.Equal(t, f.PrintOf("other"), again.PrintOf("other"), c.kind)
		}
	}
	assert.Positive(t, labels)
}
