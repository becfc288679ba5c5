package scenarios

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/scenario.schema.json"

// Schema is the JSON Schema (draft 2020-12) of the scenario file, for editors.
// It is what the reader asks for, place by place. What depends on the rest of
// the file (sessions that are open, faults that contradict each other) no
// schema can say: Parse does.
func Schema() []byte {
	root := yamlfile.DescribeFile(scenarioShape(), SchemaURL, "leakbench scenario", textOf)
	root["description"] = texts[""]
	defs := yamlfile.Object{
		"name":  yamlfile.NameSchema(),
		"time":  yamlfile.TimeSchema(),
		"fault": faultSchema(),
		"order": orderSchema(),
		"steps": yamlfile.Object{"type": "array", "minItems": 1, "items": yamlfile.Object{"$ref": "#/$defs/step"}},
	}
	var all []any
	for _, op := range ops {
		step := yamlfile.Describe(stepShape(op), op, textOf)
		step["title"], step["type"] = op, "object"
		if text := texts[op]; text != "" {
			step["description"] = text
		}
		defs["step-"+op] = step
		all = append(all, yamlfile.Object{"$ref": "#/$defs/step-" + op})
	}
	defs["step"] = yamlfile.Object{"type": "object", "oneOf": all}
	root["$defs"] = defs
	return yamlfile.EncodeSchema(root)
}

// described puts the docs of moments or deeds beside their names, in the way
// that editors show them.
func described(o yamlfile.Object, docs []fakeserver.Doc, only []string) yamlfile.Object {
	var names, says []string
	for _, d := range docs {
		if only == nil || slices.Contains(only, d.Name) {
			names, says = append(names, d.Name), append(says, d.Text)
		}
	}
	o["enum"], o["enumDescriptions"] = names, says
	return o
}
