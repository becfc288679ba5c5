package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/driver"
)

// FuzzQuote: nothing that is quoted steers a terminal.
func FuzzQuote(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n\r\rlast\x1b[2J"))
	f.Fuzz(func(t *testing.T, in []byte) {
		require.NotContains(t, driver.Quote(in), "\x1b")
	})
}
