// Package redacttest makes secrets to plant, from the shapes that the rules of other scanners state.
package redacttest

import (
	"math/rand/v2"
	"os"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Shape is a row of internal/redact/testdata/services.tsv, which says what its columns are.
type Shape struct {
	Rule, Service string
	Bare          bool
	Form          *syntax.Regexp
}

// Shapes reads the table.
func Shapes(t testing.TB, path string) []Shape {
	t.Helper()
	table, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []Shape
	for line := range strings.SplitSeq(strings.TrimSpace(string(table)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		require.Len(t, cells, 4, line)
		form, err := syntax.Parse(cells[3], syntax.Perl)
		require.NoError(t, err, line)
		out = append(out, Shape{Rule: cells[0], Bare: cells[1] == "bare", Service: cells[2], Form: form})
	}
	return out
}

// Value is a value of the shape at random.
func (s Shape) Value(r *rand.Rand) string { return sample(s.Form, r) }

// sample is a value of a form at random.
func sample(form *syntax.Regexp, r *rand.Rand) string {
	var out strings.Builder
	switch form.Op {
	case syntax.OpLiteral:
		return string(form.Rune)
	case syntax.OpCharClass:
		var all []rune
		for i := 0; i < len(form.Rune); i += 2 {
			for c := form.Rune[i]; c <= form.Rune[i+1]; c++ {
				all = append(all, c)
			}
		}
		return string(all[r.IntN(len(all))])
	case syntax.OpRepeat:
		for range form.Min {
			out.WriteString(sample(form.Sub[0], r))
		}
	case syntax.OpConcat:
		for _, sub := range form.Sub {
			out.WriteString(sample(sub, r))
		}
	default:
		panic(form.String() + ": no part of a shape")
	}
	return out.String()
}
