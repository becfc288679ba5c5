package record_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/record"
)

// TestThePageNamesAllThatAFileHolds: docs/understand/run-file.md has a row for each object, which names each of its fields, and a row for each
// kind of event.
func TestThePageNamesAllThatAFileHolds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/understand/run-file.md")
	require.NoError(t, err)
	_, fields, found := strings.Cut(string(text), "## Fields")
	require.True(t, found)
	rows := map[string]string{}
	for line := range strings.Lines(fields) {
		if cells := strings.SplitN(line, "|", 3); len(cells) == 3 {
			rows[strings.TrimSpace(cells[1])] = cells[2]
		}
	}
	seen := map[reflect.Type]bool{}
	objects(reflect.TypeFor[record.Header](), seen)
	objects(reflect.TypeFor[record.Event](), seen)
	assert.Greater(t, len(seen), 20)
	for object := range seen {
		row := rows[object.Name()]
		assert.NotEmpty(t, row, "no row for %s", object.Name())
		for i := range object.NumField() {
			f := object.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				assert.Contains(t, row, f.Type.Name(), "%s has all of %s", object.Name(), f.Type.Name())
			} else {
				assert.Contains(t, row, "`"+name+"`", "%s.%s", object.Name(), f.Name)
			}
		}
	}
	for _, kind := range kinds(t) {
		rowOf := false
		for line := range strings.Lines(string(text)) {
			rowOf = rowOf || strings.HasPrefix(line, "| ") && strings.Contains(strings.SplitN(line, "|", 3)[1], "`"+kind+"`")
		}
		assert.True(t, rowOf, "no row for events of kind %s", kind)
	}
}

// objects are the structs that a type holds, itself included.
func objects(of reflect.Type, seen map[reflect.Type]bool) {
	switch of.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		objects(of.Elem(), seen)
	case reflect.Struct:
		if seen[of] || of.PkgPath() != reflect.TypeFor[record.Event]().PkgPath() {
			return
		}
		seen[of] = true
		for i := range of.NumField() {
			objects(of.Field(i).Type, seen)
		}
	}
}

// kinds are the values of the constants of type Kind.
func kinds(t *testing.T) (all []string) {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), "event.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(tree, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && spec.Type != nil {
			if name, is := spec.Type.(*ast.Ident); is && name.Name == "Kind" {
				all = append(all, strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
			}
		}
		return true
	})
	assert.Greater(t, len(all), 20)
	return all
}
