package structure_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/play"
	"github.com/leakbench/leakbench/internal/tier"
)

// recipe is a file of testdata/recipes: what CONTRIBUTING says, done once for
// real. Lines before the first file are "limit: N", "test: COMMAND",
// "write: COMMAND | MESSAGE" and comments.
type recipe struct {
	name  string
	limit int      // of files that are neither tests, nor documentation, nor generated
	tests []string // commands that pass when no step was forgotten
	steps []step
}

// step is a change to a file, or a command that writes one.
type step struct {
	file, command string
	// text is a whole new file, or edits of one that is there: lines that begin
	// with a space or "-" are found in it, those with a space or "+" are left.
	// "@@" begins another edit, and "~ REGEXP => REPLACEMENT" is one for each line.
	text string
	// forgotten is what a test says of the place where the step should have been.
	forgotten string
}

func (s step) String() string { return strings.ReplaceAll(s.file+s.command, "/", "-") }

// counts says that the step is for people to do in the program itself.
func (s step) counts() bool {
	return s.command == "" && !strings.HasSuffix(s.file, "_test.go") && !strings.HasSuffix(s.file, ".md")
}

func readRecipe(t *testing.T, file string) recipe {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	require.NoError(t, err)
	r := recipe{name: strings.TrimSuffix(filepath.Base(file), ".txtar")}
	for _, f := range archive.Files {
		first, rest, _ := strings.Cut(string(f.Data), "\n")
		forgotten, ok := strings.CutPrefix(first, "forgotten: ")
		require.True(t, ok, "%s: %s does not begin with what a test says when it is forgotten", file, f.Name)
		rest = strings.ReplaceAll(rest, "\n> -- ", "\n-- ") // in a file that is an archive itself
		r.steps = append(r.steps, step{file: f.Name, text: rest, forgotten: forgotten})
	}
	for line := range strings.Lines(string(archive.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "limit":
			_, err := fmt.Sscan(value, &r.limit)
			require.NoError(t, err)
		case "test":
			r.tests = append(r.tests, value)
		case "write":
			command, forgotten, ok := strings.Cut(value, " | ")
			require.True(t, ok, line)
			r.steps = append(r.steps, step{command: command, forgotten: forgotten})
		}
	}
	return r
}

// kitchens are for the recipes that are followed at a time: each compiles.
var kitchens = make(chan struct{}, play.Processors())

// TestRecipes follows each recipe of CONTRIBUTING in a copy of the source. With
// LEAKBENCH_RECIPES=1 it also leaves out each step in turn: a test must then
// fail that names what is missing.
func TestRecipes(t *testing.T) {
	t.Parallel()
	tier.Only(t, tier.Recipes)
	files, err := filepath.Glob("testdata/recipes/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	thorough := os.Getenv("LEAKBENCH_RECIPES") != ""
	for _, file := range files {
		r := readRecipe(t, file)
		counted := map[string]bool{}
		for _, s := range r.steps {
			if s.counts() {
				counted[s.file] = true
			}
		}
		assert.LessOrEqual(t, len(counted), r.limit, "%s touches %v", r.name, counted)
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			failed, out := r.follow(t, nil)
			assert.False(t, failed, "%s", out)
		})
		for i := range r.steps {
			s := &r.steps[i]
			t.Run(r.name+"/without/"+s.String(), func(t *testing.T) {
				t.Parallel()
				if !thorough {
					t.Skip("LEAKBENCH_RECIPES is not set")
				}
				failed, out := r.follow(t, s)
				assert.True(t, failed, "no test fails")
				assert.Contains(t, out, s.forgotten, "no test names what is missing")
				for line := range strings.Lines(out) {
					if strings.Contains(line, s.forgotten) {
						t.Logf("%s", strings.TrimSpace(line))
						break
					}
				}
			})
		}
	}
}

// structure is the command that holds a copy to the shape of the house: what a recipe adds must fit in, too. It is for the recipes
// that are followed whole, since a forgotten step has a test of its own to say so.
const structure = "go test -count=1 -run ^(TestSizes|TestArrowsRunOneWay|TestExportsHaveUsers|TestMethodsAndValuesHaveUsers|" +
	"TestPackagesHaveTests|TestArchitectureNamesEveryRoom|TestLinksLeadSomewhere)$ ./test/structure"

