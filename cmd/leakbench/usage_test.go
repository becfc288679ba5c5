package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
)

// TestHelpHasTextsForEachCommand, and none for a command that there is not.
func TestHelpHasTextsForEachCommand(t *testing.T) {
	t.Parallel()
	left := helps()
	var walk func(c *cobra.Command, path string)
	walk = func(c *cobra.Command, path string) {
		assert.NotEmpty(t, c.Short, path)
		delete(left, path)
		delete(left, path+": examples")
		for _, sub := range c.Commands() {
			walk(sub, strings.TrimPrefix(path+" "+sub.Name(), "leakbench "))
		}
	}
	a := &app{out: io.Discard, err: io.Discard}
	walk(a.root(), "leakbench")
	assert.Empty(t, left)
	for name, text := range helps() {
		assert.NotRegexp(t, `(^|[^{]){[a-z-]+}`, text, name)
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
