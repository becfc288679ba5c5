package known

import "github.com/leakbench/leakbench/internal/yamlfile"

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/known.schema.json"

// Schema is the JSON Schema (draft 2020-12) of a list of known findings, for
// editors. It is made of what the reader reads with. That a finding is listed
// twice no schema can say: Parse does.
func Schema() []byte {
	return yamlfile.DescribeFile(list(new([]Entry)), SchemaURL, "leakbench known findings",
		"Findings that a project lives with for now: docs/gate.md", nil)
}
