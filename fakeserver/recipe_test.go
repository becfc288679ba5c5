package fakeserver

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEachActionIsListed: a file for each action, and a line for it in
// listActions.
func TestEachActionIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("action_*.go")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(file, "action_"), ".go"), "_", "-")
		assert.Contains(t, Names(Actions), name, "%s: no line in listActions", file)
	}
	assert.Len(t, actions, len(files), "an action without a file of its own, or listed twice")
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
