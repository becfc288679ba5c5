package yamlfile_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	y "github.com/leakbench/leakbench/internal/yamlfile"
)

var format = y.KindOfFile{Noun: "toy", Doc: "docs/toy.md", Instead: "write it out"}

// toy is a format that has a value of each kind.
type toy struct {
	name, title, about, verbatim, argument string
	size                                   string
	count                                  int
	share                                  float64
	yes                                    bool
	wait                                   time.Duration
	words                                  []string
	known                                  []string
	parts                                  map[string]int
	env                                    map[string]string
	free                                   map[string]any
	drive                                  string
}

var digits = regexp.MustCompile(`^[0-9]+$`)

func (v *toy) value() y.Value {
	v.parts, v.env = map[string]int{}, map[string]string{}
	return y.Object("a toy",
		y.Need("name", "", y.Name(&v.name, "the name of a toy")),
		y.May("title", "one line", y.OneLine(&v.title, "a title", 10)),
		y.May("about", "", y.Text(&v.about, "a text")),
		y.May("digits", "", y.Verbatim(&v.verbatim, "a text").Like(digits)),
		y.May("argument", "", y.Argument(&v.argument, "an argument")),
		y.May("size", "", y.Choice(&v.size, "a size", "small", "medium", "large")),
		y.May("count", "", y.Whole(&v.count, "a count", 1, 9)),
		y.May("share", "", y.Fraction(&v.share, "a share")),
		y.May("yes", "", y.Yes(&v.yes)),
		y.May("wait", "", y.Time(&v.wait)),
		y.May("words", "", y.List(&v.words, "words", func(s *string) y.Value { return y.Text(s, "a word") }).AtMost(3, func(n *y.Node, count int) {
			n.KeyProblem("%d words are too many", count)
		})),
		y.May("known", "", y.List(&v.known, "known", func(s *string) y.Value { return y.Text(s, "a word") }).OrNothing()),
		y.May("parts", "", y.Map("parts", func(key *y.Node) y.Value {
			var name string
			if y.Name(&name, "a part").Read(key); key != nil && name == "" {
				return y.Value{}
			}
			count := 0
			return y.Whole(&count, "a number of parts", 0, 99).Then(func(*y.Node) { v.parts[name] = count })
		}).NotEmpty("parts are empty")),
		y.May("env", "", y.FreeMap("env", func(key *y.Node) y.Value {
			var value string
			return y.Argument(&value, "a value").Then(func(*y.Node) { v.env[key.Word()] = value })
		})),
		y.May("free", "", y.Free(&v.free, "anything")),
		y.May("drive", "how it goes", y.Either(y.Choice(&v.drive, "a drive", "hand"),
			y.Object("drive", y.Need("motor", "", y.Text(&v.drive, "a motor"))))),
	)
}

func read(text string) (toy, error) {
	var v toy
	err := y.Parse("toy.yaml", []byte(text), format, func(root *y.Node) { v.value().Read(root) })
	return v, err
}

func problems(t *testing.T, text string) y.Errors {
	t.Helper()
	_, err := read(text)
	var all y.Errors
	require.ErrorAs(t, err, &all, "%s", text)
	return all
}

func TestReads(t *testing.T) {
	t.Parallel()
	v, err := read("\uFEFF" + `# a toy
name: my-toy
title: One line
about: |
  Some
  text.
digits: "12"
argument: 8080
size: large
count: 0x9
share: 0.5
yes: true
wait: 1.5s
words: [a, "b"]
known:
parts: {left: 0, right: 2}
env: {A: 1, "b c": "", 1.50: x}
free: {n: 1, deep: [1.5, null, {t: true}]}
drive: {motor: V8}
`)
	require.NoError(t, err)
	assert.Equal(t, toy{
		name: "my-toy", title: "One line", about: "Some\ntext.", verbatim: "12", argument: "8080", size: "large", count: 9, share: 0.5, yes: true,
		wait: 1500 * time.Millisecond, words: []string{"a", "b"}, parts: map[string]int{"left": 0, "right": 2},
		env: map[string]string{"A": "1", "b c": "", "1.50": "x"}, drive: "V8",
		free: map[string]any{"n": int64(1), "deep": []any{1.5, nil, map[string]any{"t": true}}},
	}, v)
	v, err = read("{name: x, drive: hand}")
	require.NoError(t, err)
	assert.Equal(t, "hand", v.drive)
}

