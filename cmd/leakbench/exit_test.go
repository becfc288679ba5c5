package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/judge/gate"
)

// TestExitCodesAreDocumented holds the tables of the documents to that of the
// program. A document may say less of a code, and in a gate's words.
func TestExitCodesAreDocumented(t *testing.T) {
	t.Parallel()
	rows := func(file, row string) [][]string {
		text, err := os.ReadFile("../../" + file)
		require.NoError(t, err)
		return regexp.MustCompile(row).FindAllStringSubmatch(string(text), -1)
	}
	readme := rows("README.md", `(?m)^\| (\d+|128\+n) \| (.*) \|$`)
	ofGate := rows("docs/use/gate.md", `(?m)^    (\d+|128\+n) +(.*)$`)
	require.Len(t, readme, len(exits))
	require.Len(t, ofGate, len(exits))
	for i, e := range exits {
		code := fmt.Sprint(e.code)
		if e.code == exitSignal {
			code += "+n"
		}
		assert.Equal(t, code, readme[i][1])
		assert.Equal(t, code, ofGate[i][1])
		assert.True(t, strings.HasPrefix(strings.Join(strings.Fields(e.help), " "), readme[i][2]), "%s: %q in the README, %q in the help", code, readme[i][2], e.help)
	}
}

// Each outcome has a code of its own, and only a pass is 0.
func TestExitOf(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, o := range []gate.Outcome{gate.Pass, gate.Fail, gate.Inconclusive, gate.HostFailed} {
		code := exitOf(o)
		assert.False(t, seen[code], o)
		seen[code] = true
		assert.Equal(t, o == gate.Pass, code == exitClean, o)
	}
	assert.False(t, seen[exitOf("something else")], "no outcome is a bug, and never a pass")
}
