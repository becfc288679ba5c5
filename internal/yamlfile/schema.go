package yamlfile

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/leakbench/leakbench/internal/lists"
)

// Schema is a JSON Schema, or a part of one.
type Schema = jsonschema.Schema

// Describe is the schema of the value, with what the value is called.
func (v Value) Describe() *Schema {
	s := v.schema()
	if s.Description == "" {
		s.Description = v.what
	}
	return s
}

// say describes a place, and what it may be instead of one thing.
func say(s *Schema, text string) {
	s.Description = text
	for _, one := range s.AnyOf {
		one.Description = text
	}
}

// describeKeys is the schema of a mapping with these keys.
func describeKeys(keys []Key) *Schema {
	s := &Schema{Type: "object", Properties: map[string]*Schema{}, AdditionalProperties: None()}
	for _, k := range keys {
		s.Properties[k.name] = k.value.Describe()
		if k.text != "" {
			say(s.Properties[k.name], k.text)
		}
		if k.need {
			s.Required = append(s.Required, k.name)
		}
	}
	if s.Required == nil { // the reader takes a key without a value for an empty mapping
		s.Type, s.Types = "", []string{"object", "null"}
	}
	return s
}

// DescribeFile is the JSON Schema (draft 2020-12) of a whole file, whose value is an object: what the reader reads,
// described by what it reads with. id is where it is found.
func DescribeFile(v Value, id, title, text string, defs map[string]*Schema) []byte {
	s := v.schema()
	s.Schema, s.ID, s.Title, s.Description, s.Defs = "https://json-schema.org/draft/2020-12/schema", id, title, text, defs
	var all any
	short, _ := json.Marshal(s) // schemas, texts and numbers: it can't fail
	_ = json.Unmarshal(short, &all)
	var b bytes.Buffer
	e := json.NewEncoder(&b) // sorts the keys
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(all)
	return b.Bytes()
}

// Definitions are those of names and times, which Name and Time refer to.
func Definitions() map[string]*Schema {
	const number, unit = `([0-9]+(\.[0-9]*)?|\.[0-9]+)`, `(ns|us|µs|μs|ms|s|m|h)`
	most := maxName
	return map[string]*Schema{
		"name": {Type: "string", Pattern: nameForm.String(), MaxLength: &most, Description: nameRule},
		"time": { // what time.ParseDuration takes and is more than 0
			Type: "string", Pattern: `^\+?(` + number + unit + `)+$`, AllOf: []*Schema{{Pattern: "[1-9]"}},
			Description: "a time: 200ms, 1.5s or 2m; more than 0 and at most one hour",
			Examples:    []any{"200ms", "1.5s", "2m"},
		},
	}
}

// Ref is a value that a definition of the schema describes.
func Ref(definition string, v Value) Value {
	v.schema = func() *Schema { return refTo(definition) }
	return v
}

func refTo(definition string) *Schema { return &Schema{Ref: "#/$defs/" + definition} }

// None is the schema that nothing fits.
func None() *Schema { return &Schema{Not: &Schema{}} }

// OneOf is the schema of a text that is one of the words.
func OneOf(words []string) *Schema { return &Schema{Enum: anys(words)} }

// between bounds a whole number; the bounds of 32 bits are none.
func between(s *Schema, least, most int) {
	if low := float64(least); least > math.MinInt32 {
		s.Minimum = &low
	}
	if high := float64(most); most < math.MaxInt32 {
		s.Maximum = &high
	}
}

func typed(kind string) func() *Schema { return func() *Schema { return &Schema{Type: kind} } }

func anys(words []string) []any { return lists.Map(words, func(w string) any { return w }) }