// TestAllProblems: everything that is wrong is told at once, in the order of
// the file, with the line and a caret under the place.
func TestAllProblems(t *testing.T) {
	t.Parallel()
	_, err := read(`titel: x
about: [1]
size: lage
count: 12
share: much
yes: yes
wait: {2: s}
words: []
parts: {left: -1, Über: 1, left: 2}
env:
  ä: {}
drive: {motr: x}
`)
	assert.EqualError(t, err, `toy.yaml:1:1: a toy needs name
    titel: x
    ^
toy.yaml:1:1: a toy has no "titel"; did you mean title?
    titel: x
    ^
toy.yaml:2:8: this must be a text, not a list
    about: [1]
           ^
toy.yaml:3:7: "lage" is not a size; did you mean large?
    size: lage
          ^
toy.yaml:4:8: a count must be 1 to 9, not 12
    count: 12
           ^
toy.yaml:5:8: this must be a share, a number, not much (text)
    share: much
           ^
toy.yaml:6:6: this must be true or false, not yes (text)
    yes: yes
         ^
toy.yaml:7:7: this must be a time like "1.5s" or "200ms", not a mapping
    wait: {2: s}
          ^
toy.yaml:8:8: words is empty
    words: []
           ^
toy.yaml:9:15: a number of parts must be 0 to 99, not -1
    parts: {left: -1, Über: 1, left: 2}
                  ^
toy.yaml:9:19: "Über" is not a valid name; a part uses small letters, digits and single hyphens, at most 40 characters
    parts: {left: -1, Über: 1, left: 2}
                      ^
toy.yaml:9:28: left appears twice; the first is on line 9
    parts: {left: -1, Über: 1, left: 2}
                               ^
toy.yaml:11:6: this must be a value, not a mapping
      ä: {}
         ^
toy.yaml:12:8: drive needs motor
    drive: {motr: x}
           ^
toy.yaml:12:9: drive has no "motr"; did you mean motor?
    drive: {motr: x}
            ^`)
}

func TestOneProblem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"- name: x":                            "1:1: this must be a toy, a mapping of keys to values, not a list",
		"name:":                                "1:1: a value is missing; it must be the name of a toy",
		"name: x\ncolour: red":                 `2:1: a toy has no "colour"; choose from name, title, about,`,
		"name: x\ntitle: 1234567890":           "2:8: this must be a title, not 1234567890 (a number)",
		"name: x\ntitle: 'ä23456789 1'":        "2:8: this must be a title: one line of 1 to 10 characters",
		"name: x\nwait: 0s":                    "2:7: a duration must be more than 0 and at most 1h, not 0s",
		"name: x\nwait: 61m":                   "2:7: a duration must be more than 0 and at most 1h, not 61m",
		"name: x\nwait: soon":                  `2:7: "soon" is not a duration; write it like 1.5s, 200ms or 2m`,
		"name: x\nwords: [a,b,c,d]":            "2:1: 4 words are too many",
		"name: x\nparts:":                      "2:1: parts are empty",
		"name: x\nparts: {}":                   "2:8: parts are empty",
		"name: x\nsize: 3":                     "2:7: this must be a size (small, medium, large), not 3 (a number)",
		"name: x\ncount: 1.5":                  "2:8: this must be a count, a whole number, not 1.5 (a number)",
		"name: x\ncount: 99999999999999999999": "2:8: ",
		"name: x\nfree: [1]":                   "2:7: this must be anything, a mapping of keys to values, not a list",
		"name: x\ndrive: foot":                 `2:8: "foot" is not a drive; choose from hand`,
		"name: x\nname: y":                     "2:1: name appears twice; the first is on line 1",
		"name: x\nabout: .inf":                 "",
		"name: " + strings.Repeat("a", 41):     `1:7: "` + strings.Repeat("a", 40) + `..." is not a valid name`,
	} {
		_, err := read(text)
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.Len(t, problems(t, text), 1, text)
		assert.ErrorContains(t, err, "toy.yaml:"+want, text)
	}
}

// TestRefused: what no file needs, and what a hostile one may hold.
func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                    "1:1: the file is empty; docs/toy.md has an example to start from",
		"# nothing\n":                         "1:1: the file is empty",
		"name: x\n---\nname: y\n":             "3:1: a second document; a file holds one toy",
		"name: &a x":                          "1:7: anchors, aliases and merge keys are not part of the format; write it out",
		"name: *a":                            "1:7: anchors, aliases",
		"<<: {name: x}":                       "1:1: anchors, aliases",
		"name: !!str x":                       "1:7: tags and directives are not part of the format",
		"name: \tx":                           "1:7: a tab; write spaces",
		"name: \x00":                          "1:7: a control character; this is not a text file",
		"name: \x1b[31mred":                   "1:7: a control character",
		"name: x\u2028y":                      "1:8: a control character",
		"name: a\uFEFF":                       "1:8: a control character",
		"a: 1\rb: 2":                          "1:5: a control character",
		"name: \xff\xfe":                      "1:1: this line is not UTF-8 text",
		"name: [":                             "1:7: this is not YAML: ",
		"name: 'x":                            "1:7: this is not YAML: ",
		strings.Repeat("[", 65):               "1:65: this is nested more than 64 levels deep",
		strings.Repeat("{a: ", 10_000):        "1:257: this is nested more than 64 levels deep",
		strings.Repeat("- ", 65) + "x":        "1:129: this is nested more than 64 levels deep",
		strings.Repeat("# x\n", 32<<10) + "#": "1:1: the file is larger than 128 KiB",
	} {
		name := text[:min(len(text), 40)]
		all := problems(t, text)
		assert.Contains(t, all.Error(), "toy.yaml:"+want, "%q", name)
		for _, p := range all {
			assert.NotContains(t, p.String(), "\x1b", "%q", name)
			assert.True(t, utf8.ValidString(p.String()), "%q", name)
		}
	}
	_, err := read(strings.Repeat("[", 64) + strings.Repeat("]", 64))
	require.ErrorContains(t, err, "this must be a toy", "64 levels are read")
	assert.Less(t, len(problems(t, "name: x\nabout: "+strings.Repeat("ä", 5000)+"\ntitel: "+strings.Repeat("ü", 5000)).Error()), 300)
}

