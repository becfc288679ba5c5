package text_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/text"
)

// TestCommand: what cmd.exe, PowerShell and a POSIX shell all take apart alike is in double quotes.
func TestCommand(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"plain": "plain", "": "''", `runs\x.yaml`: `"runs\x.yaml"`, `C:\Users\Zoë B\x.yaml`: `"C:\Users\Zoë B\x.yaml"`, "two words": `"two words"`,
		"{{server}}": "'{{server}}'", "$HOME a": "'$HOME a'", `ends \`: `'ends \'`, `\\server\share`: `'\\server\share'`, `say "x"`: `'say "x"'`, "it's": `'it'\''s'`,
	} {
		assert.Equal(t, want, text.Command([]string{word}))
	}
	assert.Equal(t, `'two words'`, text.Shell([]string{"two words"}))
}
