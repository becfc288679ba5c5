package bisect

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBetween(t *testing.T) {
	t.Parallel()
	all := []string{"1", "2", "3", "4"}
	for _, c := range []struct{ good, bad, want, err string }{
		{"1", "3", "1 2 3", ""},
		{"4", "2", "4 3 2", ""},
		{"2", "2", "", "the good version is the bad one"},
		{"9", "2", "", `the registry has no version "9"`},
		{"2", "9", "", `the registry has no version "9"`},
	} {
		got, err := Between(all, c.good, c.bad)
		if c.err != "" {
			require.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, strings.Join(got, " "))
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, all)
}

// TestSearch: each letter is a version: g is good, b bad, s can't be decided, e fails.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		versions, good, bad, skipped string
		tried                        string
		err                          string
	}{
		{"gb", "0", "1", "", "1 0", ""},
		{"gggbbbbb", "2", "3", "", "7 0 3 1 2", ""},
		{"gbbbbbbbbbbbbbbb", "0", "1", "", "15 0 7 3 1", ""},
		{"ggggggggggggggggb", "15", "16", "", "16 0 8 12 14 15", ""},
		{"ggssbb", "1", "4", "2,3", "5 0 2 3 1 4", ""},
		{"gsssb", "0", "4", "1,2,3", "4 0 2 1 3", ""},
		{"gsgsbb", "2", "4", "3", "5 0 2 3 4", ""},
		{"bb", "0", "1", "", "1 0", "an end of the range is not as stated: 0 should be good, and is bad"},
		{"gg", "0", "1", "", "1", "an end of the range is not as stated: 1 should be bad, and is good"},
		{"gs", "0", "1", "", "1", "an end of the range is not as stated: 1 should be bad, and is skip"},
		{"geb", "0", "2", "1", "2 0", "interrupted"},
		{"ge", "0", "1", "", "", "interrupted"},
	} {
		var versions []string
		for i := range c.versions {
			versions = append(versions, strconv.Itoa(i))
		}
		seen := map[string]bool{}
		got, err := Search(versions, func(v string) (Try, error) {
			assert.False(t, seen[v], "%s: %s is tried twice", c.versions, v)
			seen[v] = true
			letter := c.versions[slices.Index(versions, v)]
			if letter == 'e' {
				return Try{}, errors.New("interrupted")
			}
			return Try{Version: v, Outcome: map[byte]Outcome{'g': Good, 'b': Bad, 's': Skip}[letter]}, nil
		})
		if c.err != "" {
			require.EqualError(t, err, c.err, c.versions)
		} else {
			require.NoError(t, err, c.versions)
		}
		assert.Equal(t, []string{c.good, c.bad}, []string{got.LastGood, got.FirstBad}, c.versions)
		if c.err == "" {
			assert.Equal(t, c.skipped, strings.Join(got.Skipped, ","), c.versions)
		}
		var tried []string
		for _, try := range got.Tries {
			tried = append(tried, try.Version)
		}
		assert.Equal(t, c.tried, strings.Join(tried, " "), c.versions)
	}
}

// TestOutcome: the bad end says what is looked for, less what the good end shows, too.
func TestOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		law  string
		runs []string // what each version shows, "?" where its run is not decided
		want string
	}{
		"the bad end, the good end": {"", []string{"L2 escaped", ""}, "bad good"},
		"what both show":            {"", []string{"L1 late,L2 escaped", "L1 late", "L1 late", "L2 escaped"}, "bad good good bad"},
		"nothing else":              {"", []string{"L1 late", "L1 late"}, "bad bad"},
		"nothing":                   {"", []string{"", ""}, "good good"},
		"one law":                   {"L2", []string{"L1 late,L2 escaped", "L1 late", "L2 deaf", "L2 escaped"}, "bad good good bad"},
		"a law that is kept":        {"L3", []string{"L1 late"}, "good"},
		"not decided":               {"", []string{"L2 escaped", "", "?", "L2 escaped,?"}, "bad good skip bad"},
	} {
		p := Player{Law: c.law}
		var got []string
		for _, shows := range c.runs {
			all := strings.Split(shows, ",")
			all = slices.DeleteFunc(all, func(s string) bool { return s == "" || s == "?" })
			got = append(got, string(p.outcome(all, !strings.Contains(shows, "?"))))
		}
		assert.Equal(t, c.want, strings.Join(got, " "), name)
	}
}
