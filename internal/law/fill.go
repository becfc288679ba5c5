package law

import (
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// Values are what a template has slots for.
type Values map[string]string

// Fill fills a template in, for n processes: {label} is a value, {n server} is n with its noun, and of {is|are} one goes with n.
func Fill(template string, n int, values Values) string {
	var b strings.Builder
	for {
		before, slot, found := strings.Cut(template, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		slot, template, _ = strings.Cut(slot, "}")
		one, many, choice := strings.Cut(slot, "|")
		switch noun, counted := strings.CutPrefix(slot, "n "); {
		case counted:
			b.WriteString(text.Count(n, noun))
		case choice:
			b.WriteString(text.Choose(n, one, many))
		default:
			b.WriteString(values[slot])
		}
	}
}
