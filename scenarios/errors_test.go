package scenarios_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/internal/yamlfile/yamltest"
	"github.com/leakbench/leakbench/scenarios"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each file of testdata/errors has its messages beside it.
func TestErrors(t *testing.T) {
	t.Parallel()
	yamltest.Errors(t, *update, func(name string, src []byte) error { _, err := scenarios.Parse(name, src); return err }, requirePlaces)
}

// requirePlaces holds each problem against the text: its place is in it, and
// the caret stands under that place.
func requirePlaces(t *testing.T, src []byte, all scenarios.Errors) {
	t.Helper()
	require.NotEmpty(t, all)
	lines := strings.Split(strings.TrimPrefix(string(src), "\uFEFF"), "\n")
	for _, p := range all {
		require.NotEmpty(t, p.Message)
		require.NotContains(t, p.Message, "\n")
		require.NotContains(t, p.String(), "\x1b")
		require.True(t, p.Line >= 1 && p.Line <= len(lines), "line %d of %d", p.Line, len(lines))
		text := strings.TrimSuffix(lines[p.Line-1], "\r")
		require.True(t, p.Column >= 1 && p.Column <= utf8.RuneCountInString(text)+1, "column %d of %q", p.Column, text)
		if p.Snippet == "" {
			continue
		}
		shown, caret, found := strings.Cut(p.Snippet, "\n")
		require.True(t, found)
		at := utf8.RuneCountInString(strings.TrimSuffix(caret, "^"))
		if runes := []rune(shown); at < len(runes) && p.Column <= utf8.RuneCountInString(text) && utf8.ValidString(text) {
			if r := []rune(text)[p.Column-1]; r > ' ' && r < 0x7f {
				require.Equal(t, string(r), string(runes[at]), "the caret under\n%s", p.Snippet)
			}
		}
	}
}

// The place of a problem is counted in characters, whatever stands before it.
// Here ⟪ marks it and is taken out.
func TestPlaces(t *testing.T) {
	t.Parallel()
	const frame = "name: x\ntitle: x\nservers: {one: }\nsteps:\n  - {open: a, server: one}\n"
	for name, src := range map[string]string{
		"plain":                    frame + "  - call: ⟪b\n",
		"after UTF-8":              frame + "  - {call: a, args: {text: \"ünïcödé 漢字 🙂\"}, ⟪tol: echo}\n",
		"a tab":                    frame + "  - {call: a, args: {text: \"ünï⟪\tb\"}}\n",
		"a tab in front":           frame + "⟪\t- {call: a}\n",
		"after a comment":          "# ünïcödé\n" + frame + "  # a remark\n\n  - call: ⟪b # another\n",
		"CRLF":                     strings.ReplaceAll(frame+"  - call: ⟪b\n", "\n", "\r\n"),
		"quoted":                   frame + "  - call: ⟪\"b\"\n",
		"below a long text":        frame + "  - call: a\n    args:\n      text: |\n        one\n        two\n    ⟪tol: echo\n",
		"below a folded text":      "about: >\n  one\n  two\n\n  three\n" + frame + "  - call: ⟪b\n",
		"byte order mark":          "\uFEFF" + frame + "  - call: ⟪b\n",
		"no line break at the end": frame + "  - call: ⟪b",
		"in a flow":                frame + "  - parallel: [[{call: a}], [{call: ⟪b}]]\n",
		"in a long line":           frame + "  - {call: a, args: {text: " + strings.Repeat("ä", 3000) + "}, ⟪tol: echo}\n",
		"across lines":             frame + "  - {call: a, args: {text: \"one\n      two\"}, ⟪tol: echo}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before, after, marked := strings.Cut(src, "⟪")
			require.True(t, marked)
			_, err := scenarios.Parse("x.yaml", []byte(before+after))
			var all scenarios.Errors
			require.ErrorAs(t, err, &all)
			require.Len(t, all, 1, "%v", err)
			before = strings.TrimPrefix(before, "\uFEFF")
			assert.Equal(t, 1+strings.Count(before, "\n"), all[0].Line, "the line of\n%v", err)
			assert.Equal(t, 1+utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:]), all[0].Column, "the column of\n%v", err)
			requirePlaces(t, []byte(before+after), all)
		})
	}
}

// Who gets a file wrong all over is told the first problems, and that there
// are more.
func TestErrorsAreCapped(t *testing.T) {
	t.Parallel()
	_, err := scenarios.Parse("x.yaml", []byte("steps:\n"+strings.Repeat("  - what: now\n", 5000)))
	var all scenarios.Errors
	require.ErrorAs(t, err, &all)
	assert.Len(t, all, 51)
	assert.Equal(t, "and 950 or more from here on", all[50].Message)

	_, err = scenarios.Parse("x.yaml", []byte(strings.Repeat("# x\n", 100_000)))
	assert.ErrorContains(t, err, "x.yaml:1:1: the file is larger than 128 KiB")
}

func TestLoad(t *testing.T) {
	t.Parallel()
	_, err := scenarios.Load(filepath.Join(t.TempDir(), "none.yaml"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = scenarios.Load(t.TempDir())
	require.ErrorContains(t, err, "failed to read the scenario", "not that the file is empty")

	path := filepath.Join(t.TempDir(), "mine.yaml")
	src := "name: mine\ntitle: Mine\nservers: {one: }\nsteps: [{open: a, server: one}]\n"
	require.NoError(t, os.WriteFile(path, []byte(src), 0o600))
	s, err := scenarios.Load(path)
	require.NoError(t, err)
	assert.Equal(t, path, s.File)
	assert.Equal(t, src, s.Source)
	assert.Equal(t, "mine", s.Name)
}
