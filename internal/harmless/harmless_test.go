package harmless_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/harmless"
)

func TestText(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a?[31mb?c?d é", harmless.Text("a\x1b[31mb\u202ec\nd é", '?', ""))
	assert.Equal(t, "a\tb\nc?", harmless.Text("a\tb\nc\r", '?', "\n\t"))
}

func TestName(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a\uFFFD[31mb\uFFFDc", harmless.Name("a\x1b[31mb\nc"))
	assert.Equal(t, "Größe 1", harmless.Name("Größe 1"))
	assert.Equal(t, strings.Repeat("x", 1024)+"...", harmless.Name(strings.Repeat("x", 5000)))
}
