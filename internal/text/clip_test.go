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
