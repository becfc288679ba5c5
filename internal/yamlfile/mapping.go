package yamlfile

import (
	"slices"
	"strings"
)

// Mapping is a node that is read key by key. It remembers what was asked for,
// so that done can tell what nobody asked for.
type Mapping struct {
	*Node
	What  string
	asked []string
}

// Mapping reads the node as a mapping. It never returns nil: what is no
// mapping reads as an empty one.
func (n *Node) Mapping(what string) *Mapping {
	m := &Mapping{Node: n, What: what}
	if n == nil || n.Shape.is("object", what) || n.Kind == KindNothing {
		return m
	}
	if n.Kind != KindMapping {
		n.wanted(what + ", a mapping of keys to values")
		return m
	}
	seen := map[string]*Node{}
	for _, p := range n.Pairs {
		if first := seen[p.Key.Word()]; first != nil {
			p.Key.Problem("%s stands here twice; the first is on line %d", Clip(p.Key.Word()), first.Line)
			continue
		}
		seen[p.Key.Word()] = p.Key
	}
	return m
}

// Word is what a key says.
func (n *Node) Word() string {
	if s, ok := n.Scalar.(string); ok {
		return s
	}
	return n.Source
}

// Get returns the value of a key, or nil.
func (m *Mapping) Get(key string) *Node {
	m.asked = append(m.asked, key)
	if m.Node != nil && m.Shape != nil {
		return m.Shape.key(key)
	}
	return m.Find(key)
}

// Entries are the pairs of a mapping whose keys are names.
func (m *Mapping) Entries() []Pair {
	if m.Node == nil {
		return nil
	}
	if m.Shape != nil {
		return m.Shape.entry()
	}
	return m.Pairs
}

// FreeEntries are the pairs of a mapping whose keys may be anything.
func (m *Mapping) FreeEntries() []Pair {
	if m.Node == nil {
		return nil
	}
	if m.Shape != nil {
		m.Shape.item = &Shape{}
		return []Pair{{Key: Probe(&Shape{}), Value: Probe(m.Shape.item)}}
	}
	return m.Pairs
}

// Need is get for a key that must be there.
func (m *Mapping) Need(key string) *Node {
	v := m.Get(key)
	if m.Node != nil {
		m.Shape.Needs(key)
	}
	if v == nil && m.Node != nil && (m.Kind == KindMapping || m.Kind == KindNothing) {
		m.Problem("%s needs %s", m.What, key)
	}
	return v
}

// At is where a problem with a key belongs: its key, or the mapping.
func (m *Mapping) At(key string) *Node { return m.Key(key) }

// Done notes the keys that nobody asked for.
func (m *Mapping) Done() {
	if m.Node == nil {
		return
	}
	if m.Shape != nil {
		m.Shape.closed = true
	}
	for _, p := range m.Pairs {
		key := p.Key.Word()
		if !slices.Contains(m.asked, key) {
			p.Key.Problem("%s has no %q; %s", m.What, Clip(key), MeantOr(key, m.asked))
		}
	}
}

// Locate notes a problem at the key that the message begins with, or at the
// beginning of the mapping.
func (m *Mapping) Locate(message string) {
	key, _, _ := strings.Cut(strings.SplitN(message, " ", 2)[0], ":")
	m.At(key).Problem("%s", message)
}
