package bug_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/bug"
)

func TestCaught(t *testing.T) {
	t.Parallel()
	failed := errors.New("before")
	err := func() (err error) {
		defer bug.Caught(&err)
		defer func() { err = failed }()
		panic("boom")
	}()
	require.ErrorIs(t, err, failed)
	var p *bug.Panic
	require.ErrorAs(t, err, &p)
	assert.Equal(t, "boom", p.Why)
	assert.Contains(t, err.Error(), "panic: boom\n")
	assert.Contains(t, err.Error(), "bug_test.go")
	assert.NoError(t, bug.Catch(func() error { return nil }))
}

// TestTheSameBugHasTheSameText: what meets it many times tells it once.
func TestTheSameBugHasTheSameText(t *testing.T) {
	t.Parallel()
	said := make(chan string, 2)
	for range 2 {
		go func() {
			said <- bug.Catch(func() error { panic("boom") }).Error()
		}()
	}
	first := <-said
	assert.Equal(t, first, <-said)
}

func TestEnds(t *testing.T) {
	ended := make(chan error, 1)
	bug.OnPanic(func(p *bug.Panic) { ended <- p })
	defer bug.OnPanic(nil)
	go func() {
		defer bug.Ends()
		panic("boom")
	}()
	require.ErrorContains(t, <-ended, "panic: boom")
	go bug.Guarded(func() { panic("bang") })()
	require.ErrorContains(t, <-ended, "panic: bang")
}

// TestEachGoroutineEnds: in a package that knows of bugs, each goroutine is guarded, or defers Ends before all else.
func TestEachGoroutineEnds(t *testing.T) {
	t.Parallel()
	found := 0
	for dir, files := range importers(t) {
		methods := map[string]*ast.BlockStmt{}
		for _, f := range files {
			for _, d := range f.Decls {
				if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil {
					methods[m.Name.Name] = m.Body
				}
			}
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				var runs ast.Expr
				switch n := n.(type) {
				case *ast.GoStmt:
					runs = n.Call.Fun
				case *ast.CallExpr:
					if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
						runs = n.Args[0]
					}
				}
				body := (*ast.BlockStmt)(nil)
				switch r := runs.(type) {
				case *ast.FuncLit:
					body = r.Body
				case *ast.SelectorExpr:
					body = methods[r.Sel.Name] // one of another package looks after itself
				}
				if body != nil {
					found++
					assert.True(t, endsFirst(body), "%s: the goroutine that begins with %s lacks bug.Ends", dir, body.List[0])
				}
				return true
			})
		}
	}
	assert.Greater(t, found, 15)
}

func endsFirst(body *ast.BlockStmt) bool {
	d, ok := body.List[0].(*ast.DeferStmt)
	if !ok {
		return false
	}
	s, ok := d.Call.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Ends"
}

// importers are the files of the packages that import this one.
func importers(t *testing.T) map[string][]*ast.File {
	t.Helper()
	all, imports := map[string][]*ast.File{}, map[string]bool{}
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		all[dir] = append(all[dir], f)
		for _, i := range f.Imports {
			imports[dir] = imports[dir] || strings.HasSuffix(i.Path.Value, "/internal/bug\"")
		}
		return nil
	}))
	for dir := range all {
		if !imports[dir] {
			delete(all, dir)
		}
	}
	return all
}
