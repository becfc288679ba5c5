package redact

import (
	_ "embed"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// planted is what must be nowhere in what is written down.
const planted = "hunter2-Hunter2-hunter2"

//go:embed testdata/shapes.txt
var shapesFile string

// shapes are the ways in which a secret stands in a command line, an environment, a URL, a header, JSON, a form, a
// configuration or a log: a line each, with \n for a line break. HIDDEN stands for the secret.
var shapes = strings.Split(strings.TrimSpace(shapesFile), "\n")

// beginnings need no name: they are known by how they begin.
var beginnings = []string{
	"sk-proj-0123456789abcdefABCDEF", "sk-ant-api03-0123456789abcdef", "sk_live_0123456789abcdefABCD", "ghp_0123456789abcdefghijABCDEFGHIJ012345",
	"github_pat_11ABCDEFG0123456789_abcdefghij", "glpat-0123456789abcdefghij", "xoxb-123456789012-abcdefghijkl", "xapp-1-A0123456789-0123456789-abcdef",
	"AKIAIOSFODNN7EXAMPLE", "AIzaSyA0123456789abcdefghijABCDEFGHIJK", "hf_0123456789abcdefghijABCDEF", "npm_0123456789abcdefghijABCDEFGHIJ012345",
	"pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "ya29.a0AfH6SMBx0123456789abcdef", "dop_v1_0123456789abcdef0123456789abcdef",
	"SG.0123456789abcdefghij.0123456789abcdefghij", "shpat_0123456789abcdef0123456789abcdef", "AGE-SECRET-KEY-1QQPQYSZQGPQYSZQGPQYSZQGP", "whsec_0123456789abcdefABCDEF",
}

// ways are how a text is written down: as one argument, as words of a command line, and as a line of a log.
var ways = map[string]func(string) string{
	"an argument": func(s string) string { return strings.Join(Args([]string{"run", s}), " ") },
	"words":       func(s string) string { return strings.Join(Args(strings.Split(s, " ")), " ") },
	"a log":       Text,
	"in a log":    func(s string) string { return Text("12:00 INFO got " + s + " from it\nnext line") },
}

func TestShapes(t *testing.T) {
	t.Parallel()
	assert.Greater(t, len(shapes)+len(beginnings), 50)
	for way, write := range ways {
		for _, shape := range shapes {
			if way == "words" && (strings.ContainsAny(shape, `{'"\`) || strings.HasPrefix(shape, "-----")) {
				continue // no shell makes such words of it
			}
			if way == "in a log" && strings.Contains(shape, `:\n`) {
				continue // "got credentials:" may be the end of a sentence
			}
			written := write(strings.NewReplacer("HIDDEN", planted, `\n`, "\n").Replace(shape))
			assert.NotContains(t, written, planted, "%s: %s", way, shape)
			assert.Contains(t, written, Mark, "%s: %s", way, shape)
		}
		for _, token := range beginnings {
			for _, before := range []string{"", "key ", "https://example.com/", "x=", `"`} {
				assert.NotContains(t, write(before+token), token, "%s: %s", way, before)
			}
		}
	}
}

// A secret does not hide another one in the same line.
func TestPairsOfShapes(t *testing.T) {
	t.Parallel()
	full := strings.NewReplacer("HIDDEN", planted, `\n`, "\n")
	for i, first := range shapes {
		for k := i % 4; k < len(shapes); k += 4 { // a quarter of the pairs, with each shape in both places
			second := shapes[k]
			for _, between := range []string{" ", ", ", "\n"} {
				if between != "\n" && strings.Contains(second, `\n`) {
					continue // a block of YAML begins its line
				}
				written := Text(full.Replace(first + between + second))
				assert.NotContains(t, written, planted, "%s%s%s", first, between, second)
				assert.Equal(t, written, Text(written), "a second time changes nothing")
			}
		}
	}
}

// A text may end anywhere, and have any bytes.
func TestPartsOfShapes(t *testing.T) {
	t.Parallel()
	full := strings.NewReplacer("HIDDEN", "x", `\n`, "\n") // short: what is counted too far is counted over the end
	for _, shape := range slices.Concat(shapes, beginnings, strings.Split(ordinaryFile, "\n")) {
		whole := full.Replace(shape)
		for at := range len(whole) + 1 {
			for _, part := range []string{whole[:at], whole[at:], whole[:at] + "\xff" + whole[at:]} {
				require.NotPanics(t, func() {
					for _, write := range ways {
						write(part)
					}
				}, "%q", part)
			}
		}
	}
}

//go:embed testdata/ordinary.txt
var ordinaryFile string

// What is no secret stays: a report without it says less.
func TestWhatIsNoSecretStays(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(ordinaryFile), "\n")
	assert.Greater(t, len(lines), 100)
	for _, line := range lines {
		for way, write := range ways {
			if way != "words" {
				assert.Contains(t, write(line), line, way)
			}
		}
	}
}
