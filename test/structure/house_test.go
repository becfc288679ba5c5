package structure_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The sizes that keep the house easy to live in. A change that needs more room splits a function or a file by role first.
//
// They are for what a reader has on the screen. A package and the whole tree have no limit: to fit one, code was moved to where it did
// not belong, and lines were joined.
const (
	mostLinesInFile     = 450
	mostLinesInFunction = 60
	mostColumns         = 140
	mostBranches        = 12
	mostFields          = 20
)

// forTests are packages that only tests use.
var forTests = map[string]string{
	"test/corpus":                  "runs that the judge is held to",
	"test/judge2":                  "a second opinion on what is left",
	"internal/reexec/reexectest":   "what tests of packages that play runs have in common",
	"test/trickhost":               "hosts that the bench once judged wrongly",
	"test/trickhost/trick":         "the program of these hosts",
	"internal/tier":                "which tests belong to which tier",
	"internal/yamlfile/yamltest":   "what tests of files have in common",
	"report/baseline/baselinetest": "what tests of baselines have in common",
}

// public are the packages that other modules may import. Only there is an
// exported name without a user in this module no dead code.
var public = []string{"driver", "leaktest"}

// TestSizes leaves out testdata: the newcomer's host is somebody else's program as far as the bench goes, and its tests pin it by its
// checksum, so that it can't be changed to fit.
func TestSizes(t *testing.T) {
	t.Parallel()
	for dir, files := range sources(t) {
		if forTests[dir] != "" {
			continue
		}
		for _, f := range files {
			n := bytes.Count(f.text, []byte("\n"))
			assert.LessOrEqual(t, n, mostLinesInFile, "%s has too many lines: is it still one thing?", f.path)
			tags := tagsByLine(f)
			for i, line := range strings.Split(string(f.text), "\n") {
				width := utf8.RuneCountInString(line) - utf8.RuneCountInString(tags[i+1])
				assert.LessOrEqual(t, width, mostColumns, "%s:%d is too wide", f.path, i+1)
			}
			for _, d := range f.tree.Decls {
				fn, isFunc := d.(*ast.FuncDecl)
				if !isFunc {
					continue
				}
				from, to := f.set.Position(fn.Pos()), f.set.Position(fn.End())
				assert.LessOrEqual(t, to.Line-from.Line+1, mostLinesInFunction, "%s: %s is too long", from, fn.Name.Name)
			}
		}
	}
}

// tagsByLine are the tags of fields, by line. They don't count for its width: a tag is one literal, which can't be broken.
func tagsByLine(f source) map[int]string {
	tags := map[int]string{}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if field, isField := n.(*ast.Field); isField && field.Tag != nil {
			tags[f.set.Position(field.Tag.Pos()).Line] = field.Tag.Value
		}
		return true
	})
	return tags
}

// stillToSplit are folders, with all below them, that TestBranches and TestFields do not look at yet. The list must become empty: remove a
// folder once it holds.
var stillToSplit = []string{"internal/judge", "internal/history", "report"}

func isStillToSplit(dir string) bool {
	return slices.ContainsFunc(stillToSplit, func(skipped string) bool { return dir == skipped || strings.HasPrefix(dir, skipped+"/") })
}

// branchy are the functions that may have more branches, and why.
var branchy = map[string]string{}

// TestBranches counts the ways through a function: each condition and each case is one more to keep in mind. What has too many is a table
// in disguise, or two functions.
func TestBranches(t *testing.T) {
	t.Parallel()
	checkWalls(t, branchy, func(f source, check func(name string, n, most int)) {
		for _, d := range f.tree.Decls {
			if fn, isFunc := d.(*ast.FuncDecl); isFunc {
				check(fn.Name.Name, branches(fn), mostBranches)
			}
		}
	})
}

