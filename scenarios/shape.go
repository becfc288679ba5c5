package scenarios

import (
	"regexp"
	"slices"
)

// The JSON Schema is not written beside the reader but taken from it: the
// reader is run over nodes that stand for "whatever is here" and that write
// down what it asks of them. So a key that the reader learns is in the schema.

// shape is what the reader asked of a place. All methods work on nil, which is
// the shape of every node of a real file.
type shape struct {
	kind     string // a type of JSON Schema; "" was not asked for
	what     string // in the reader's words
	ref      string // the definition that describes it
	enum     []string
	pattern  string
	least    *int64
	most     *int64 // of a number; characters of a text; items of a list; keys of a mapping
	filled   bool   // a mapping that may not be empty
	keys     []string
	children map[string]*shape
	required []string
	item     *shape // of a list; of a mapping whose keys are names
	names    *shape // what the names of such a mapping are like
	closed   bool   // no other keys
	inside   bool   // describe the place itself, not by a definition
}

func (s *shape) is(kind, what string) bool {
	if s == nil {
		return false
	}
	s.kind, s.what = kind, what
	return true
}

// like says that the text must match.
func (s *shape) like(form *regexp.Regexp) {
	if s != nil {
		s.pattern = form.String()
	}
}

func (s *shape) between(least, most int64) {
	if s != nil {
		s.least, s.most = &least, &most
	}
}

// notEmpty says that a mapping needs a key.
func (s *shape) notEmpty() {
	if s != nil {
		s.filled = true
	}
}

func (s *shape) atMost(most int64) {
	if s != nil {
		s.most = &most
	}
}

// refersTo says that the place holds what another definition describes, and
// reports whether there is anything to say it to.
func (s *shape) refersTo(definition string) bool {
	if s == nil || s.inside {
		return false
	}
	s.ref = definition
	return true
}

// probe is a node that writes down what it is asked for.
func probe(s *shape) *node {
	return &node{collector: newCollector("", nil), kind: kindNothing, shape: s}
}

// key is the probe for the value of a key.
func (s *shape) key(key string) *node {
	if s.children == nil {
		s.children = map[string]*shape{}
	}
	if s.children[key] == nil {
		s.keys = append(s.keys, key)
		s.children[key] = &shape{}
	}
	return probe(s.children[key])
}

func (s *shape) needs(key string) {
	if s != nil && !slices.Contains(s.required, key) {
		s.required = append(s.required, key)
	}
}

// one is the probe for the items of a list.
func (s *shape) one() []*node {
	s.item = &shape{}
	return []*node{probe(s.item)}
}

// entry is the probe for the keys and values of a mapping whose keys are names.
func (s *shape) entry() []pair {
	s.item, s.names = &shape{}, &shape{}
	return []pair{{key: probe(s.names), value: probe(s.item)}}
}

// anyName is what a probe reads as where a name is asked for.
const anyName = "x"

// shapeOf is what read asks for.
func shapeOf(read func(*node)) *shape {
	s := &shape{inside: true}
	read(probe(s))
	return s
}

// stepShape is what the reader asks of a step.
func stepShape(op string) *shape {
	s := &shape{}
	n := probe(s)
	n.kind = kindMapping
	name := &node{collector: n.collector, kind: kindText, scalar: op, source: op, line: 1, column: 1}
	n.pairs = []pair{{key: name, value: probe(&shape{})}}
	r := &reader{labels: []string{anyName}}
	r.step(n, 0)
	s.needs(op)
	return s
}

// scenarioShape is what the reader asks of a file.
func scenarioShape() *shape {
	return shapeOf(func(n *node) { readScenario(n) })
}

func faultShape() *shape { return shapeOf(func(n *node) { readFault(n) }) }

func orderShape() *shape { return shapeOf(func(n *node) { readOrder(n) }) }
