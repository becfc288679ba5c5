package redact

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/leakbench/leakbench/internal/redact/redacttest"
)

// Around a token that is known by itself, SECRET stands for it.
var anywhere = []string{
	"SECRET", "got SECRET from it", "x=SECRET", `{"a":"SECRET","b":1}`, "https://example.com/SECRET/a", "(SECRET)", "a,SECRET,b",
	`line\nSECRET\n`, "\x1b[31mSECRET\x1b[0m", "q=1%3DSECRET%26a", "one SECRET two SECRET", "<SECRET>", "[SECRET]", "my_SECRET",
}

// Around any other, its name stands before it. NAME and name are the service.
var named = []string{
	"NAME_API_KEY=SECRET", "NAME_TOKEN=SECRET", "name_secret: SECRET", `{"nameToken": "SECRET", "port": 80}`, "--name-token SECRET",
	"https://api.name.com/a?apikey=SECRET&b=1",
}

// There are many keys that open nothing. Below one, a value that is short or has no digit stays: {"sortKey": "createdAt"}.
var keys = []string{`{"nameKey": "SECRET", "port": 80}`, "--name-key SECRET", "name.key = 'SECRET'", "X-Name-Key: SECRET"}

// missed is in how many texts of how many a value can be read in one of the ways.
func missed(t testing.TB, texts []string, s redacttest.Shape) (left []string, all int) {
	r := rand.New(rand.NewPCG(1, uint64(len(s.Rule)))) //nolint:gosec // no secret is made
	for _, around := range texts {
		value := s.Value(r)
		if slices.Contains(keys, around) && (len(value) < minToken || !strings.ContainsAny(value, "0123456789")) {
			continue
		}
		text := strings.NewReplacer("SECRET", value, "NAME", strings.ToUpper(s.Service), "name", s.Service, "Name", s.Service).Replace(around)
		for way, write := range ways {
			if way == "words" && strings.ContainsAny(text, "{'") {
				continue // no shell makes such words of it
			}
			all++
			if strings.Contains(write(text), value[max(0, len(value)-10):]) {
				left = append(left, way+": "+around)
			}
		}
	}
	return left, all
}

// What the rules of other scanners know is known here, too.
func TestServices(t *testing.T) {
	t.Parallel()
	rows := redacttest.Shapes(t, "testdata/services.tsv")
	assert.Greater(t, len(rows), 300)
	bare, rowsMissed, texts, all := 0, 0, 0, 0
	for _, s := range rows {
		around := slices.Concat(named, keys)
		if s.Bare {
			bare++
			around = anywhere
		}
		left, n := missed(t, around, s)
		texts, all = texts+len(left), all+n
		if len(left) > 0 {
			rowsMissed++
		}
		assert.Empty(t, left, "%s: %s", s.Rule, s.Form)
	}
	assert.Greater(t, bare, 150)
	t.Logf("of %d shapes, %d are known wherever they stand; of %d texts, %d show a secret", len(rows), len(rows)-rowsMissed, all, texts)
}
