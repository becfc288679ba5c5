package scenarios

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/leakbench/leakbench/fakeserver"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

// Which fields go with which deed at which moment only the fake server knows.
// The schema asks it, through the reader, with one example of each.

// faultSchema is a fault of a script.
func faultSchema() yamlfile.Object {
	moments := momentsInScripts()
	o := deedSchema(faultShape(), "fault", func(fields yamlfile.Object) []string {
		return problemsOf(fields, func(n *yamlfile.Node) {
			if f, m, ok := readFault(n); ok {
				checkFault(f, m)
			}
		})
	}, moments)
	properties := o["properties"].(yamlfile.Object)
	properties["on"] = described(properties["on"].(yamlfile.Object), fakeserver.Moments, moments)
	return o
}

// orderSchema is what a break step may say: a deed's name, or a mapping.
func orderSchema() yamlfile.Object {
	check := func(fields yamlfile.Object) []string {
		fields = without(fields, "on")
		return problemsOf(fields, func(n *yamlfile.Node) { readOrder(n) })
	}
	o := deedSchema(orderShape(), "order", check, []string{"order"})
	var alone []string
	for _, deed := range deedsOnOrder() {
		if len(check(yamlfile.Object{"do": deed})) == 0 {
			alone = append(alone, deed)
		}
	}
	name := described(yamlfile.Object{"type": "string"}, fakeserver.Deeds, alone)
	return yamlfile.Object{"oneOf": []any{name, o}, "description": texts["order"]}
}

// momentsInScripts leaves out the moments that no fault of a script can have.
func momentsInScripts() []string {
	var all []string
	for _, m := range fakeserver.Moments {
		if m.Name != "order" {
			all = append(all, m.Name)
		}
	}
	return all
}

// deedSchema is a mapping with do and the fields that go with it. check says
// what the reader finds wrong with one.
func deedSchema(s *yamlfile.Shape, path string, check func(yamlfile.Object) []string, moments []string) yamlfile.Object {
	a := asker{shape: s, check: check, moments: moments}
	a.findRanges()
	o := yamlfile.Describe(s, path, textOf)
	o["type"] = "object"
	properties := o["properties"].(yamlfile.Object)
	deeds, rules := a.deeds()
	properties["do"] = described(properties["do"].(yamlfile.Object), fakeserver.Deeds, deeds)
	rules = append(rules, a.exclusions()...)
	yamlfile.Put(o, "allOf", len(rules) > 0, rules)
	return o
}

// asker finds out by asking.
type asker struct {
	shape   *yamlfile.Shape
	check   func(yamlfile.Object) []string
	moments []string
}

// fields are the keys besides on and do.
func (a asker) fields() []string {
	return slices.DeleteFunc(slices.Clone(a.shape.Keys), func(key string) bool { return key == "on" || key == "do" })
}

// sample is a value that a field may have.
func (a asker) sample(field string) any {
	switch s := a.shape.Children[field]; {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Ref == "time":
		return "1s"
	case s.Kind == "integer":
		return 1
	case s.Kind == "number":
		return 0.5
	case s.Kind == "boolean":
		return true
	}
	return "x"
}

// goes says whether a field goes with a deed at a moment.
func (a asker) goes(field string, value any, deed, moment string) bool {
	return !slices.ContainsFunc(a.check(yamlfile.Object{"on": moment, "do": deed, field: value}), func(problem string) bool {
		return strings.HasPrefix(problem, field+" does not go with") || strings.HasPrefix(problem, field+" is")
	})
}

// needs says whether a deed lacks a field.
func (a asker) needs(field, deed, moment string) bool {
	return slices.ContainsFunc(a.check(yamlfile.Object{"on": moment, "do": deed}), func(problem string) bool {
		return strings.HasPrefix(problem, "do: "+deed+" needs "+field)
	})
}

// deeds are those that there are at the moments, and for each of them what
// goes with it.
func (a asker) deeds() (names []string, rules []any) {
	for _, deed := range fakeserver.Deeds {
		at := slices.DeleteFunc(slices.Clone(deed.With), func(m string) bool { return !slices.Contains(a.moments, m) })
		if len(at) == 0 {
			continue
		}
		names = append(names, deed.Name)
		then := a.with(deed.Name, at)
		if len(then) > 0 {
			rules = append(rules, yamlfile.Object{"if": given("do", deed.Name), "then": then})
		}
	}
	return names, rules
}

