package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHelpHasTextsForEachCommand, and none for a command that there is not.
func TestHelpHasTextsForEachCommand(t *testing.T) {
	t.Parallel()
	left := helps()
	var walk func(c *cobra.Command, path string)
	walk = func(c *cobra.Command, path string) {
		assert.NotEmpty(t, c.Short, "help.txtar says nothing of leakbench %s", path)
		delete(left, path)
		delete(left, path+": examples")
		for _, sub := range c.Commands() {
			walk(sub, strings.TrimPrefix(path+" "+sub.Name(), "leakbench "))
		}
	}
	a := &app{out: io.Discard, err: io.Discard}
	walk(a.root(), "leakbench")
	for path := range left {
		assert.Fail(t, "no command has the help of "+path)
	}
	for name, text := range helps() {
		assert.NotRegexp(t, `(^|[^{]){[a-z-]+}`, text, name)
	}
}

// TestEachCommandIsPlayed by a script, as somebody would type it.
func TestEachCommandIsPlayed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/script/*.txtar")
	require.NoError(t, err)
	var scripts []byte
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		scripts = append(scripts, text...)
	}
	a := &app{out: io.Discard, err: io.Discard}
	for _, c := range a.root().Commands() {
		played := regexp.MustCompile(`leakbench ` + c.Name() + `\b`).Match(scripts)
		assert.True(t, played, "no script plays leakbench %s", c.Name())
	}
}

// TestTooManyArguments: what a command does not take is an error of whoever gave it, whichever package notices, and says what to do.
func TestTooManyArguments(t *testing.T) {
	t.Parallel()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Name() == "fakeserver" { // which is dispatched elsewhere
			return
		}
		words := append(strings.Fields(c.CommandPath())[1:], "zz1", "zz2", "zz3")
		var out, said bytes.Buffer
		assert.Equal(t, exitUsage, execute(words, &out, &said), "%q: %s", words, said.String())
		if c.Name() != "validate" { // which says it of each file
			assert.Regexp(t, "\nhint: |must be one of", said.String(), "%q", words)
			assert.Empty(t, out.String(), "%q", words)
		}
	}
	a := &app{out: io.Discard, err: io.Discard}
	walk(a.root())
}
