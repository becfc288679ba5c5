package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/text"
)

func TestClip(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in           string
		chars, bytes string
	}{
		{"", "", ""},
		{"abcd", "abcd", "abcd"},
		{"abcde", "abcd…", "abcd…"},
		{"ééé", "ééé", "éé…"},
		{"aééé", "aééé", "aé…"},
		{"aéééé", "aééé…", "aé…"},
		{"日本語です", "日本語で…", "日…"},
		{"\x80\x80\x80\x80\x80", "\x80\x80\x80\x80…", "…"},
	} {
		assert.Equal(t, tt.chars, text.Clip(tt.in, 4, "…"), "%q", tt.in)
		assert.Equal(t, tt.bytes, text.ClipBytes(tt.in, 4, "…"), "%q", tt.in)
	}
	assert.Equal(t, strings.Repeat("é", 64), text.Clip(strings.Repeat("é", 64), 64, "…"))
}

func TestCount(t *testing.T) {
	t.Parallel()
	for want, noun := range map[string]string{"0 servers": "server", "1 server": "server", "2 processes": "process", "3 launches": "launch", "4 children": "child"} {
		assert.Equal(t, want, text.Count(int(want[0]-'0'), noun))
	}
	assert.Equal(t, "is", text.Choose(1, "is", "are"))
	assert.Equal(t, "are", text.Choose(0, "is", "are"))
}

// TestWrapKeepsUnits: a number and its unit stay on one line.
func TestWrapKeepsUnits(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"took", "45.3 s, of 8", "runs"}, text.Wrap("took 45.3 s, of 8 runs", 10, 12))
	assert.Equal(t, []string{"from 1 to", "9 MiB"}, text.Wrap("from 1 to 9 MiB", 12, 12))
}

// TestWidths: a terminal gives two columns to a Chinese character and to an emoji, and none to an accent of its own.
func TestWidths(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"": 0, "storm": 5, "日本語": 6, "🚀 gw": 5, "e\u0301": 1, "✓ – ✗ … █░": 10, "👩‍👩‍👧": 2, "🇯🇵": 2, "⸻": 4} {
		assert.Equal(t, want, text.Width(s), "%q", s)
	}
	for _, c := range []struct {
		s, head, rest string
		columns       int
	}{
		{"storm", "sto", "rm", 3},
		{"日本語", "日", "本語", 3},
		{"a👩‍👩‍👧b", "a", "👩‍👩‍👧b", 2},
		{"e\u0301e", "e\u0301", "e", 1},
		{"日本", "", "日本", 1},
		{"gw", "gw", "", 80},
	} {
		head, rest := text.Split(c.s, c.columns)
		assert.Equal(t, []string{c.head, c.rest}, []string{head, rest}, "%q", c.s)
	}
	assert.Equal(t, []string{"日本語", "ゲート", "ウェイ", "🚀 ok"}, text.Wrap("日本語 ゲートウェイ 🚀 ok", 7, 7))
	assert.Equal(t, []string{"⸻", "⸻", "ab"}, text.Wrap("⸻⸻ ab", 1, 1))
}
