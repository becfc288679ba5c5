package scenarios_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/tier"
	"github.com/leakbench/leakbench/internal/yamlfile/yamltest"
	"github.com/leakbench/leakbench/scenarios"
)

const schemaPath = "../docs/schema/scenario.schema.json"

// The schema that is shipped is the one that the reader has.
func TestSchemaIsFresh(t *testing.T) {
	t.Parallel()
	yamltest.Schema(t, *update, schemaPath, scenarios.Schema())
}

// compiled is the schema in the hands of a validator that is not ours.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(scenarios.Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler() // it holds the schema against draft 2020-12 itself
	require.NoError(t, c.AddResource(scenarios.SchemaURL, doc))
	s, err := c.Compile(scenarios.SchemaURL)
	require.NoError(t, err)
	return s
}

// validate holds YAML against the schema, as an editor does.
func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(text), &v), "%s", text)
	asJSON, err := json.Marshal(v)
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	require.NoError(t, err)
	return s.Validate(doc)
}

func TestSchemaTakesTheBuiltInScenarios(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	for _, name := range scenarios.Names() {
		s, err := scenarios.Builtin(name)
		require.NoError(t, err)
		assert.NoError(t, validate(t, schema, s.Source), name)
	}
	doc, err := os.ReadFile(docPath)
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(doc), -1) {
		assert.NoError(t, validate(t, schema, block[1]))
	}
}

// Each built-in file tells editors where its schema is.
func TestModelines(t *testing.T) {
	t.Parallel()
	const modeline = "# yaml-language-server: $schema=../docs/schema/scenario.schema.json\n"
	for _, name := range scenarios.Names() {
		path := name + ".yaml"
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if *update && !bytes.HasPrefix(text, []byte(modeline)) {
			text = append([]byte(modeline), text...)
			require.NoError(t, os.WriteFile(path, text, 0o644))
		}
		assert.True(t, bytes.HasPrefix(text, []byte(modeline)), "%s does not begin with %q: go test ./scenarios -run TestModelines -update", path, modeline)
	}
}

const schemaFrame = `name: x
title: x
servers:
  one:
steps:
  - {open: a, server: one}
`

func TestSchemaRefuses(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	require.NoError(t, validate(t, schema, schemaFrame))
	for name, text := range map[string]string{
		"no name":           strings.Replace(schemaFrame, "name: x\n", "", 1),
		"no steps":          strings.SplitAfter(schemaFrame, "one:\n")[0],
		"a bad name":        strings.Replace(schemaFrame, "name: x", "name: Über", 1),
		"a long name":       strings.Replace(schemaFrame, "name: x", "name: "+strings.Repeat("x", 41), 1),
		"an empty title":    strings.Replace(schemaFrame, "title: x", "title: ''", 1),
		"a number as title": strings.Replace(schemaFrame, "title: x", "title: 7", 1),
		"an unknown key":    schemaFrame + "colour: red\n",
		"a bad label":       strings.Replace(schemaFrame, "  one:", "  One:", 1),
		"no servers":        strings.Replace(schemaFrame, "servers:\n  one:\n", "servers: {}\n", 1),
		"a bad report":      schemaFrame + "reports: [R1]\n",
		"no reports":        schemaFrame + "reports: []\n",
		"an unknown era":    strings.Replace(schemaFrame, "one:", "one: {era: old}", 1),
		"an unknown limit":  schemaFrame + "limits: {setle: 1s}\n",
		"a number as time":  schemaFrame + "limits: {settle: 1}\n",
		"a time of nothing": schemaFrame + "limits: {settle: 0s}\n",
		"a time with no unit": schemaFrame +
			"limits: {settle: '15'}\n",
		"spawns of 0":         schemaFrame + "limits: {spawns_per_session: 0}\n",
		"an unknown law":      schemaFrame + "limits: {severity: {L99: off}}\n",
		"an unknown severity": schemaFrame + "limits: {severity: {L1: fatal}}\n",
		"an unknown step":     schemaFrame + "  - {opn: a}\n",
		"an empty step":       schemaFrame + "  - {}\n",
		"two steps in one":    schemaFrame + "  - {call: a, close: a}\n",
		"a key of another":    schemaFrame + "  - {close: a, tool: echo}\n",
		"an unknown tool":     schemaFrame + "  - {call: a, tool: ecko}\n",
		"a word for cancel":   schemaFrame + "  - {call: a, cancel: 'yes'}\n",
		"expect of nothing":   schemaFrame + "  - {call: a, expect: maybe}\n",
		"stop of a server":    schemaFrame + "  - {stop: one}\n",
		"break without with":  schemaFrame + "  - {break: a}\n",
		"break with a typo":   schemaFrame + "  - {break: a, with: exti}\n",
		"grow without mib":    schemaFrame + "  - {break: a, with: grow}\n",
		"exit with mib":       schemaFrame + "  - {break: a, with: {do: exit, mib: 5}}\n",
		"a launch for break":  schemaFrame + "  - {break: a, with: {do: exit, launch: 5}}\n",
		"repeat 0 times":      schemaFrame + "  - {repeat: 0, steps: [{call: a}]}\n",
		"repeat no steps":     schemaFrame + "  - {repeat: 2, steps: []}\n",
		"parallel of steps":   schemaFrame + "  - {parallel: [{call: a}]}\n",
		"a tick without jobs": schemaFrame + "  - {tick: {during: [{call: a}]}}\n",
		"a job without server": schemaFrame +
			"  - {tick: {jobs: [{count: 2}]}}\n",
		"a negative live":  schemaFrame + "  - {checkpoint: b, live: {one: -1}}\n",
		"an empty live":    schemaFrame + "  - {checkpoint: b, live: {}}\n",
		"fault no action":  faulty("{on: call}"),
		"a fault no such":  faulty("{on: call, do: dance}"),
		"a fault at order": faulty("{on: order, do: exit}"),
		"action elsewhere": faulty("{on: eof, do: garbage}"),
		"a tool elsewhere": faulty("{on: eof, do: ignore, tool: echo}"),
		"two launches":     faulty("{on: call, do: exit, launch: 2, every: 3}"),
		"a delay for none": faulty("{on: call, do: delay}"),
		"a code of 256":    faulty("{on: call, do: exit, code: 256}"),
		"65537 MiB":        faulty("{on: call, do: grow, mib: 65537}"),
		"a chance of 0":    faulty("{on: call, do: exit, probability: 0}"),
		"a chance of 1.5":  faulty("{on: call, do: exit, probability: 1.5}"),
		"after the end":    faulty("{on: eof, do: ignore, after: 1}"),
		"swell to nothing": faulty("{on: call, do: swell}"),
		"each with calls":  faulty("{on: call, do: swell, mib: 3, each: 1s}"),
		"a chance ordered": schemaFrame + "  - {break: a, with: {do: exit, probability: 0.5}}\n",
		"launch 0":         faulty("{on: call, do: exit, launch: 0}"),
	} {
		_, err := scenarios.Parse("x.yaml", []byte(text))
		require.Error(t, err, "%s: the reader takes it", name)
		assert.Error(t, validate(t, schema, text), "%s: the schema takes it\n%s", name, text)
	}
}

