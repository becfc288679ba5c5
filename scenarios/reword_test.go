package scenarios

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
)

// TestRewordedProblems: where a problem is shown, and the schema, do not depend
// on the words that the fake server has for it. It is not parallel: it changes
// what the reader asks.
func TestRewordedProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.yaml")
	require.NoError(t, err)
	texts := map[string]string{}
	for _, file := range files {
		src, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[file] = string(src)
	}
	for _, faults := range []string{
		"{on: eof, do: hang}", "{on: call, do: hang, launch: -2}", "{on: call, do: hang, every: -1}", "{on: call, do: hang, launch: 1, every: 2}",
		"{on: call, do: hang, probability: 2}", "{on: eof, do: ignore, after: 1, tool: echo}", "{on: call, do: hang, after: -1}",
		"{on: call, do: swell, each: 1s}", "{on: call, do: exit, code: 256, mib: 3, as: group, count: 3}", "{on: start, do: zombies, count: 65}",
		"{on: start, do: helper, as: term}", "{on: order, do: exit, every: 2}", "{on: order, do: exit}", "{on: discover, do: wrong-version}",
		"{on: call, do: hang}, {on: call, do: exit}, {on: call, do: reject}", "{on: start, do: ignore-term}, {on: term, do: ignore}",
	} {
		texts[faults] = "name: x\ntitle: x\nservers:\n  one: {faults: [" + faults + "]}\nsteps:\n  - {open: a, server: one}\n"
	}
	before, schema := map[string][]Problem{}, Schema()
	for name, text := range texts {
		before[name] = problemsIn(t, text)
	}
	reworded := 0
	reword := func(all fakeserver.Problems) fakeserver.Problems {
		all = slices.Clone(all)
		for i := range all {
			reworded++
			all[i].Text = "fault 7 (launch: code " + all[i].Text
		}
		return all
	}
	checkScript = func(s fakeserver.Script) fakeserver.Problems { return reword(s.Check()) }
	checkFault = func(f fakeserver.Fault) fakeserver.Problems { return reword(f.Check()) }
	t.Cleanup(func() { checkScript, checkFault = fakeserver.Script.Check, fakeserver.Fault.Check })
	for name, text := range texts {
		after := problemsIn(t, text)
		require.Len(t, after, len(before[name]), name)
		for i, was := range before[name] {
			assert.Equal(t, [2]int{was.Line, was.Column}, [2]int{after[i].Line, after[i].Column}, "%s: %s", name, was.Message)
			assert.Equal(t, was.Snippet, after[i].Snippet, "%s: %s", name, was.Message)
		}
	}
	assert.Greater(t, reworded, 30)
	assert.Equal(t, string(schema), string(Schema()))
}

func problemsIn(t *testing.T, text string) []Problem {
	t.Helper()
	_, err := Parse("x.yaml", []byte(text))
	var all Errors
	require.ErrorAs(t, err, &all, text)
	return all
}
