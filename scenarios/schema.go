package scenarios

import (
	"slices"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// SchemaURL is where the schema of the format is found, and its name.
const SchemaURL = "https://raw.githubusercontent.com/leakbench/leakbench/main/docs/schema/scenario.schema.json"

type schema = yamlfile.Schema

// Schema is the JSON Schema (draft 2020-12) of the scenario file, for editors. It is made of what the reader reads with. What
// depends on the rest of the file (sessions that are open, faults that contradict each other) no schema can say: Parse does.
func Schema() []byte {
	defs, one := yamlfile.Definitions(), 1
	defs["fault"], defs["order"] = faultSchema(), orderSchema()
	defs["steps"] = &schema{Type: "array", MinItems: &one, Items: &schema{Ref: "#/$defs/step"}}
	defs["step"] = &schema{Type: "object"}
	for _, row := range ops {
		l := Step{Op: row.op}
		step := (&reader{}).written(&l, 0).Describe()
		step.Title, step.Description, step.Type, step.Types = string(row.op), row.text, "object", nil
		step.Required = append(step.Required, string(row.op))
		defs["step-"+string(row.op)] = step
		defs["step"].OneOf = append(defs["step"].OneOf, &schema{Ref: "#/$defs/step-" + string(row.op)})
	}
	return yamlfile.DescribeFile((&reader{}).scenario(&Scenario{}, new([]Step)), SchemaURL, "leakbench scenario",
		"The fake servers and their faults, what the host is asked to do, and when the state must be right.", defs)
}

// faultSchema is a fault of a script.
func faultSchema() *schema {
	moments := slices.DeleteFunc(fakeserver.Names(fakeserver.Moments), func(m string) bool { return m == onOrder })
	s := withRules(faultObject(&fakeserver.Fault{}).Describe(), fieldsOfFaults(), moments)
	describe(s.Properties["on"], fakeserver.Moments, moments)
	return s
}

// orderSchema is what a break step may say: an action's name, or a mapping.
func orderSchema() *schema {
	const text = "an action, or a mapping of one with its values"
	s := withRules(orderObject(&fakeserver.Fault{}).Describe(), fieldsOfOrders(), []string{onOrder})
	s.Description = text
	var alone []string
	for _, action := range fakeserver.Actions {
		if slices.Contains(action.With, onOrder) && action.Needs == "" {
			alone = append(alone, action.Name)
		}
	}
	return &schema{OneOf: []*schema{describe(&schema{Type: "string"}, fakeserver.Actions, alone), s}, Description: text}
}

// withRules says what goes with each action that there is at the moments.
func withRules(s *schema, fields []fakeserver.Field, moments []string) *schema {
	var actions []string
	for _, action := range fakeserver.Actions {
		at := slices.DeleteFunc(slices.Clone(action.With), func(m string) bool { return !slices.Contains(moments, m) })
		if len(at) == 0 {
			continue
		}
		actions = append(actions, action.Name)
		var name any = action.Name
		given := &schema{Properties: map[string]*schema{"do": {Const: &name}}, Required: []string{"do"}}
		s.AllOf = append(s.AllOf, &schema{If: given, Then: rule(action, fields, at, len(at) < len(moments))})
	}
	describe(s.Properties["do"], fakeserver.Actions, actions)
	for _, d := range fields {
		if d.Excludes != "" {
			s.AllOf = append(s.AllOf, &schema{Not: &schema{Required: []string{d.Name, d.Excludes}}})
		}
	}
	return s
}

// rule is what a mapping with this action must be like; at are its moments, and some says that there are others.
func rule(action fakeserver.Doc, fields []fakeserver.Field, at []string, some bool) *schema {
	s := &schema{Properties: map[string]*schema{}}
	if some {
		s.Properties["on"] = yamlfile.OneOf(at)
	}
	for _, d := range fields {
		goes := slices.DeleteFunc(slices.Clone(at), func(m string) bool { return !d.GoesWith(action.Name, m) })
		switch {
		case len(goes) == 0:
			s.Properties[d.Name] = yamlfile.None()
		case len(goes) < len(at):
			then := &schema{Properties: map[string]*schema{"on": yamlfile.OneOf(goes)}}
			s.AllOf = append(s.AllOf, &schema{If: &schema{Required: []string{d.Name}}, Then: then})
		case action.Needs == d.Name:
			s.Required = []string{d.Name}
		}
	}
	return s
}

// describe puts the docs of moments or actions beside their names, in the way that editors show them.
func describe(s *schema, docs []fakeserver.Doc, only []string) *schema {
	var says []string
	for _, d := range docs {
		if slices.Contains(only, d.Name) {
			says = append(says, d.Text)
		}
	}
	s.Enum, s.Extra = yamlfile.OneOf(only).Enum, map[string]any{"enumDescriptions": says}
	return s
}
