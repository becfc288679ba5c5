package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/text"
)

// TestDecoded: what PowerShell and Notepad write is read, and anything else stays as it is.
func TestDecoded(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]string{
		"":                                  "",
		"a: ü\r\n":                          "a: ü\r\n",
		"\xef\xbb\xbfa: ü":                  "a: ü",
		"\xff\xfea\x00\xfc\x00\r\x00\n\x00": "aü\r\n",
		"\xfe\xff\x00a\xd8\x3d\xde\x00":     "a😀",
		"\xff\xfe\x3d\xd8a\x00":             "�a",
		"\xff\xfea":                         "\xff\xfea",
		"a\xff\xfe":                         "a\xff\xfe",
	} {
		assert.Equal(t, want, string(text.Decoded([]byte(src))), "%q", src)
	}
}
