package yamlfile

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Object is a JSON Schema, or a part of one.
type Object = map[string]any

// EncodeSchema is a schema as its file has it.
func EncodeSchema(root Object) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(root) // maps, slices, texts and numbers: it can't fail
	return b.Bytes()
}

// DescribeFile is the JSON Schema (draft 2020-12) of a whole file, whose shape
// is an object. Its id is where it is found.
func DescribeFile(s *Shape, id, title string, texts func(path, what string) string) Object {
	root := Describe(s, "", texts)
	root["$schema"], root["$id"] = "https://json-schema.org/draft/2020-12/schema", id
	root["title"], root["type"] = title, "object"
	return root
}

// NameSchema is what name reads.
func NameSchema() Object {
	return Object{"type": "string", "pattern": nameForm.String(), "maxLength": maxName, "description": nameRule}
}

// TimeSchema is what time.ParseDuration takes and is more than 0.
func TimeSchema() Object {
	const number, unit = `([0-9]+(\.[0-9]*)?|\.[0-9]+)`, `(ns|us|µs|μs|ms|s|m|h)`
	return Object{
		"type": "string", "pattern": `^\+?(` + number + unit + `)+$`, "allOf": []any{Object{"pattern": "[1-9]"}},
		"description": "a time: 200ms, 1.5s or 2m; more than 0 and at most one hour",
		"examples":    []any{"200ms", "1.5s", "2m"},
	}
}

// Describe turns a shape into a schema. path is where it stands, for which
// texts has the words; what the reader calls it is what they fall back to.
func Describe(s *Shape, path string, texts func(path, what string) string) Object {
	o := Object{}
	if text := texts(path, s.what); text != "" {
		o["description"] = text
	}
	if s.Ref != "" {
		o["$ref"] = "#/$defs/" + s.Ref
		return o
	}
	if len(s.either) > 0 {
		var all []any
		for _, one := range s.either {
			all = append(all, Describe(one, path, texts))
		}
		o["anyOf"] = all
		return o
	}
	o["type"] = s.Kind
	switch s.Kind {
	case "string":
		Put(o, "enum", s.Enum != nil, s.Enum)
		Put(o, "pattern", s.pattern != "", s.pattern)
		bounds(o, s, "minLength", "maxLength")
	case "integer":
		bounds(o, s, "minimum", "maximum")
	case "number":
		Put(o, "exclusiveMinimum", s.fraction, 0)
		Put(o, "exclusiveMaximum", s.fraction, 1)
	case "array":
		o["items"] = Describe(s.item, path+"[]", texts)
		o["minItems"] = 1
		Put(o, "maxItems", s.most != nil, s.most)
	case "object":
		s.describeKeys(o, path, texts)
	}
	return o
}

func (s *Shape) describeKeys(o Object, path string, texts func(path, what string) string) {
	properties := Object{}
	for _, key := range s.Keys {
		properties[key] = Describe(s.Children[key], strings.TrimPrefix(path+"."+key, "."), texts)
	}
	Put(o, "properties", len(properties) > 0, properties)
	Put(o, "required", len(s.required) > 0, s.required)
	Put(o, "additionalProperties", s.closed, false)
	if s.item != nil {
		o["additionalProperties"] = Describe(s.item, path+".*", texts)
		Put(o, "propertyNames", s.names != nil, s.names.reference())
	}
	Put(o, "minProperties", s.filled, 1)
	Put(o, "maxProperties", s.most != nil, s.most)
	// The reader takes a key without a value for an empty mapping.
	Put(o, "type", len(s.required) == 0 && !s.filled, []string{"object", "null"})
}

// reference is to the definition that describes the place.
func (s *Shape) reference() Object {
	if s == nil {
		return nil
	}
	return Object{"$ref": "#/$defs/" + s.Ref}
}

// Put sets a key, if really.
func Put(o Object, key string, really bool, value any) {
	if really {
		o[key] = value
	}
}

func bounds(o Object, s *Shape, least, most string) {
	Put(o, least, s.least != nil && *s.least > -1<<31, s.least)
	Put(o, most, s.most != nil && *s.most < 1<<31-1, s.most)
}
