package yamlfile

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/text"
)

// The methods of node read a value as what the format wants there. A value
// that is something else becomes a problem and reads as zero, so that the
// reader can go on and find the next problem. A nil node is a key that is not
// there: it reads as zero and is no problem.

// MaxTime is the longest time that a scenario may ask for.
const MaxTime = time.Hour

// Problem notes what is wrong with the node.
func (n *Node) Problem(format string, args ...any) {
	n.Add(n.Line, n.Column, format, args...)
}

// wanted notes that the value is of the wrong kind.
func (n *Node) wanted(what string) {
	switch n.Kind {
	case KindNothing:
		n.Problem("nothing is given here; it must be %s", what)
	case KindMapping, KindList:
		n.Problem("this must be %s, not %s", what, n.Kind)
	default:
		n.Problem("this must be %s, not %s (%s)", what, Clip(n.Source), n.Kind)
	}
}

// Clip shortens what a file says for a message.
func Clip(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "..."
	}
	return s
}

// Text is any text; of a block the space around it is left out.
func (n *Node) Text(what string) string {
	if n == nil {
		return ""
	}
	if n.Shape.is("string", what) {
		return ""
	}
	s, ok := n.Scalar.(string)
	if !ok {
		n.wanted(what)
	}
	return strings.TrimSpace(s)
}

// Verbatim is any text as it stands.
func (n *Node) Verbatim(what string) string {
	if n == nil || n.Shape.is("string", what) {
		return ""
	}
	s, ok := n.Scalar.(string)
	if !ok {
		n.wanted(what)
	}
	return s
}

// Argument is text that may be empty, and that may be written as a number: an
// argument of a command line, or the value of a variable.
func (n *Node) Argument(what string) string {
	if n == nil {
		return ""
	}
	if n.Shape != nil {
		n.Alternatives(func(n *Node) { n.Shape.is("string", what) }, func(n *Node) { n.Shape.is("number", what) })
		return ""
	}
	switch v := n.Scalar.(type) {
	case string:
		return v
	case int64, uint64, float64:
		return n.Source
	}
	n.wanted(what)
	return ""
}

