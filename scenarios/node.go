package scenarios

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/suggest"
)

// The methods of node read a value as what the format wants there. A value
// that is something else becomes a problem and reads as zero, so that the
// reader can go on and find the next problem. A nil node is a key that is not
// there: it reads as zero and is no problem.

// maxTime is the longest time that a scenario may ask for.
const maxTime = time.Hour

func (n *node) problem(format string, args ...any) {
	n.add(n.line, n.column, format, args...)
}

// wanted notes that the value is of the wrong kind.
func (n *node) wanted(what string) {
	switch n.kind {
	case kindNothing:
		n.problem("nothing is given here; it must be %s", what)
	case kindMapping, kindList:
		n.problem("this must be %s, not %s", what, n.kind)
	default:
		n.problem("this must be %s, not %s (%s)", what, clip(n.source), n.kind)
	}
}

// clip shortens what a file says for a message.
func clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

func (n *node) text(what string) string {
	if n == nil {
		return ""
	}
	if n.shape.is("string", what) {
		return ""
	}
	s, ok := n.scalar.(string)
	if !ok {
		n.wanted(what)
	}
	return strings.TrimSpace(s)
}

// oneLine is text without a line break.
func (n *node) oneLine(what string, most int) string {
	if n == nil {
		return ""
	}
	if n.shape.is("string", what) {
		n.shape.between(1, int64(most))
		return ""
	}
	s := n.text(what)
	if n.kind == kindText && (s == "" || strings.Contains(s, "\n") || utf8.RuneCountInString(s) > most) {
		n.problem("this must be %s: one line of 1 to %d characters", what, most)
	}
	return s
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	maxName  = 40
	nameRule = "small letters, digits and single hyphens, at most 40 characters"
)

// name is a name of a scenario, a server or a session.
func (n *node) name(what string) string {
	if n == nil {
		return ""
	}
	if n.shape.is("string", what) {
		n.shape.refersTo("name")
		return anyName
	}
	s, ok := n.scalar.(string)
	switch {
	case !ok:
		n.wanted(what)
	case !nameForm.MatchString(s) || len(s) > maxName:
		n.problem("%q is no name; %s is written with %s", clip(s), what, nameRule)
	default:
		return s
	}
	return ""
}

// choice is one of the allowed words.
func (n *node) choice(what string, allowed ...string) string {
	if n == nil {
		return ""
	}
	if n.shape.is("string", what) {
		n.shape.enum = allowed
		return ""
	}
	s, ok := n.scalar.(string)
	if !ok {
		n.wanted(what + " (" + strings.Join(allowed, ", ") + ")")
		return ""
	}
	if slices.Contains(allowed, s) {
		return s
	}
	n.problem("%q is not %s; %s", clip(s), what, meantOr(s, allowed))
	return ""
}

// meantOr is "did you mean x?", or else everything that there is.
func meantOr(s string, allowed []string) string {
	if hint := suggest.DidYouMean(s, allowed); hint != "" {
		return hint
	}
	return "there is " + strings.Join(allowed, ", ")
}

// whole is a whole number from least to most.
func (n *node) whole(what string, least, most int64) int {
	if n == nil {
		return 0
	}
	if n.shape.is("integer", what) {
		n.shape.between(least, most)
		return 0
	}
	var v int64
	switch got := n.scalar.(type) {
	case int64:
		v = got
	case uint64:
		v = int64(min(got, 1<<62))
	default:
		n.wanted(what + ", a whole number")
		return 0
	}
	if v < least || v > most {
		n.problem("%s is %d to %d, not %s", what, least, most, clip(n.source))
		return 0
	}
	return int(v)
}

// anyWhole is a whole number whose range somebody else checks.
func (n *node) anyWhole(what string) int { return n.whole(what, -1<<31, 1<<31-1) }

// fraction is a number between 0 and 1; that it is, somebody else checks.
func (n *node) fraction(what string) float64 {
	if n == nil || n.shape.is("number", what) {
		return 0
	}
	switch v := n.scalar.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	}
	n.wanted(what + ", a number")
	return 0
}

func (n *node) yes() bool {
	if n == nil {
		return false
	}
	if n.shape.is("boolean", "true or false") {
		return false
	}
	v, ok := n.scalar.(bool)
	if !ok {
		n.wanted("true or false")
	}
	return v
}

