package redact

import (
	_ "embed"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:embed testdata/services.tsv
var servicesFile string

// service is a row of services.tsv.
type service struct {
	rule, name string
	bare       bool
	form       *syntax.Regexp
}

func services(t testing.TB) []service {
	t.Helper()
	var out []service
	for line := range strings.SplitSeq(strings.TrimSpace(servicesFile), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(line, "\t")
		require.Len(t, cells, 4, line)
		form, err := syntax.Parse(cells[3], syntax.Perl)
		require.NoError(t, err, line)
		out = append(out, service{rule: cells[0], bare: cells[1] == "bare", name: cells[2], form: form})
	}
	return out
}

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
func missed(t testing.TB, texts []string, s service) (left []string, all int) {
	r := rand.New(rand.NewPCG(1, uint64(len(s.rule)))) //nolint:gosec // no secret is made
	for _, around := range texts {
		value := sample(s.form, r)
		if slices.Contains(keys, around) && (len(value) < minToken || !strings.ContainsAny(value, "0123456789")) {
			continue
		}
		text := strings.NewReplacer("SECRET", value, "NAME", strings.ToUpper(s.name), "name", s.name, "Name", s.name).Replace(around)
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
	rows := services(t)
	assert.Greater(t, len(rows), 300)
	bare, rowsMissed, texts, all := 0, 0, 0, 0
	for _, s := range rows {
		around := slices.Concat(named, keys)
		if s.bare {
			bare++
			around = anywhere
		}
		left, n := missed(t, around, s)
		texts, all = texts+len(left), all+n
		if len(left) > 0 {
			rowsMissed++
		}
		assert.Empty(t, left, "%s: %s", s.rule, s.form)
	}
	assert.Greater(t, bare, 150)
	t.Logf("of %d shapes, %d are known wherever they stand; of %d texts, %d show a secret", len(rows), len(rows)-rowsMissed, all, texts)
}