// TestManyProblems: the first ones help, and there is a word on the rest.
func TestManyProblems(t *testing.T) {
	t.Parallel()
	text := "name: x\n"
	for i := range 60 {
		text += fmt.Sprintf("key-%d: 1\n", i)
	}
	all := problems(t, text)
	require.Len(t, all, 51)
	assert.Equal(t, "and 10 more from here on", all[50].Message)
	assert.Equal(t, 52, all[50].Line)
	asJSON, err := json.Marshal(all[0])
	require.NoError(t, err)
	assert.Contains(t, string(asJSON), `"file":"toy.yaml","line":2,"column":1,"message":"a toy has no \"key-0\"`)
}

// TestSchemaSaysTheSame: the schema is made of what the reader reads with, and
// a validator that is not ours takes and refuses by it what the reader does.
func TestSchemaSaysTheSame(t *testing.T) {
	t.Parallel()
	const id = "https://example.org/toy.json"
	text := y.DescribeFile(new(toy).value(), id, "a title", "What a toy is.", y.Definitions())
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource(id, doc))
	schema, err := c.Compile(id)
	require.NoError(t, err)
	for _, field := range []string{
		"", `"title": "x"`, `"title": ""`, `"title": "12345678901"`, `"title": 7`, `"about": "a\nb"`, `"about": null`, `"argument": 3`, `"argument": ""`, `"argument": []`,
		`"size": "small"`, `"size": "huge"`, `"count": 1`, `"count": 0`, `"count": 10`, `"count": "1"`, `"share": 0.5`, `"share": "x"`, `"yes": false`, `"yes": "yes"`,
		`"wait": "1m30s"`, `"wait": "0s"`, `"wait": "1"`, `"wait": 1`, `"words": ["a"]`, `"words": []`, `"words": [1]`, `"words": ["a","b","c","d"]`, `"words": {}`,
		`"known": []`, `"known": null`, `"known": ["a"]`, `"known": {}`, `"parts": {"a": 1}`, `"parts": {}`, `"parts": null`, `"parts": {"A": 1}`, `"parts": {"a": 100}`,
		`"env": {"A B": 1}`, `"env": {}`, `"env": null`, `"env": {"a": []}`, `"free": {"a": [{}]}`, `"free": []`,
		`"drive": "hand"`, `"drive": "foot"`, `"drive": {"motor": "x"}`, `"drive": {}`, `"drive": {"motor": "x", "gear": 1}`, `"nothing": 1`,
	} {
		text := strings.TrimSuffix(`{"name": "x", `+field, ", ") + "}"
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		require.NoError(t, err)
		_, told := read(text)
		held := schema.Validate(v)
		assert.Equal(t, told == nil, held == nil, "%s\nthe reader: %v\nthe schema: %v", text, told, held)
	}
	var all map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	keys := all["properties"].(map[string]any)
	assert.Equal(t, "What a toy is.", all["description"])
	assert.Equal(t, map[string]any{"$ref": "#/$defs/name", "description": "the name of a toy"}, keys["name"])
	assert.Equal(t, "one line", keys["title"].(map[string]any)["description"], "the words of the key come first")
	assert.Equal(t, "^[0-9]+$", keys["digits"].(map[string]any)["pattern"])
	for _, one := range keys["drive"].(map[string]any)["anyOf"].([]any) {
		assert.Equal(t, "how it goes", one.(map[string]any)["description"])
	}
}

// FuzzParse: whatever the text, it is read, or there are problems whose places
// are in it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"name: x", "a: &a *a", "- - -", "? a\n: b", "\uFEFF", "name: |\n x", "{", "'", "\"\\", "...\n", "%YAML 9\n", "a: .nan", "x: \"\\uD800\""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := read(text); err == nil {
			return
		}
		lines := strings.Split(strings.TrimPrefix(text, "\uFEFF"), "\n")
		for _, p := range problems(t, text) {
			require.True(t, p.Line >= 1 && p.Line <= len(lines), "line %d of %d", p.Line, len(lines))
			require.True(t, p.Column >= 1 && p.Column <= utf8.RuneCountInString(lines[p.Line-1])+1)
			require.NotContains(t, p.Message, "\n")
		}
	})
}