func faulty(fault string) string {
	return strings.Replace(schemaFrame, "  one:", "  one: {faults: ["+fault+"]}", 1)
}

// Of a single fault the schema and the reader say the same, whatever it is made
// of.
func TestSchemaAgreesOnFaults(t *testing.T) {
	t.Parallel()
	schema := compiled(t)
	first := 2 // of the pairs of fields, those with one of the first
	if tier.Plays(tier.Slow) {
		first = 5
	}
	values := []string{"", "mib: 5", "launch: 2", "every: 1", "tool: sleep", "for: 1s", "mib: 65536", "step: 3", "each: 1s", "after: 2", "probability: 0.25", "probability: 1", "code: 3", "code: 255", "code: -1"}
	agreed := map[bool]int{}
	for _, moment := range fakeserver.Moments {
		for _, action := range fakeserver.Actions {
			values := values
			if !slices.Contains(action.With, moment.Name) {
				values = []string{"", "launch: 2"}
			}
			for i, one := range values[:min(first, len(values))] {
				for _, other := range values[i:] {
					if one != "" && strings.SplitN(one, ":", 2)[0] == strings.SplitN(other, ":", 2)[0] {
						continue
					}
					fields := strings.Join(strings.FieldsFunc(fmt.Sprintf("on: %s|do: %s|%s|%s", moment.Name, action.Name, one, other), func(r rune) bool { return r == '|' }), ", ")
					for _, text := range []string{
						strings.Replace(faulty("{"+fields+"}"), "{faults:", "{era: dual, faults:", 1),
						schemaFrame + "  - {break: a, with: {" + strings.Replace(fields, "on: "+moment.Name+", ", "", 1) + "}}\n",
					} {
						_, told := scenarios.Parse("x.yaml", []byte(text))
						held := validate(t, schema, text)
						require.Equal(t, told == nil, held == nil, "%s\nthe reader: %v\nthe schema: %v", text, told, held)
						agreed[told == nil]++
					}
				}
			}
		}
	}
	assert.Greater(t, agreed[true], 100)
	assert.Greater(t, agreed[false], 100)
}

// An editor shows a word on everything that can be written.
func TestSchemaExplainsItself(t *testing.T) {
	t.Parallel()
	var doc any
	require.NoError(t, json.Unmarshal(scenarios.Schema(), &doc))
	seen := 0
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for key, p := range properties {
				says, _ := p.(map[string]any)
				if says == nil || strings.Contains(at, "/allOf/") { // a rule
					continue
				}
				seen++
				assert.NotEmpty(t, says["description"], "%s/%s", at, key)
				assert.True(t, says["type"] != nil || says["$ref"] != nil, "%s/%s: the reader asked for no type", at, key)
			}
			for key, inner := range v {
				walk(at+"/"+key, inner)
			}
		case []any:
			for i, inner := range v {
				walk(fmt.Sprintf("%s/%d", at, i), inner)
			}
		}
	}
	walk("", doc)
	assert.Greater(t, seen, 40)
}
