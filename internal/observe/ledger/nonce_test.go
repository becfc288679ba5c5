package ledger_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/fakeserver/birth"
	"github.com/leakbench/leakbench/internal/observe/ledger"
)

func TestNonceIn(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "17", ledger.NonceIn("slept 3 ms"+birth.NonceMark("17")))
	assert.Equal(t, "17", ledger.NonceIn(birth.NonceMark("17")+"\n"), "a host that adds a line")
	assert.Empty(t, ledger.NonceIn("nonce 17"), "a tool may say so by itself")
	assert.Empty(t, birth.NonceMark(""))
}
