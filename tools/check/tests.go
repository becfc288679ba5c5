package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// goTest is the beginning of what plays tests.
const goTest = "go test -json -count=1 -timeout 25m"

// groupTests are the tests of a group.
type groupTests struct {
	packages []string // as `go test` takes them
	names    []string
}

// command runs them. A test of the same name in another of the packages is run with them.
func (g groupTests) command() string {
	return fmt.Sprintf("%s -run '^(%s)$' %s", goTest, strings.Join(g.names, "|"), strings.Join(g.packages, " "))
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