// with is what a mapping with this deed must be like.
func (a asker) with(deed string, at []string) yamlfile.Object {
	properties, needed, then := yamlfile.Object{}, []string(nil), yamlfile.Object{}
	if slices.Contains(a.shape.Keys, "on") && len(at) < len(a.moments) {
		properties["on"] = yamlfile.Object{"enum": at}
	}
	var partly []any
	for _, field := range a.fields() {
		goes := slices.DeleteFunc(slices.Clone(at), func(m string) bool { return !a.goes(field, a.sample(field), deed, m) })
		switch {
		case len(goes) == 0:
			properties[field] = false
		case len(goes) < len(at):
			partly = append(partly, yamlfile.Object{"if": yamlfile.Object{"required": []string{field}}, "then": yamlfile.Object{"properties": yamlfile.Object{"on": yamlfile.Object{"enum": goes}}}})
		case a.needs(field, deed, at[0]):
			needed = append(needed, field)
		}
	}
	yamlfile.Put(then, "properties", len(properties) > 0, properties)
	yamlfile.Put(then, "required", len(needed) > 0, needed)
	yamlfile.Put(then, "allOf", len(partly) > 0, partly)
	return then
}

// given is a condition: the key has the value.
func given(key, value string) yamlfile.Object {
	return yamlfile.Object{"properties": yamlfile.Object{key: yamlfile.Object{"const": value}}, "required": []string{key}}
}

// anywhere is a deed and a moment with which a field goes.
func (a asker) anywhere(field string) (deed, moment string, ok bool) {
	for _, d := range fakeserver.Deeds {
		for _, m := range d.With {
			if slices.Contains(a.moments, m) && a.goes(field, a.sample(field), d.Name, m) {
				return d.Name, m, true
			}
		}
	}
	return "", "", false
}

// findRanges finds the least and the greatest value of each number.
func (a asker) findRanges() {
	const limit = 1<<31 - 1
	for _, field := range a.fields() {
		s := a.shape.Children[field]
		deed, moment, ok := a.anywhere(field)
		if s.Kind != "integer" || !ok {
			continue
		}
		fits := func(v int64) bool {
			return len(a.check(a.filled(field, v, deed, moment))) == 0
		}
		least, most := int64(0), int64(limit)
		if !fits(0) {
			least = 1
		}
		if !fits(most) {
			most = int64(sort.Search(limit, func(v int) bool { return v > 0 && !fits(int64(v)) })) - 1
		}
		s.Between(least, most)
	}
}

// filled is a mapping with the field and everything that the deed needs.
func (a asker) filled(field string, value any, deed, moment string) yamlfile.Object {
	o := yamlfile.Object{"on": moment, "do": deed}
	for _, other := range a.fields() {
		if a.needs(other, deed, moment) {
			o[other] = a.sample(other)
		}
	}
	o[field] = value
	return o
}

// exclusions are the pairs of fields of which a mapping may have one.
func (a asker) exclusions() []any {
	var all []any
	fields := a.fields()
	for i, one := range fields {
		deed, moment, ok := a.anywhere(one)
		if !ok {
			continue
		}
		for _, other := range fields[i+1:] {
			o := a.filled(one, a.sample(one), deed, moment)
			o[other] = a.sample(other)
			if slices.ContainsFunc(a.check(o), func(problem string) bool {
				return strings.HasPrefix(problem, one+" and "+other+" exclude each other")
			}) {
				all = append(all, yamlfile.Object{"not": yamlfile.Object{"required": []string{one, other}}})
			}
		}
	}
	return all
}

// problemsOf is what the reader says of a mapping. JSON is YAML.
func problemsOf(fields yamlfile.Object, read func(*yamlfile.Node)) []string {
	text, _ := json.Marshal(fields)
	c := yamlfile.NewCollector("", text)
	if root := yamlfile.ReadTree(text, c, format); root != nil {
		read(root)
	}
	var all []string
	for _, p := range c.Problems {
		all = append(all, p.Message)
	}
	return all
}

func without(o yamlfile.Object, key string) yamlfile.Object {
	kept := yamlfile.Object{}
	for k, v := range o {
		if k != key {
			kept[k] = v
		}
	}
	return kept
}