// Free is a mapping with any keys and values.
func (n *Node) Free(what string) map[string]any {
	if n == nil || n.Shape.is("object", what) {
		return nil
	}
	if n.Kind != KindMapping {
		n.wanted(what + ", a mapping of keys to values")
		return nil
	}
	m, _ := n.Plain().(map[string]any)
	return m
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

// Is reports the kind; a node that is not there is of none.
func (n *Node) Is(k Kind) bool { return n != nil && n.Kind == k }

// OneLine is text without a line break.
func (n *Node) OneLine(what string, most int) string {
	if n == nil {
		return ""
	}
	if n.Shape.is("string", what) {
		n.Shape.Between(1, int64(most))
		return ""
	}
	s := n.Text(what)
	if n.Kind == KindText && (s == "" || strings.Contains(s, "\n") || utf8.RuneCountInString(s) > most) {
		n.Problem("this must be %s: one line of 1 to %d characters", what, most)
	}
	return s
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	maxName  = 40
	nameRule = "small letters, digits and single hyphens, at most 40 characters"
)

// Name is a name of a scenario, a server or a session.
func (n *Node) Name(what string) string {
	if n == nil {
		return ""
	}
	if n.Shape.is("string", what) {
		n.Shape.RefersTo("name")
		return AnyName
	}
	s, ok := n.Scalar.(string)
	switch {
	case !ok:
		n.wanted(what)
	case !nameForm.MatchString(s) || len(s) > maxName:
		n.Problem("%q is no name; %s is written with %s", Clip(s), what, nameRule)
	default:
		return s
	}
	return ""
}

// Choice is one of the allowed words.
func (n *Node) Choice(what string, allowed ...string) string {
	if n == nil {
		return ""
	}
	if n.Shape.is("string", what) {
		n.Shape.Enum = allowed
		return ""
	}
	s, ok := n.Scalar.(string)
	if !ok {
		n.wanted(what + " (" + strings.Join(allowed, ", ") + ")")
		return ""
	}
	if slices.Contains(allowed, s) {
		return s
	}
	n.Problem("%q is not %s; %s", Clip(s), what, MeantOr(s, allowed))
	return ""
}

// MeantOr is "did you mean x?", or else everything that there is.
func MeantOr(s string, allowed []string) string {
	if hint := text.DidYouMean(s, allowed); hint != "" {
		return hint
	}
	return "there is " + strings.Join(allowed, ", ")
}

// Whole is a whole number from least to most.
func (n *Node) Whole(what string, least, most int64) int {
	if n == nil {
		return 0
	}
	if n.Shape.is("integer", what) {
		n.Shape.Between(least, most)
		return 0
	}
	var v int64
	switch got := n.Scalar.(type) {
	case int64:
		v = got
	case uint64:
		v = int64(min(got, 1<<62))
	default:
		n.wanted(what + ", a whole number")
		return 0
	}
	if v < least || v > most {
		n.Problem("%s is %d to %d, not %s", what, least, most, Clip(n.Source))
		return 0
	}
	return int(v)
}

// AnyWhole is a whole number whose range somebody else checks.
func (n *Node) AnyWhole(what string) int { return n.Whole(what, -1<<31, 1<<31-1) }

// Fraction is a number between 0 and 1; that it is, somebody else checks.
func (n *Node) Fraction(what string) float64 {
	if n == nil {
		return 0
	}
	if n.Shape.is("number", what) {
		n.Shape.fraction = true
		return 0
	}
	switch v := n.Scalar.(type) {
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

// Yes is true or false.
func (n *Node) Yes() bool {
	if n == nil {
		return false
	}
	if n.Shape.is("boolean", "true or false") {
		return false
	}
	v, ok := n.Scalar.(bool)
	if !ok {
		n.wanted("true or false")
	}
	return v
}

// Duration is a time of more than 0.
func (n *Node) Duration() record.Duration {
	if n == nil {
		return 0
	}
	if n.Shape.is("string", "a time") {
		n.Shape.RefersTo("time")
		return 0
	}
	s, ok := n.Scalar.(string)
	if !ok {
		n.wanted(`a time like "1.5s" or "200ms"`)
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		n.Problem("%q is no time; write it like 1.5s, 200ms or 2m", Clip(s))
	case d <= 0 || d > MaxTime:
		n.Problem("a time is more than 0 and at most %v, not %s", MaxTime, Clip(s))
	default:
		return record.Duration(d)
	}
	return 0
}

// List gives the items of a list that may not be empty.
func (n *Node) List(what string) []*Node {
	switch {
	case n == nil:
		return nil
	case n.Shape.is("array", what):
		return n.Shape.one()
	case n.Kind != KindList:
		n.wanted(what + ", a list")
	case len(n.items) == 0:
		n.Problem("%s is empty", what)
	}
	return n.items
}

// Plain is the value as JSON would have it. A key that stands there twice is a
// problem.
func (n *Node) Plain() any {
	switch n.Kind {
	case KindMapping:
		m := map[string]any{}
		for _, p := range n.Mapping("this").Pairs {
			m[p.Key.Word()] = p.Value.Plain()
		}
		return m
	case KindList:
		all := []any{}
		for _, item := range n.items {
			all = append(all, item.Plain())
		}
		return all
	}
	if v, ok := n.Scalar.(uint64); ok && v <= math.MaxInt64 {
		return int64(v)
	}
	return n.Scalar
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

// Key returns a key of a mapping itself, or else the mapping.
func (n *Node) Key(key string) *Node {
	for _, p := range n.Pairs {
		if p.Key.Word() == key {
			return p.Key
		}
	}
	return n
}
