package yamlfile

import (
	"regexp"
	"slices"
)

// The JSON Schema is not written beside the reader but taken from it: the
// reader is run over nodes that stand for "whatever is here" and that write
// down what it asks of them. So a key that the reader learns is in the schema.

// Shape is what the reader asked of a place. All methods work on nil, which is
// the shape of every node of a real file.
type Shape struct {
	Kind     string // a type of JSON Schema; "" was not asked for
	what     string // in the reader's words
	Ref      string // the definition that describes it
	Enum     []string
	pattern  string
	least    *int64
	most     *int64 // of a number; characters of a text; items of a list; keys of a mapping
	filled   bool   // a mapping that may not be empty
	Keys     []string
	Children map[string]*Shape
	required []string
	item     *Shape   // of a list; of a mapping whose keys are names
	names    *Shape   // what the names of such a mapping are like
	closed   bool     // no other keys
	inside   bool     // describe the place itself, not by a definition
	fraction bool     // a number between 0 and 1
	either   []*Shape // what the place may be instead of one thing
}

func (s *Shape) is(kind, what string) bool {
	if s == nil {
		return false
	}
	s.Kind, s.what = kind, what
	return true
}

// Like says that the text must match.
func (s *Shape) Like(form *regexp.Regexp) {
	if s != nil {
		s.pattern = form.String()
	}
}

// Between says what a number, or the length of a text, may be.
func (s *Shape) Between(least, most int64) {
	if s != nil {
		s.least, s.most = &least, &most
	}
}

// NotEmpty says that a mapping needs a key.
func (s *Shape) NotEmpty() {
	if s != nil {
		s.filled = true
	}
}

// AtMost says how many items or keys there may be.
func (s *Shape) AtMost(most int64) {
	if s != nil {
		s.most = &most
	}
}

// RefersTo says that the place holds what another definition describes, and
// reports whether there is anything to say it to.
func (s *Shape) RefersTo(definition string) bool {
	if s == nil || s.inside {
		return false
	}
	s.Ref = definition
	return true
}

// Probing says that the node stands for no file: what is asked of it is only
// written down.
func (n *Node) Probing() bool { return n != nil && n.Shape != nil }

// Alternatives writes down that a place may be one of several things.
func (n *Node) Alternatives(reads ...func(*Node)) {
	for _, read := range reads {
		s := &Shape{}
		read(Probe(s))
		n.Shape.either = append(n.Shape.either, s)
	}
}

// Probe is a node that writes down what it is asked for.
func Probe(s *Shape) *Node {
	return &Node{Collector: NewCollector("", nil), Kind: KindNothing, Shape: s}
}

// key is the probe for the value of a key.
func (s *Shape) key(key string) *Node {
	if s.Children == nil {
		s.Children = map[string]*Shape{}
	}
	if s.Children[key] == nil {
		s.Keys = append(s.Keys, key)
		s.Children[key] = &Shape{}
	}
	return Probe(s.Children[key])
}

// Needs says that a key must be there.
func (s *Shape) Needs(key string) {
	if s != nil && !slices.Contains(s.required, key) {
		s.required = append(s.required, key)
	}
}

// one is the probe for the items of a list.
func (s *Shape) one() []*Node {
	s.item = &Shape{}
	return []*Node{Probe(s.item)}
}

// entry is the probe for the keys and values of a mapping whose keys are names.
func (s *Shape) entry() []Pair {
	s.item, s.names = &Shape{}, &Shape{}
	return []Pair{{Key: Probe(s.names), Value: Probe(s.item)}}
}

// AnyName is what a probe reads as where a name is asked for.
const AnyName = "x"

// ShapeOf is what read asks for.
func ShapeOf(read func(*Node)) *Shape {
	s := &Shape{inside: true}
	read(Probe(s))
	return s
}
