package hostfile

import (
	"github.com/leakbench/leakbench/internal/subject/host"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/host.schema.json"

// Schema is the JSON Schema (draft 2020-12) of the host file, for editors. It
// is made of what the reader reads with.
func Schema() []byte {
	return yamlfile.DescribeFile(hostObject(&host.Spec{}), SchemaURL, "leakbench host",
		"A host that leakbench can put on the bench: docs/host-file.md", yamlfile.Definitions())
}
