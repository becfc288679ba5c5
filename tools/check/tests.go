package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// groupTests are the tests of a group.
type groupTests struct {
	packages []string // as `go test` takes them
	names    []string
}

// command runs them. A test of the same name in another of the packages is run with them.
func (g groupTests) command() string {
	return fmt.Sprintf("go test -json -count=1 -timeout 25m -run '^(%s)$' %s", strings.Join(g.names, "|"), strings.Join(g.packages, " "))
}

// testsOf finds the tests that name a group by a constant of internal/tier, in their own body. The constant is the group's name with a
// capital letter; TestEachGroupHasItsConstant holds the two together.
func testsOf(all []test, group string) (groupTests, error) {
	var found groupTests
	for _, t := range all {
		if slices.ContainsFunc(t.groups, func(name string) bool { return strings.EqualFold(name, group) }) {
			found.packages = append(found.packages, "./"+t.dir)
			found.names = append(found.names, t.name)
		}
	}
	slices.Sort(found.packages)
	slices.Sort(found.names)
	found.packages, found.names = slices.Compact(found.packages), slices.Compact(found.names)
	if len(found.names) == 0 {
		return found, fmt.Errorf("no test names the group %s", group)
	}
	return found, nil
}

// test is a test function.
type test struct {
	dir, name string
	groups    []string // the constants of internal/tier that it names
}

func allTests(root string) (all []test, err error) {
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, testsIn(file, filepath.ToSlash(dir))...)
		return nil
	})
	return all, err
}

func testsIn(file *ast.File, dir string) (all []test) {
	for _, d := range file.Decls {
		fn, isFunc := d.(*ast.FuncDecl)
		if !isFunc || fn.Recv != nil || !strings.HasPrefix(fn.Name.Name, "Test") {
			continue
		}
		t := test{dir: dir, name: fn.Name.Name}
		ast.Inspect(fn, func(n ast.Node) bool {
			if sel, isSelector := n.(*ast.SelectorExpr); isSelector {
				if pkg, isName := sel.X.(*ast.Ident); isName && pkg.Name == "tier" {
					t.groups = append(t.groups, sel.Sel.Name)
				}
			}
			return true
		})
		all = append(all, t)
	}
	return all
}

// counts are of tests without subtests.
type counts struct{ passed, skipped, failed int }

func (c counts) String() string {
	if c == (counts{}) {
		return ""
	}
	said := text.Count(c.passed, "test")
	if c.skipped > 0 {
		said += fmt.Sprintf(", %d skipped", c.skipped)
	}
	if c.failed > 0 {
		said += fmt.Sprintf(", %d failed", c.failed)
	}
	return said
}

// counter reads what `go test -json` writes, passes on what a person reads, and counts.
type counter struct {
	to     io.Writer
	counts counts
	rest   []byte
	quiet  map[string][]string // of each test that is under way: what it has said
	parent map[string]bool     // the tests that have subtests
}

func (c *counter) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		line, rest, found := bytes.Cut(c.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		c.line(line)
		c.rest = rest
	}
}

// Close passes on what has no end of line.
func (c *counter) Close() {
	if len(c.rest) > 0 {
		c.line(c.rest)
	}
}

// line keeps what a test says until it is known whether it passes: the log of a red group is what failed.
func (c *counter) line(line []byte) {
	var e struct{ Action, Package, Test, Output string }
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(c.to, "%s\n", line)
		return
	}
	if c.quiet == nil {
		c.quiet, c.parent = map[string][]string{}, map[string]bool{}
	}
	key := e.Package + " " + e.Test
	switch {
	case e.Action == "output" && e.Test != "":
		c.quiet[key] = append(c.quiet[key], e.Output)
	case e.Action == "output" || e.Action == "build-output":
		fmt.Fprint(c.to, e.Output)
	case e.Test != "":
		c.ended(key, e.Action)
	case e.Action == "fail": // a test that never ended may be why
		for key := range c.quiet {
			if strings.HasPrefix(key, e.Package+" ") {
				c.tell(key)
			}
		}
	}
}

// ended counts a test that has ended.
func (c *counter) ended(key, how string) {
	if i := strings.LastIndex(key, "/"); i > strings.Index(key, " ") {
		c.parent[key[:i]] = true
	}
	one := 1
	if c.parent[key] {
		one = 0
	}
	switch how {
	case "pass":
		c.counts.passed += one
	case "skip":
		c.counts.skipped += one
	case "fail":
		c.counts.failed += one
		c.tell(key)
	default:
		return
	}
	delete(c.quiet, key)
}

// tell passes on what a test has said.
func (c *counter) tell(key string) {
	for _, said := range c.quiet[key] {
		fmt.Fprint(c.to, said)
	}
	delete(c.quiet, key)
}
