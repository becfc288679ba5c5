package scenarios

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/fakeserver"
)

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/scenario.schema.json"

// object is a JSON Schema, or a part of one.
type object = map[string]any

// Schema is the JSON Schema (draft 2020-12) of the scenario file, for editors.
// It is what the reader asks for, place by place. What depends on the rest of
// the file (sessions that are open, faults that contradict each other) no
// schema can say: Parse does.
func Schema() []byte {
	root := describe(scenarioShape(), "")
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["$id"] = SchemaURL
	root["title"] = "leakbench scenario"
	root["description"] = texts[""]
	root["type"] = "object"
	defs := object{
		"name":  object{"type": "string", "pattern": nameForm.String(), "maxLength": maxName, "description": nameRule},
		"time":  timeSchema(),
		"fault": faultSchema(),
		"order": orderSchema(),
		"steps": object{"type": "array", "minItems": 1, "items": object{"$ref": "#/$defs/step"}},
	}
	var all []any
	for _, op := range ops {
		step := describe(stepShape(op), op)
		step["title"], step["type"] = op, "object"
		if text := texts[op]; text != "" {
			step["description"] = text
		}
		defs["step-"+op] = step
		all = append(all, object{"$ref": "#/$defs/step-" + op})
	}
	defs["step"] = object{"type": "object", "oneOf": all}
	root["$defs"] = defs
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(root) // maps, slices, texts and numbers: it can't fail
	return b.Bytes()
}

// timeSchema is what time.ParseDuration takes and is more than 0.
func timeSchema() object {
	const number, unit = `([0-9]+(\.[0-9]*)?|\.[0-9]+)`, `(ns|us|µs|μs|ms|s|m|h)`
	return object{
		"type": "string", "pattern": `^\+?(` + number + unit + `)+$`, "allOf": []any{object{"pattern": "[1-9]"}},
		"description": "a time: 200ms, 1.5s or 2m; more than 0 and at most one hour",
		"examples":    []any{"200ms", "1.5s", "2m"},
	}
}

// describe turns a shape into a schema. path is where it stands, for its text.
func describe(s *shape, path string) object {
	o := object{}
	if text := textOf(path, s.what); text != "" {
		o["description"] = text
	}
	if s.ref != "" {
		o["$ref"] = "#/$defs/" + s.ref
		return o
	}
	o["type"] = s.kind
	switch s.kind {
	case "string":
		put(o, "enum", s.enum != nil, s.enum)
		put(o, "pattern", s.pattern != "", s.pattern)
		bounds(o, s, "minLength", "maxLength")
	case "integer":
		bounds(o, s, "minimum", "maximum")
	case "number":
		o["exclusiveMinimum"], o["exclusiveMaximum"] = 0, 1
	case "array":
		o["items"] = describe(s.item, path+"[]")
		o["minItems"] = 1
		put(o, "maxItems", s.most != nil, s.most)
	case "object":
		s.describeKeys(o, path)
	}
	return o
}

func (s *shape) describeKeys(o object, path string) {
	properties := object{}
	for _, key := range s.keys {
		properties[key] = describe(s.children[key], strings.TrimPrefix(path+"."+key, "."))
	}
	put(o, "properties", len(properties) > 0, properties)
	put(o, "required", len(s.required) > 0, s.required)
	put(o, "additionalProperties", s.closed, false)
	if s.item != nil {
		o["additionalProperties"] = describe(s.item, path+".*")
		o["propertyNames"] = object{"$ref": "#/$defs/" + s.names.ref}
	}
	put(o, "minProperties", s.filled, 1)
	put(o, "maxProperties", s.most != nil, s.most)
	// The reader takes a key without a value for an empty mapping.
	put(o, "type", len(s.required) == 0 && !s.filled, []string{"object", "null"})
}

func put(o object, key string, really bool, value any) {
	if really {
		o[key] = value
	}
}

func bounds(o object, s *shape, least, most string) {
	put(o, least, s.least != nil && *s.least > -1<<31, s.least)
	put(o, most, s.most != nil && *s.most < 1<<31-1, s.most)
}

// described puts the docs of moments or deeds beside their names, in the way
// that editors show them.
func described(o object, docs []fakeserver.Doc, only []string) object {
	var names, says []string
	for _, d := range docs {
		if only == nil || slices.Contains(only, d.Name) {
			names, says = append(names, d.Name), append(says, d.Text)
		}
	}
	o["enum"], o["enumDescriptions"] = names, says
	return o
}
