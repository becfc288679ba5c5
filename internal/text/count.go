package text

import (
	"strconv"
	"strings"
)

// Count is a number with its noun: "1 server", "3 servers", "2 processes",
// "4 children".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "child"):
		noun += "ren"
	case strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Choose picks the word that goes with n.
func Choose(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
