package words

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain":                            "plain",
		"naïve – 日本 ✓":                     "naïve – 日本 ✓",
		"\x1b[31mred":                      `\x1b[31mred`,
		"a\u202eb\u200bc\u2066":            `a\u202eb\u200bc\u2066`,
		"one\r\ntwo\tthree\rfour":          `one two three\x0dfour`,
		"bad \xff\xfe utf8":                `bad \xff\xfe utf8`,
		"real \uFFFD":                      "real \uFFFD",
		"c1\u0085 nbsp\u00a0x\U000e0041":   `c1\u0085 nbsp\u00a0x\U000e0041`,
		"z" + strings.Repeat("\u0301", 50): "z\u0301\u0301",
	} {
		assert.Equal(t, want, Clean(in, 100), "%q", in)
	}
	assert.Equal(t, "abc…", Clean("abcdef", 3))
	assert.Equal(t, "a\nb\tc", CleanLines("a\r\nb\tc", 100))
}

// The caps of an embedded struct are those of its fields, however deep.
func TestScrubCapsWhatIsEmbedded(t *testing.T) {
	t.Parallel()
	type Inner struct{ Name, Text string }
	type Middle struct{ Inner }
	view := struct {
		Middle `max:"Name=3"`
		Alone  string `max:"4"`
	}{Middle{Inner{"abcdef", "abcdef"}}, "abcdef"}
	Scrub(&view)
	assert.Equal(t, []string{"abc…", "abcdef", "abcd…"}, []string{view.Name, view.Text, view.Alone})
}

func TestNumbersHaveUnits(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"0", "1 KiB", "6.1 MiB", "2 GiB"}, []string{Size(0), Size(1 << 10), Size(6_396_314), Size(2 << 30)})
	assert.Equal(t, "1 value, 2 servers", Counted(Things{1, "value"}, Things{0, "run"}, Things{2, "server"}))
}