// duration is a time of more than 0.
func (n *node) duration() record.Duration {
	if n == nil {
		return 0
	}
	if n.shape.is("string", "a time") {
		n.shape.refersTo("time")
		return 0
	}
	s, ok := n.scalar.(string)
	if !ok {
		n.wanted(`a time like "1.5s" or "200ms"`)
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		n.problem("%q is no time; write it like 1.5s, 200ms or 2m", clip(s))
	case d <= 0 || d > maxTime:
		n.problem("a time is more than 0 and at most %v, not %s", maxTime, clip(s))
	default:
		return record.Duration(d)
	}
	return 0
}

// list gives the items of a list that may not be empty.
func (n *node) list(what string) []*node {
	switch {
	case n == nil:
		return nil
	case n.shape.is("array", what):
		return n.shape.one()
	case n.kind != kindList:
		n.wanted(what + ", a list")
	case len(n.items) == 0:
		n.problem("%s is empty", what)
	}
	return n.items
}

// plain is the value as JSON would have it. A key that stands there twice is a
// problem.
func (n *node) plain() any {
	switch n.kind {
	case kindMapping:
		m := map[string]any{}
		for _, p := range n.mapping("args").pairs {
			m[p.key.word()] = p.value.plain()
		}
		return m
	case kindList:
		all := []any{}
		for _, item := range n.items {
			all = append(all, item.plain())
		}
		return all
	}
	if v, ok := n.scalar.(uint64); ok && v <= math.MaxInt64 {
		return int64(v)
	}
	return n.scalar
}

// find returns the value of a key, or nil.
func (n *node) find(key string) *node {
	if n == nil {
		return nil
	}
	for _, p := range n.pairs {
		if p.key.word() == key {
			return p.value
		}
	}
	return nil
}

// key returns a key of a mapping itself, or else the mapping.
func (n *node) key(key string) *node {
	for _, p := range n.pairs {
		if p.key.word() == key {
			return p.key
		}
	}
	return n
}

// mapping is a node that is read key by key. It remembers what was asked for,
// so that done can tell what nobody asked for.
type mapping struct {
	*node
	what  string
	asked []string
}

// mapping reads the node as a mapping. It never returns nil: what is no
// mapping reads as an empty one.
func (n *node) mapping(what string) *mapping {
	m := &mapping{node: n, what: what}
	if n == nil || n.shape.is("object", what) || n.kind == kindNothing {
		return m
	}
	if n.kind != kindMapping {
		n.wanted(what + ", a mapping of keys to values")
		return m
	}
	seen := map[string]*node{}
	for _, p := range n.pairs {
		if first := seen[p.key.word()]; first != nil {
			p.key.problem("%s stands here twice; the first is on line %d", clip(p.key.word()), first.line)
			continue
		}
		seen[p.key.word()] = p.key
	}
	return m
}

// word is what a key says.
func (n *node) word() string {
	if s, ok := n.scalar.(string); ok {
		return s
	}
	return n.source
}

// get returns the value of a key, or nil.
func (m *mapping) get(key string) *node {
	m.asked = append(m.asked, key)
	if m.node != nil && m.shape != nil {
		return m.shape.key(key)
	}
	return m.find(key)
}

// entries are the pairs of a mapping whose keys are names.
func (m *mapping) entries() []pair {
	if m.shape != nil {
		return m.shape.entry()
	}
	return m.pairs
}

// need is get for a key that must be there.
func (m *mapping) need(key string) *node {
	v := m.get(key)
	if m.node != nil {
		m.shape.needs(key)
	}
	if v == nil && m.node != nil && (m.kind == kindMapping || m.kind == kindNothing) {
		m.problem("%s needs %s", m.what, key)
	}
	return v
}

// at is where a problem with a key belongs: its key, or the mapping.
func (m *mapping) at(key string) *node { return m.key(key) }

// done notes the keys that nobody asked for.
func (m *mapping) done() {
	if m.node == nil {
		return
	}
	if m.shape != nil {
		m.shape.closed = true
	}
	for _, p := range m.pairs {
		key := p.key.word()
		if !slices.Contains(m.asked, key) {
			p.key.problem("%s has no %q; %s", m.what, clip(key), meantOr(key, m.asked))
		}
	}
}
