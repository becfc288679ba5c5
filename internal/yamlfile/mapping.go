package yamlfile

import (
	"slices"

	"github.com/leakbench/leakbench/internal/lists"
)

// Key is a key of a mapping, and what stands behind it.
type Key struct {
	name  string
	text  string // for editors; "" leaves that to the value
	need  bool
	value Value
}

// May is a key that may be left out.
func May(name, text string, value Value) Key { return Key{name: name, text: text, value: value} }

// Need is a key that must be there.
func Need(name, text string, value Value) Key {
	return Key{name: name, text: text, value: value, need: true}
}

// Object is a mapping with these keys and no others.
func Object(what string, keys ...Key) Value {
	return Value{what, func(n *Node) {
		if !n.IsMapping(what) {
			return
		}
		names := lists.Map(keys, func(k Key) string { return k.name })
		if n.strange(names) {
			return
		}
		for _, k := range keys {
			v := n.Find(k.name)
			if v == nil && k.need {
				n.Problem("%s needs %s", what, k.name)
			}
			k.value.Read(v)
		}
		for _, p := range n.Pairs {
			if key := p.Key.Word(); !slices.Contains(names, key) {
				p.Key.Problem("%s has no %q; %s", what, Clip(key), MeantOr(key, names))
			}
		}
	}, func() *Schema { return describeKeys(keys) }}
}

// Map is a mapping whose keys are names. entry has what stands behind one; for
// the schema it is asked with nil, and a Value of nothing is left unread.
func Map(what string, entry func(key *Node) Value) Value {
	return FreeMap(what, entry).with(func(s *Schema) { s.PropertyNames = refTo("name") })
}

// FreeMap is a mapping whose keys may be anything.
func FreeMap(what string, entry func(key *Node) Value) Value {
	return Value{what, func(n *Node) {
		if !n.IsMapping(what) {
			return
		}
		for _, p := range n.Pairs {
			entry(p.Key).Read(p.Value)
		}
	}, func() *Schema {
		return &Schema{Types: []string{"object", "null"}, AdditionalProperties: entry(nil).Describe()}
	}}
}

// Free is a mapping with any keys and values.
func Free(into *map[string]any, what string) Value {
	return Value{what, func(n *Node) {
		if n.Kind != KindMapping {
			n.wanted(what + aMapping)
			return
		}
		*into, _ = n.Plain().(map[string]any)
	}, func() *Schema { return &Schema{Types: []string{"object", "null"}} }}
}

const aMapping = ", a mapping of keys to values"

// IsMapping reports whether the node can be read key by key, which nothing can
// be too. What it is not, and keys that stand there twice, are problems.
func (n *Node) IsMapping(what string) bool {
	if n.Kind != KindMapping && n.Kind != KindNothing {
		n.wanted(what + aMapping)
		return false
	}
	n.noteTwice()
	return true
}

func (n *Node) noteTwice() {
	seen := map[string]*Node{}
	for _, p := range n.Pairs {
		if first := seen[p.Key.Word()]; first != nil {
			p.Key.Problem("%s appears twice; the first is on line %d", Clip(p.Key.Word()), first.Line)
			continue
		}
		seen[p.Key.Word()] = p.Key
	}
}

// Word is what a key says.
func (n *Node) Word() string {
	if s, ok := n.Scalar.(string); ok {
		return s
	}
	return n.Source
}

func (n *Node) keys() []string {
	return lists.Map(n.Pairs, func(p pair) string { return p.Key.Word() })
}

// Find returns the value of a key, or nil.
func (n *Node) Find(key string) *Node {
	if n == nil {
		return nil
	}
	for _, p := range n.Pairs {
		if p.Key.Word() == key {
			return p.Value
		}
	}
	return nil
}

// Key returns a key of a mapping itself, or else the mapping: where a problem with the key belongs.
func (n *Node) Key(key string) *Node {
	for _, p := range n.Pairs {
		if p.Key.Word() == key {
			return p.Key
		}
	}
	return n
}

// EachText calls f for each text below the node.
func (n *Node) EachText(f func(n *Node, text string)) {
	if n == nil {
		return
	}
	if s, ok := n.Scalar.(string); ok {
		f(n, s)
	}
	for _, item := range n.items {
		item.EachText(f)
	}
	for _, p := range n.Pairs {
		p.Value.EachText(f)
	}
}
