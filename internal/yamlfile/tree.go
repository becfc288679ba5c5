// Package yamlfile reads YAML that a person has written: strictly, key by key, with the place of everything that is
// wrong and the line with a caret under it. What the reader asks for is also what its JSON Schema is made of.
package yamlfile

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/leakbench/leakbench/internal/text"
)

const (
	// maxSource is the size of the largest file that is read. The largest built-in one has 2 KiB. The time that the
	// parser takes for a hostile text grows with the square of its size.
	maxSource = 128 << 10
	// maxDepth bounds how deep brackets and dashes may be nested: the parser descends one call per level.
	maxDepth = 64
)

// Kind is what a node of a file is.
type Kind string

// The kinds.
const (
	KindText    Kind = "text"
	kindNumber  Kind = "a number"
	kindBool    Kind = "true or false"
	KindNothing Kind = "nothing"
	KindMapping Kind = "a mapping"
	kindList    Kind = "a list"
)

// Node is a value of a file and the place where it stands.
type Node struct {
	*Collector
	Line, Column int
	Kind         Kind
	Scalar       any    // string, int64, uint64, float64 or bool
	Source       string // of a scalar: as it was written
	items        []*Node
	Pairs        []pair
	key          *Node       // whose value it is, or nil
	of           *KindOfFile // of the root alone
}

// pair is a key of a mapping and its value.
type pair struct{ Key, Value *Node }

// KindOfFile is what messages call a file of a format.
type KindOfFile struct {
	Noun    string // "scenario"
	Doc     string // where the format is described
	Instead string // of anchors: what to do
	// Marks are keys of which a file of this kind has one at least. A file with those of another kind has one problem
	// alone. nil: whatever keys it has, it is one.
	Marks []string
}

// Parse reads a text of a format; file is what messages call it. The error is an
// Errors with all that is wrong, not only the first of it.
func Parse(file string, src []byte, of KindOfFile, read func(root *Node)) error {
	src = bytes.TrimPrefix(src, []byte("\uFEFF"))
	c := newCollector(file, src)
	if len(src) <= maxSource && c.ofAnother(topKeys(src), of) {
		return c.errors()
	}
	if root := readTree(src, c, of); root != nil && !c.ofAnother(root.keys(), of) {
		root.of = &of
		read(root)
	}
	return c.errors()
}

// Source is all of a text, or enough of it for Parse to see that it is too large.
func Source(r io.Reader) ([]byte, error) {
	src, err := io.ReadAll(io.LimitReader(r, maxSource+1))
	if err != nil || len(src) > maxSource {
		return src, err
	}
	return text.Decoded(src), nil
}

// readTree turns YAML into nodes. On nil the problems are in c. YAML features that no file of ours needs are refused rather than
// half supported: anchors and aliases (with which a small file unfolds into a huge one), merge keys, tags and several documents.
func readTree(src []byte, c *Collector, of KindOfFile) (root *Node) {
	if !readable(src, c) {
		return nil
	}
	// The parser is not ours: a text that it trips over is the text's problem.
	defer func() {
		if r := recover(); r != nil {
			c.Add(1, 1, "this is not YAML that can be read: %v", r)
			root = nil
		}
	}()
	tokens := lexer.Tokenize(string(src))
	if !plain(tokens, c, of) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		c.addSyntax(err)
		return nil
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			p := position(doc.Body)
			c.Add(p.Line, p.Column, "a second document; a file holds one %s", of.Noun)
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		c.Add(1, 1, "the file is empty; %s has an example to start from", of.Doc)
		return nil
	}
	return c.convert(body)
}

// readable looks at the text before the parser does.
func readable(src []byte, c *Collector) bool {
	if len(src) > maxSource {
		c.Add(1, 1, "the file is larger than %d KiB", maxSource>>10)
		return false
	}
	ok := true
	refuse := func(line, column int, what string) {
		c.Add(line+1, column+1, "%s", what)
		ok = false
	}
	for i := range c.lines {
		line := c.line(i + 1)
		if at := strings.IndexByte(line, '\t'); at >= 0 {
			// YAML forbids it in some places, and the parser trips over it in others.
			refuse(i, utf8.RuneCountInString(line[:at]), "a tab; write spaces")
		}
		if !utf8.ValidString(line) {
			refuse(i, 0, "this line is not UTF-8 text")
		} else if at := strings.IndexFunc(line, isControl); at >= 0 {
			refuse(i, utf8.RuneCountInString(line[:at]), "a control character; this is not a text file")
		}
	}
	return ok
}

// isControl knows what has no place in a line. A carriage return that ends one
// was taken off before; the parser would take any other for a line's end.
func isControl(r rune) bool {
	return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' || r == '\uFEFF'
}

