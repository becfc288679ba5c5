package fakeserver

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachActionIsListed: each action that stands in one of the files is
// listed, once, and listActions lists no other.
func TestEachActionIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("actions_*.go")
	require.NoError(t, err)
	var names []string
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`(?m)^\t\tname: "([^"]*)"`).FindAllSubmatch(src, -1) {
			names = append(names, string(found[1]))
		}
	}
	assert.ElementsMatch(t, names, Names(Actions), "an action of a file that is not listed, or listed twice")
}

// TestEachActionIsProven: a test in this folder names each action.
func TestEachActionIsProven(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, a := range actions {
		assert.Contains(t, all.String(), `"`+a.name+`"`, "no test of package fakeserver mentions %s", a.name)
	}
}

// TestEachFieldIsDescribed: a member of Fault has a row in Fields, and a field
// that goes with some actions alone is one that they take, and is announced.
func TestEachFieldIsDescribed(t *testing.T) {
	t.Parallel()
	members := reflect.TypeFor[Fault]()
	for i := range members.NumField() {
		if name, _, tagged := strings.Cut(members.Field(i).Tag.Get("json"), ","); tagged || members.Field(i).IsExported() {
			assert.Contains(t, fieldNames(), name, "%s: no row in Fields", members.Field(i).Name)
		}
	}
	for _, d := range Fields {
		var taken []string
		for _, a := range actions {
			if a.has(d.Name) {
				taken = append(taken, a.name)
			}
		}
		assert.Equal(t, d.Own, len(taken) > 0, "%s: taken by %v", d.Name, taken)
		if d.Name == "on" || d.Name == "do" {
			continue
		}
		f := Fault{On: onCall, Do: "exit"}
		before := f.detail()
		switch v := d.Of(&f).(type) {
		case *string:
			*v = "some"
		case *int:
			*v = 7
		case *float64:
			*v = 0.7
		case *Duration:
			*v = 7
		}
		assert.True(t, d.given(&f), d.Name)
		assert.NotEqual(t, before, f.detail(), "%s: not in what a fault is announced with", d.Name)
		assert.NotEmpty(t, d.What, d.Name)
		assert.NotEmpty(t, d.Unit, d.Name)
	}
	for _, a := range actions {
		for _, field := range append(a.takes, a.needs, a.except.field) {
			assert.Contains(t, append(fieldNames(), ""), field, "%s has a use for a field that there is not", a.name)
		}
	}
}
