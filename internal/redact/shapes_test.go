package redact

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// hidden is what must be nowhere in what is written down.
const hidden = "hunter2-Hunter2-hunter2"

//go:embed testdata/shapes.txt
var shapesFile string

// shapes are the ways in which a secret stands in a command line, an environment, a URL, a header, JSON, a form, a
// configuration or a log: a line each, with \n for a line break. HIDDEN stands for the secret.
var shapes = strings.Split(strings.TrimSpace(shapesFile), "\n")

// tokens need no name: they are known by how they begin.
var tokens = []string{
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
	assert.Greater(t, len(shapes)+len(tokens), 50)
	for way, write := range ways {
		for _, shape := range shapes {
			if way == "words" && (strings.ContainsAny(shape, "{'") || strings.HasPrefix(shape, "-----")) {
				continue // no shell makes such words of it
			}
			written := write(strings.NewReplacer("HIDDEN", hidden, `\n`, "\n").Replace(shape))
			assert.NotContains(t, written, hidden, "%s: %s", way, shape)
			assert.Contains(t, written, Mark, "%s: %s", way, shape)
		}
		for _, token := range tokens {
			for _, before := range []string{"", "key ", "https://example.com/", "x=", `"`} {
				assert.NotContains(t, write(before+token), token, "%s: %s", way, before)
			}
		}
	}
}

// What is no secret stays: a report without it says less.
func TestWhatIsNoSecretStays(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{
		"listening on http://127.0.0.1:8080/mcp", "session tick3.job1 of flaky#2 closed", "max_tokens=4096 tokens used: 12", "--port 8080 --label flaky",
		"error: ENOENT: no such file or directory, open '/home/me/config.json'", "commit 0123456789abcdef0123456789abcdef01234567",
		"https://example.com/services/list?page=2#top", "the password was wrong", "a token is needed", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
	} {
		for way, write := range ways {
			if way != "words" {
				assert.Contains(t, write(plain), plain, way)
			}
		}
	}
}
