package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// damages are what can be wrong with a run file, each with the exit code of judging it: lines that no writer writes are
// an error, and a file that lacks lines or contradicts itself is judged up to there.
var damages = []struct {
	name string
	code int
	says string
	do   func(lines []string) string
}{
	{"none", exitFinding, "superseded", func(l []string) string { return strings.Join(l, "") }},
	{"cut to nothing", exitUsage, "the file is empty", func([]string) string { return "" }},
	{"a torn header", exitUsage, "not a whole header", func(l []string) string { return l[0][:40] }},
	{"a header alone", exitInconclusive, "nothing after the header", func(l []string) string { return l[0] }},
	{"torn early", exitInconclusive, "is torn", func(l []string) string { return strings.Join(l[:20], "") + l[20][:9] }},
	{"an early line lost", exitInconclusive, "event 20 is missing", func(l []string) string {
		return strings.Join(l[:20], "") + strings.Join(l[21:], "")
	}},
	{"many lines lost", exitInconclusive, "events 20 to 29 are missing", func(l []string) string {
		return strings.Join(l[:20], "") + strings.Join(l[30:], "")
	}},
	{"no end", exitFinding, "there is no end event", func(l []string) string { return strings.Join(l[:len(l)-1], "") }},
	{"torn at its end", exitFinding, "is torn", func(l []string) string { all := strings.Join(l, ""); return all[:len(all)-3] }},
	{"an unknown kind", exitUsage, `line 21: an event of kind "comet", which this version does not know`, func(l []string) string {
		return replaced(l, 20, `"kind":"[^"]*"`, `"kind":"comet"`)
	}},
	{"no kind", exitUsage, "line 21: an event without a kind", func(l []string) string { return replaced(l, 20, `"kind":"[^"]*",`, "") }},
	{"an event without its payload", exitUsage, "without its", func(l []string) string { return replaced(l, len(l)-1, `,"end":\{.*?\}`, "") }},
	{"a server that was never born", exitInconclusive, "contradicts earlier ones", func(l []string) string {
		return replaced(l, 30, `"kind":.*\}`, `"kind":"bye","server":"nobody#9"}`)
	}},
	{"a line that is none", exitUsage, "line 21: not an event", func(l []string) string { return replaced(l, 20, `^.`, "") }},
	{"zeros", exitUsage, "line 21: not an event", func(l []string) string { return replaced(l, 20, `^.*`, strings.Repeat("\x00", 80)) }},
	{"a line twice", exitUsage, "line 22: event 20 after event 20", func(l []string) string {
		return strings.Join(l[:21], "") + strings.Join(l[20:], "")
	}},
	{"two lines swapped", exitUsage, "after event", func(l []string) string {
		l[20], l[21] = l[21], l[20]
		return strings.Join(l, "")
	}},
	{"a time that runs back", exitUsage, "is earlier than the one before it", func(l []string) string { return replaced(l, 20, `"t":\d+`, `"t":1`) }},
	{"the largest time", exitUsage, "more than a year after the start", func(l []string) string {
		return replaced(l, len(l)-1, `"t":\d+`, `"t":9223372036854775807`)
	}},
	{"two runs", exitUsage, "header of a second run", func(l []string) string { return strings.Repeat(strings.Join(l, ""), 2) }},
	{"something after the end", exitUsage, "an event after the end event", func(l []string) string {
		return strings.Join(l, "") + `{"seq":9999,"t":9999999999999,"kind":"bye","server":"flaky#1"}` + "\n"
	}},
	{"a newer version", exitUsage, "written in a newer format", func(l []string) string { return replaced(l, 0, `"version":1`, `"version":3`) }},
}

func replaced(lines []string, n int, what, by string) string {
	lines[n] = regexp.MustCompile(what).ReplaceAllLiteralString(lines[n], by)
	return strings.Join(lines, "")
}

// TestDamagedRuns: one rule for all damage, and no report that fails where the judge does not, or hangs.
func TestDamagedRuns(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../testdata/runs/storm-naive.jsonl")
	require.NoError(t, err)
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			run := filepath.Join(t.TempDir(), "run.jsonl")
			require.NoError(t, os.WriteFile(run, []byte(d.do(strings.SplitAfter(strings.TrimSuffix(string(text), "\n")+"\n", "\n")[:strings.Count(string(text), "\n")])), 0o600))
			var out, errOut strings.Builder
			assert.Equal(t, d.code, execute([]string{"judge", run}, &out, &errOut), out.String()+errOut.String())
			assert.Contains(t, out.String()+errOut.String(), d.says)
			want := exitClean
			if d.code == exitUsage {
				want = exitUsage
			}
			assert.Equal(t, want, execute([]string{"report", run, "-o", run + ".html"}, &out, &errOut), errOut.String())
		})
	}
}
