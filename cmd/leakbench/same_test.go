package main

import (
	"encoding/json"
	"reflect"

	"github.com/rogpeppe/go-internal/testscript"
)

// sameGate checks that two gates have said the same: all but what each run has
// of its own, which is its folder and what its processes happened to measure.
func sameGate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: same-gate FILE FILE")
	}
	type said struct {
		Outcome string
		Exit    struct {
			Code   int
			Reason string
		}
		Gate struct {
			Outcome, Reason string
			Findings        []map[string]any
			Missing         []string
		}
		Runs []struct {
			Scenario, Host, Outcome string
			Seed                    uint64
		}
	}
	read := func(name string) (s said) {
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &s))
		for _, f := range s.Gate.Findings {
			delete(f, "title") // says how many: a leak of a second run may have one more
		}
		return s
	}
	a, b := read(args[0]), read(args[1])
	if len(a.Runs) == 0 || len(a.Gate.Findings) == 0 {
		ts.Fatalf("%s says nothing: %+v", args[0], a)
	}
	if !reflect.DeepEqual(a, b) {
		ts.Fatalf("not the same:\n%+v\n%+v", a, b)
	}
}