// plain refuses what the format leaves out of YAML, and what nests too deep.
func plain(tokens token.Tokens, c *Collector, of KindOfFile) bool {
	ok, depth, dashes, line := true, 0, 0, 0
	refuse := func(t *token.Token, format string, args ...any) {
		c.Add(t.Position.Line, t.Position.Column, format, args...)
		ok = false
	}
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			refuse(t, "anchors, aliases and merge keys are not part of the format; %s", of.Instead)
		case token.TagType, token.DirectiveType:
			refuse(t, "tags and directives are not part of the format")
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			dashes++
		}
		if depth > maxDepth || dashes > maxDepth {
			refuse(t, "this is nested more than %d levels deep", maxDepth)
			return false
		}
	}
	return ok
}

// addSyntax notes the one problem that a text which is no YAML has.
func (c *Collector) addSyntax(err error) {
	var at interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &at) && at.GetToken() != nil && at.GetToken().Position != nil {
		p := at.GetToken().Position
		c.Add(p.Line, p.Column, "this is not YAML: %s", at.GetMessage())
		return
	}
	message, _, _ := strings.Cut(err.Error(), "\n")
	c.Add(1, 1, "this is not YAML: %s", message)
}

// convert turns the parser's nodes into ours.
func (c *Collector) convert(from ast.Node) *Node {
	at := position(from)
	n := &Node{Collector: c, Line: at.Line, Column: at.Column}
	switch v := from.(type) {
	case *ast.MappingNode:
		n.Kind = KindMapping
		for _, value := range v.Values {
			n.Pairs = append(n.Pairs, c.convertPair(value))
		}
	case *ast.MappingValueNode:
		n.Kind = KindMapping
		n.Pairs = append(n.Pairs, c.convertPair(v))
	case *ast.SequenceNode:
		n.Kind = kindList
		for _, item := range v.Values {
			n.items = append(n.items, c.convert(item))
		}
	default:
		n.convertScalar(from)
	}
	return n
}

func (c *Collector) convertPair(from *ast.MappingValueNode) pair {
	at := position(from.Key)
	key := &Node{Collector: c, Line: at.Line, Column: at.Column}
	key.convertScalar(from.Key)
	value := c.convert(from.Value)
	value.key = key
	if value.Kind == KindNothing {
		value.Line, value.Column = key.Line, key.Column
	}
	return pair{Key: key, Value: value}
}

func (n *Node) convertScalar(from ast.Node) {
	switch v := from.(type) {
	case *ast.StringNode:
		n.Kind, n.Scalar = KindText, v.Value
	case *ast.LiteralNode:
		n.Kind, n.Scalar = KindText, v.Value.Value
	case *ast.IntegerNode:
		n.Kind, n.Scalar = kindNumber, v.Value
	case *ast.FloatNode:
		n.Kind, n.Scalar = kindNumber, v.Value
	case *ast.BoolNode:
		n.Kind, n.Scalar = kindBool, v.Value
	case *ast.NullNode:
		n.Kind = KindNothing
	default: // .inf, .nan, and keys that are no scalars
		n.Kind, n.Scalar = KindText, from.String()
	}
	n.Source = from.String()
	if t := from.GetToken(); t != nil && n.Kind != KindText {
		n.Source = t.Value
	}
}

// Problem notes what is wrong with the node.
func (n *Node) Problem(format string, args ...any) { n.Add(n.Line, n.Column, format, args...) }

// KeyProblem notes what is wrong with a value at the key that it stands behind.
func (n *Node) KeyProblem(format string, args ...any) { n.key.Problem(format, args...) }

// wanted notes that the value is of the wrong kind.
func (n *Node) wanted(what string) {
	switch n.Kind {
	case KindNothing:
		n.Problem("a value is missing; it must be %s", what)
	case KindMapping, kindList:
		n.Problem("this must be %s, not %s", what, n.Kind)
	default:
		n.Problem("this must be %s, not %s (%s)", what, Clip(n.Source), n.Kind)
	}
}

// Clip shortens what a file says for a message.
func Clip(s string) string { return text.Clip(s, 40, "...") }

// position is where a node begins. The parser's own idea of it is the colon for a block mapping, which nobody would look for.
func position(of ast.Node) token.Position {
	switch v := of.(type) {
	case *ast.MappingNode:
		if !v.IsFlowStyle && len(v.Values) > 0 {
			return position(v.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(v.Key)
	case nil:
		return token.Position{Line: 1, Column: 1}
	}
	if t := of.GetToken(); t != nil && t.Position != nil {
		return *t.Position
	}
	return token.Position{Line: 1, Column: 1}
}