// follow does all steps but one in a copy of the source, and runs the tests.
func (r recipe) follow(t *testing.T, without *step) (failed bool, out string) {
	t.Helper()
	kitchens <- struct{}{}
	defer func() { <-kitchens }()
	dir := t.TempDir()
	copyTheTree(t, dir)
	for i := range r.steps {
		s := &r.steps[i]
		switch {
		case s == without:
		case s.command != "":
			// What it says of other steps that were forgotten, the tests say too.
			_, _ = runIn(t, dir, s.command)
		default:
			s.apply(t, dir)
		}
	}
	tests := r.tests
	if without == nil {
		tests = append(slices.Clone(tests), structure)
	}
	for _, test := range tests {
		text, err := runIn(t, dir, test)
		if err != nil {
			failed, out = true, out+text
		}
	}
	return failed, out
}

func runIn(t *testing.T, dir, command string) (string, error) {
	t.Helper()
	words := strings.Fields(command)
	cmd := exec.CommandContext(t.Context(), words[0], words[1:]...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	// Without paths in what is compiled, all copies share the cache. What they play are no cells of this tree.
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -vet=off", "LEAKBENCH_REQUIRE=", "LEAKBENCH_RECIPES=", "LEAKBENCH_GROUPS=", "LEAKBENCH_CELLS=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// apply makes the change of a step.
func (s step) apply(t *testing.T, dir string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(s.file))
	old, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(s.text), 0o600))
		return
	}
	require.NoError(t, err)
	text := string(old)
	for edit := range strings.SplitSeq(s.text, "@@\n") {
		text = edited(t, s.file, text, edit)
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

func edited(t *testing.T, file, text, edit string) string {
	t.Helper()
	if rule, ok := strings.CutPrefix(edit, "~ "); ok {
		pattern, replacement, ok := strings.Cut(strings.TrimSuffix(rule, "\n"), " => ")
		require.True(t, ok, edit)
		re := regexp.MustCompile("(?m)" + pattern)
		require.Regexp(t, re, text, "the recipe is outdated: %s", file)
		return re.ReplaceAllString(text, strings.ReplaceAll(replacement, `\n`, "\n"))
	}
	var before, after strings.Builder
	for line := range strings.Lines(edit) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		case ' ':
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		default:
			require.Fail(t, "no edit", "%s: %q", file, line)
		}
	}
	require.Equal(t, 1, strings.Count(text, before.String()), "the recipe is outdated: %s does not have once\n%s", file, before.String())
	return strings.Replace(text, before.String(), after.String(), 1)
}

// TestContributingNamesWhatExists: the files, tests and recipes' files that
// CONTRIBUTING names are there, and it names each file that a recipe changes.
func TestContributingNamesWhatExists(t *testing.T) {
	t.Parallel()
	contributing, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	var named []string
	for _, m := range regexp.MustCompile("`([^` ]+/[^` ]+)`").FindAllStringSubmatch(string(contributing), -1) {
		pattern := regexp.MustCompile("<[a-z]+>").ReplaceAllString(m[1], "*")
		named = append(named, pattern)
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		assert.NotEmpty(t, files, "CONTRIBUTING names %s", m[1])
	}
	for _, m := range regexp.MustCompile("`([a-z0-9_]+\\.go)`").FindAllStringSubmatch(string(contributing), -1) {
		assert.True(t, slices.ContainsFunc(everyFile(t), func(file string) bool { return path.Base(file) == m[1] }), "CONTRIBUTING names %s", m[1])
	}
	tests := testNames(t)
	for _, m := range regexp.MustCompile(`-run (Test\w+)`).FindAllStringSubmatch(string(contributing), -1) {
		assert.Contains(t, tests, m[1], "CONTRIBUTING names it")
	}
	files, err := filepath.Glob("testdata/recipes/*.txtar")
	require.NoError(t, err)
	for _, file := range files {
		assert.Contains(t, named, file, "CONTRIBUTING lacks the recipe")
		for _, s := range readRecipe(t, file).steps {
			names := func(pattern string) bool { ok, _ := path.Match(pattern, s.file); return ok }
			assert.True(t, !s.counts() || slices.ContainsFunc(named, names), "CONTRIBUTING does not name %s, which %s changes", s.file, file)
		}
	}
}

// everyFile is the path of each Go file of the module.
func everyFile(t *testing.T) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".go") {
			files = append(files, filepath.ToSlash(file))
		}
		return err
	}))
	return files
}

// testNames are those of all tests of the module.
func testNames(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
		return err
	}))
	return names
}

// copyTheTree copies the source with its tests and documentation.
func copyTheTree(t *testing.T, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := path.Base(file); file != "." && (base == ".git" || base == ".leakbench" || base == "node_modules") {
				return fs.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, file), 0o755)
		}
		if !entry.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, file), text, info.Mode()|0o600)
	}))
}
