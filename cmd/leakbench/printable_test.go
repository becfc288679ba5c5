package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestNamesDoNotSteerTheTerminal(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"judge", "st\x1b[31mrom"},
		{"run", "e\x1b[31mvil.yaml"},
		{"run", "storm", "--host", "./ho\x1b[31mst"},
		{"--\x1b[31mflag"},
		{"explain", "\u202eL3"},
	} {
		var out, errOut bytes.Buffer
		assert.Equal(t, exitUsage, execute(args, &out, &errOut), "%q", args)
		assert.NotEmpty(t, errOut.String())
		assert.NotContains(t, out.String()+errOut.String(), "\x1b", "%q", args)
		assert.NotContains(t, out.String()+errOut.String(), "\u202e", "%q", args)
	}
}
