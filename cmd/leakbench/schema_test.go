package main

import (
	"os"

	"github.com/rogpeppe/go-internal/testscript"
	validator "github.com/santhosh-tekuri/jsonschema/v6"
)

// validReport checks that a file is what docs/schema/report.schema.json says, has the
// member that is named, and no member that the schema does not know:
// valid-report gate FILE.
func validReport(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: valid-report MEMBER FILE")
	}
	read := func(name string) any {
		f, err := os.Open(name)
		ts.Check(err)
		defer f.Close()
		v, err := validator.UnmarshalJSON(f)
		ts.Check(err)
		return v
	}
	schema := read(schemaFile)
	closeSchema(schema)
	c := validator.NewCompiler()
	ts.Check(c.AddResource("report.json", schema))
	compiled, err := c.Compile("report.json")
	ts.Check(err)
	object := read(ts.MkAbs(args[1]))
	ts.Check(compiled.Validate(object))
	if object.(map[string]any)[args[0]] == nil {
		ts.Fatalf("%s has no %q", args[1], args[0])
	}
}

const schemaFile = "../../docs/schema/report.schema.json"

// closeSchema lets an object have only the members that are known. The schema
// itself is open, for those that come later.
func closeSchema(v any) {
	switch v := v.(type) {
	case map[string]any:
		if v["properties"] != nil {
			v["additionalProperties"] = false
		}
		for _, inner := range v {
			closeSchema(inner)
		}
	case []any:
		for _, inner := range v {
			closeSchema(inner)
		}
	}
}