// branches are the conditions of a function, with those of the functions inside it.
func branches(fn *ast.FuncDecl) (n int) {
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// wide are the types that may have more fields, and why.
var wide = map[string]string{
	"scenarios.Step":        "the shape of a step in a file",
	"internal/subject.Spec": "the shape of a host file",
}

// TestFields counts the fields of structs. Those that change together are a struct with a name.
func TestFields(t *testing.T) {
	t.Parallel()
	checkWalls(t, wide, func(f source, check func(name string, n, most int)) {
		ast.Inspect(f.tree, func(node ast.Node) bool {
			spec, isType := node.(*ast.TypeSpec)
			if !isType {
				return true
			}
			if shape, isStruct := spec.Type.(*ast.StructType); isStruct {
				check(spec.Name.Name, shape.Fields.NumFields(), mostFields)
			}
			return true
		})
	})
}

// checkWalls has each file counted. An exception and a folder that is still to split must be needed.
func checkWalls(t *testing.T, exceptions map[string]string, count func(f source, check func(name string, n, most int))) {
	t.Helper()
	needed := map[string]bool{}
	for dir, files := range sources(t) {
		if isStillToSplit(dir) || forTests[dir] != "" {
			continue
		}
		for _, f := range files {
			count(f, func(name string, n, most int) {
				name = dir + "." + name
				if exceptions[name] == "" {
					assert.LessOrEqual(t, n, most, "%s: %s has too many parts: is it still one thing?", f.path, name)
				}
				needed[name] = needed[name] || n > most
			})
		}
	}
	for name, why := range exceptions {
		assert.True(t, needed[name], "%s is no exception any more: %s", name, why)
	}
}

// TestExportsHaveUsers finds exported names that no other package uses. Tests
// that stand outside their package count as users.
func TestExportsHaveUsers(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, f := range allGoFiles(t) {
		for name := range usedNames(f) {
			used[name] = true
		}
	}
	for dir, files := range sources(t) {
		if slices.Contains(public, dir) || forTests[dir] != "" || files[0].tree.Name.Name == "main" {
			continue
		}
		inSignatures := namesInSignatures(files)
		for _, f := range files {
			for name, pos := range exportedNames(f.tree) {
				if !used[dir+"."+name] && !inSignatures[name] {
					t.Errorf("%s: %s is exported and no other package uses it", f.set.Position(pos), name)
				}
			}
		}
	}
}

// byContract are methods that the standard library calls.
var byContract = []string{"Error", "String", "Unwrap", "MarshalText", "UnmarshalText", "MarshalJSON", "RoundTrip"}

// TestMethodsAndValuesHaveUsers finds exported methods that no other package
// calls, and constants of a named type, its values, that nothing names.
func TestMethodsAndValuesHaveUsers(t *testing.T) {
	t.Parallel()
	named := map[string]map[string]int{} // by name, by folder
	for _, f := range allGoFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(f.path))
		ast.Inspect(f.tree, func(n ast.Node) bool {
			if id, isName := n.(*ast.Ident); isName && id.IsExported() {
				if named[id.Name] == nil {
					named[id.Name] = map[string]int{}
				}
				named[id.Name][dir]++
			}
			return true
		})
	}
	for dir, files := range sources(t) {
		if slices.Contains(public, dir) || forTests[dir] != "" || files[0].tree.Name.Name == "main" {
			continue
		}
		for _, f := range files {
			for _, d := range f.tree.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					unused := d.Recv != nil && d.Name.IsExported() && len(named[d.Name.Name]) == 1
					assert.False(t, unused && !slices.Contains(byContract, d.Name.Name), "%s: no other package calls the method %s", f.path, d.Name.Name)
				case *ast.GenDecl:
					for _, spec := range d.Specs {
						value, isValue := spec.(*ast.ValueSpec)
						for i := 0; isValue && d.Tok == token.CONST && i < len(value.Names); i++ {
							name := value.Names[i].Name
							unused := value.Names[i].IsExported() && len(named[name]) == 1 && named[name][dir] == 1
							assert.False(t, unused, "%s: nothing uses the constant %s", f.path, name)
						}
					}
				}
			}
		}
	}
}

// TestPackagesHaveTests finds packages without a test file of their own.
func TestPackagesHaveTests(t *testing.T) {
	t.Parallel()
	covered := map[string]string{
		"hosts":                      "files; internal/subject/hostfile reads each of them in a test",
		"hosts/gosdk":                "played by internal/subject and the scoreboard",
		"hosts/mcpgo":                "played by the matrix",
		"internal/bench/lone":        "a program that the benchmarks measure",
		"internal/bench/mcpgoserver": "a program that the benchmarks measure",
		"internal/proc/portable":     "internal/proc holds it against the reader of /proc",
		"tools/kernels":              "a program that a group plays on machines of its own",
		"tools/strength":             "a program that the nightly job runs",
		".":                          "a comment",
	}
	for dir := range sources(t) {
		tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		if covered[dir] == "" && forTests[dir] == "" && !strings.HasPrefix(dir, "examples/") {
			assert.NotEmpty(t, tests, "package %s has no test of its own", dir)
		}
	}
}

// source is a parsed Go file.
type source struct {
	path string // with slashes, relative to the root of the module
	text []byte
	set  *token.FileSet
	tree *ast.File
}

// sources are the Go files that are no tests, by folder.
func sources(t *testing.T) map[string][]source {
	t.Helper()
	byDir := map[string][]source{}
	for _, f := range allGoFiles(t) {
		if !strings.HasSuffix(f.path, "_test.go") {
			dir := filepath.ToSlash(filepath.Dir(f.path))
			byDir[dir] = append(byDir[dir], f)
		}
	}
	return byDir
}

func allGoFiles(t *testing.T) []source {
	t.Helper()
	parsed.once.Do(func() { parsed.files = parseAll(t) })
	require.NotEmpty(t, parsed.files)
	return parsed.files
}

// parsed are all files, for all tests: to parse them takes a second and a half.
var parsed struct {
	once  sync.Once
	files []source
}

