package ledger

import (
	"strings"

	"github.com/leakbench/leakbench/fakeserver/birth"
)

// NonceIn is the nonce that a fake server has added to the text of a result, or "".
func NonceIn(text string) string {
	_, nonce, _ := strings.Cut(text, birth.NonceWord)
	return strings.TrimSpace(nonce)
}
