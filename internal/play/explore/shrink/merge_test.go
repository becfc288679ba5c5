package shrink

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ a, b, both string }{
		"two lines go":           {"acde", "abce", "ace"},
		"the same line goes":     {"abce", "abce", "abce"},
		"neighbours":             {"ade", "abcd", "ad"},
		"one goes, one is other": {"bcde", "abcdX", "bcdX"},
		"the same other one":     {"abXde", "abXde", "abXde"},
		"the first and the last": {"Xbcde", "abcdY", "XbcdY"},
		"at one place":           {"abXde", "abYde", ""},
		"nothing is left":        {"ab", "cde", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			split := func(s string) []string { return strings.Split(s, "") }
			both, ok := merge(split("abcde"), split(c.a), split(c.b))
			assert.Equal(t, c.both, strings.Join(both, ""))
			assert.Equal(t, name != "at one place", ok)
		})
	}
}