// TestPlayKnowsNoFlags holds package play and what is below it to a rule of ARCHITECTURE.md: flags are those of cmd/leakbench.
func TestPlayKnowsNoFlags(t *testing.T) {
	t.Parallel()
	exceptions := map[string]string{
		"internal/play/doctor": "it names flags of other programs, and those of the fake server that it starts",
	}
	for _, f := range parseAll(t) {
		dir := filepath.ToSlash(filepath.Dir(f.path))
		if strings.HasSuffix(f.path, "_test.go") || dir != "internal/play" && !strings.HasPrefix(dir, "internal/play/") {
			continue
		}
		for _, imported := range f.tree.Imports {
			assert.NotContains(t, imported.Path.Value, "github.com/spf13/", f.path)
		}
		ast.Inspect(f.tree, func(n ast.Node) bool {
			literal, isLiteral := n.(*ast.BasicLit)
			if isLiteral && literal.Kind == token.STRING && exceptions[dir] == "" {
				assert.NotContains(t, literal.Value, "--", f.set.Position(literal.Pos()))
			}
			return true
		})
	}
}

func parseAll(t *testing.T) []source {
	t.Helper()
	var all []source
	for _, dir := range goFolders(t, true) {
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, path := range paths {
			all = append(all, parse(t, path))
		}
	}
	return all
}

func parse(t *testing.T, path string) source {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	require.NoError(t, err)
	return source{filepath.ToSlash(path), text, set, tree}
}

// usedNames are the names of the module's packages that a file of another
// folder uses, as "folder.Name".
func usedNames(f source) map[string]bool {
	used := map[string]bool{}
	for _, u := range mentions(f) {
		used[u] = true
	}
	return used
}

// mentions are the same, once for each time.
func mentions(f source) (used []string) {
	here := filepath.ToSlash(filepath.Dir(f.path))
	dirs := map[string]string{} // by the name that the file gives a package
	for _, spec := range f.tree.Imports {
		dir, own := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module)
		if !own || dir == here && !strings.HasSuffix(f.tree.Name.Name, "_test") {
			continue
		}
		name := dir[strings.LastIndex(dir, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		dirs[name] = dir
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		if sel, isSelector := n.(*ast.SelectorExpr); isSelector {
			if pkg, isName := sel.X.(*ast.Ident); isName && dirs[pkg.Name] != "" {
				used = append(used, dirs[pkg.Name]+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return used
}

// TestFoldsOfHistory counts where the events of a run are folded: in the runner while they come, and in the verdict for the run and
// for its checkpoints. All others take the history of a judged run.
func TestFoldsOfHistory(t *testing.T) {
	t.Parallel()
	const most = 3
	var callers []string
	for _, files := range sources(t) {
		for _, f := range files {
			for _, name := range mentions(f) {
				if name == "internal/history.Of" || name == "internal/history.New" {
					callers = append(callers, f.path)
				}
			}
		}
	}
	assert.LessOrEqual(t, len(callers), most, "verdict.Judged has the history of a run: %v", callers)
	assert.NotEmpty(t, callers)
}

// exportedNames are the exported names that a file declares at the top level.
// Constants of a named type are left out: they are its values, which
// TestMethodsAndValuesHaveUsers looks at.
func exportedNames(tree *ast.File) map[string]token.Pos {
	names := map[string]token.Pos{}
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names[id.Name] = id.Pos()
		}
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			typed := false
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name)
				case *ast.ValueSpec:
					typed = spec.Type != nil || typed && len(spec.Values) == 0
					for _, id := range spec.Names {
						if d.Tok != token.CONST || !typed {
							add(id)
						}
					}
				}
			}
		}
	}
	return names
}

// namesInSignatures are the names of types that exported declarations of a
// package show: whoever uses those needs their documentation.
func namesInSignatures(files []source) map[string]bool {
	names := map[string]bool{}
	show := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, isName := n.(*ast.Ident); isName {
				names[id.Name] = true
			}
			_, isBody := n.(*ast.BlockStmt)
			return !isBody
		})
	}
	for _, f := range files {
		for _, d := range f.tree.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					show(d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						show(spec.Type)
					case *ast.ValueSpec:
						if !spec.Names[0].IsExported() {
							continue
						}
						if spec.Type != nil {
							show(spec.Type)
						}
						for _, v := range spec.Values {
							if lit, isLit := v.(*ast.CompositeLit); isLit && lit.Type != nil {
								show(lit.Type)
							}
						}
					}
				}
			}
		}
	}
	return names
}

// TestArchitectureNamesEveryRoom holds the table of ARCHITECTURE.md to the one
// of imports_test.go.
func TestArchitectureNamesEveryRoom(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("ARCHITECTURE.md")
	require.NoError(t, err)
	named, listed := map[string]bool{}, map[string]bool{}
	row := regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\|([^|]*)\\|")
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		room := strings.TrimSuffix(m[1], "/")
		named[room] = true
		for _, name := range strings.Fields(strings.ReplaceAll(m[2], "`", " ")) {
			named[room+"/"+name], listed[room+"/"+name] = true, true
		}
	}
	for _, room := range house {
		parent := room.pkg[:max(strings.LastIndex(room.pkg, "/"), 0)]
		assert.True(t, named[room.pkg] || listed[parent], "ARCHITECTURE.md's table lacks %s", room.pkg)
	}
	for name := range named {
		_, err := os.Stat(name)
		assert.NoError(t, err, "ARCHITECTURE.md's table names %s", name)
	}
}
