package text_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/text"
)

func TestText(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a?[31mb?c?d é", text.Sanitize("a\x1b[31mb\u202ec\nd é", '?', ""))
	assert.Equal(t, "a\tb\nc?", text.Sanitize("a\tb\nc\r", '?', "\n\t"))
}

func TestName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a\uFFFD[31mb\uFFFDc", text.Name("a\x1b[31mb\nc"))
	assert.Equal(t, "Größe 1", text.Name("Größe 1"))
	assert.Equal(t, strings.Repeat("x", 1024)+"...", text.Name(strings.Repeat("x", 5000)))
}
