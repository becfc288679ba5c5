package known

import "github.com/leakbench/leakbench/internal/yamlfile"

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/known.schema.json"

// Schema is the JSON Schema (draft 2020-12) of a list of known findings, for
// editors. It is what the reader asks for, place by place. That a finding is
// listed twice no schema can say: Parse does.
func Schema() []byte {
	root := yamlfile.DescribeFile(yamlfile.ShapeOf(func(n *yamlfile.Node) { readList(n) }), SchemaURL, "leakbench known findings", textOf)
	list := root["properties"].(yamlfile.Object)["known"].(yamlfile.Object)
	list["type"] = []string{"array", "null"} // a list may list nothing
	delete(list, "minItems")
	return yamlfile.EncodeSchema(root)
}

// words are what an editor shows, where the reader's own words do not do.
var words = map[string]string{
	"":                  "Findings that a project lives with for now: docs/gate.md",
	"known":             "one entry for each finding, or for each scenario or law of which all findings are known",
	"known[].finding":   "scenario[:law[:fingerprint]]: a report has the fingerprint; leakbench known update writes the whole entry",
	"known[].host":      "on this host only; on any where nothing is said",
	"known[].expires":   "the last day it is good for, like 2030-01-31: from the next on it fails the gate",
	"known[].sometimes": "not every run shows it, so that it is not stale where one does not",
}

func textOf(path, what string) string {
	if text, ok := words[path]; ok {
		return text
	}
	return what
}
