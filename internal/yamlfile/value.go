package yamlfile

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/text"
)

// Value is what may stand at a place of a file: how it is read, and its JSON Schema. A value that can't be read
// becomes a problem and leaves what it is read into alone, so that the reader can go on and find the next problem.
type Value struct {
	what   string // in the words of messages; editors see them where a key says nothing else
	read   func(*Node)
	schema func() *Schema
}

// NewValue is a value that none of the others is. what describes it to editors.
func NewValue(what string, read func(*Node), schema func() *Schema) Value {
	return Value{what, read, schema}
}

// Read reads the node; nil is a key that is not there, and no problem.
func (v Value) Read(n *Node) {
	if n != nil && v.read != nil {
		v.read(n)
	}
}

// reading wraps how the value is read.
func (v Value) reading(wrapped func(n *Node, read func(*Node))) Value {
	read := v.read
	v.read = func(n *Node) { wrapped(n, read) }
	return v
}

// Then reads and goes on with what has been read.
func (v Value) Then(next func(*Node)) Value {
	return v.reading(func(n *Node, read func(*Node)) { read(n); next(n) })
}

// Says describes the value to editors in other words than messages have.
func (v Value) Says(text string) Value { return v.with(func(s *Schema) { say(s, text) }) }

// with adds to the schema.
func (v Value) with(add func(*Schema)) Value {
	schema := v.schema
	v.schema = func() *Schema {
		s := schema()
		add(s)
		return s
	}
	return v
}

// Like has the schema ask for the form. What the reader says of a text that has another one is its own business.
func (v Value) Like(form *regexp.Regexp) Value {
	return v.with(func(s *Schema) { s.Pattern = form.String() })
}

// AtMost bounds the items of a list, or the keys of a mapping. Of what has more nothing is read.
func (v Value) AtMost(most int, tooMany func(n *Node, count int)) Value {
	return v.reading(func(n *Node, read func(*Node)) {
		if count := len(n.items) + len(n.Pairs); count > most {
			tooMany(n, count)
			return
		}
		read(n)
	}).with(func(s *Schema) {
		if s.Type == "array" {
			s.MaxItems = &most
		} else {
			s.MaxProperties = &most
		}
	})
}

// NotEmpty refuses a mapping without a key.
func (v Value) NotEmpty(message string) Value {
	one := 1
	return v.reading(func(n *Node, read func(*Node)) {
		if n.Kind == KindNothing || n.Kind == KindMapping && len(n.Pairs) == 0 {
			n.Problem("%s", message)
		}
		read(n)
	}).with(func(s *Schema) { s.Types, s.Type, s.MinProperties = nil, "object", &one })
}

// word is a value that is a text in YAML.
func word(what string, read func(n *Node, s string)) Value {
	return Value{what, func(n *Node) {
		if s, ok := n.Scalar.(string); ok {
			n.noteNUL(s)
			read(n, s)
		} else {
			n.wanted(what)
		}
	}, typed("string")}
}

// Text is any text; of a block the space around it is left out.
func Text(into *string, what string) Value {
	return word(what, func(_ *Node, s string) { *into = strings.TrimSpace(s) })
}

// Verbatim is any text as it stands.
func Verbatim(into *string, what string) Value {
	return word(what, func(_ *Node, s string) { *into = s })
}

// OneLine is text without a line break.
func OneLine(into *string, what string, most int) Value {
	one := 1
	return word(what, func(n *Node, s string) {
		*into = strings.TrimSpace(s)
		if *into == "" || strings.Contains(*into, "\n") || utf8.RuneCountInString(*into) > most {
			n.Problem("this must be %s: one line of 1 to %d characters", what, most)
		}
	}).with(func(s *Schema) { s.MinLength, s.MaxLength = &one, &most })
}

// Argument is text that may be empty, and that may be written as a number: an
// argument of a command line, or the value of a variable.
func Argument(into *string, what string) Value {
	return Value{"", func(n *Node) {
		switch v := n.Scalar.(type) {
		case string:
			n.noteNUL(v)
			*into = v
		case int64, uint64, float64:
			*into = n.Source
		default:
			n.wanted(what)
		}
	}, func() *Schema {
		return &Schema{AnyOf: []*Schema{{Description: what, Type: "string"}, {Description: what, Type: "number"}}}
	}}
}

// noteNUL refuses the character that ends a text in the system's own calls, whatever the text is for.
func (n *Node) noteNUL(s string) {
	if strings.ContainsRune(s, 0) {
		n.Problem("contains a NUL character, which no reader accepts")
	}
}

var nameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

const (
	maxName  = 40
	nameRule = "small letters, digits and single hyphens, at most 40 characters"
)

// Name is a name of a scenario, a server or a session.
func Name(into *string, what string) Value {
	return Ref("name", word(what, func(n *Node, s string) {
		if !nameForm.MatchString(s) || len(s) > maxName {
			n.Problem("%q is not a valid name; %s uses %s", Clip(s), what, nameRule)
		} else {
			*into = s
		}
	}))
}

// Choice is one of the allowed words.
func Choice[W ~string](into *W, what string, allowed ...W) Value {
	words := lists.Map(allowed, func(w W) string { return string(w) })
	return Value{what, func(n *Node) {
		s, ok := n.Scalar.(string)
		switch {
		case !ok:
			n.wanted(what + " (" + strings.Join(words, ", ") + ")")
		case !slices.Contains(words, s):
			n.Problem("%q is not %s; %s", Clip(s), what, MeantOr(s, words))
		default:
			*into = W(s)
		}
	}, func() *Schema { return &Schema{Type: "string", Enum: anys(words)} }}
}

// MeantOr is "did you mean x?", or else everything that there is.
func MeantOr(s string, allowed []string) string {
	if hint := text.DidYouMean(s, allowed); hint != "" {
		return hint
	}
	return "choose from " + strings.Join(allowed, ", ")
}

// Whole is a whole number from least to most.
func Whole(into *int, what string, least, most int) Value {
	return Value{what, func(n *Node) {
		var got int
		switch v := n.Scalar.(type) {
		case int64:
			got = int(v)
		case uint64:
			got = int(min(v, 1<<62))
		default:
			n.wanted(what + ", a whole number")
			return
		}
		if got < least || got > most {
			n.Problem("%s must be %d to %d, not %s", what, least, most, Clip(n.Source))
			return
		}
		*into = got
	}, typed("integer")}.with(func(s *Schema) { between(s, least, most) })
}

// AnyWhole is a whole number whose range somebody else checks; least and most are for the schema, which editors read.
func AnyWhole(into *int, what string, least, most int) Value {
	v := Whole(into, what, math.MinInt32, math.MaxInt32)
	return v.with(func(s *Schema) { between(s, least, most) })
}

// Fraction is a number between 0 and 1; that it is, somebody else checks.
func Fraction(into *float64, what string) Value {
	zero, one := 0.0, 1.0
	return Value{what, func(n *Node) {
		switch v := n.Scalar.(type) {
		case int64:
			*into = float64(v)
		case uint64:
			*into = float64(v)
		case float64:
			*into = v
		default:
			n.wanted(what + ", a number")
		}
	}, typed("number")}.with(func(s *Schema) { s.ExclusiveMinimum, s.ExclusiveMaximum = &zero, &one })
}

// Yes is true or false.
func Yes(into *bool) Value {
	const what = "true or false"
	return Value{what, func(n *Node) {
		v, ok := n.Scalar.(bool)
		if *into = v; !ok {
			n.wanted(what)
		}
	}, typed("boolean")}
}

// MaxTime is the longest time that a file may ask for.
const MaxTime = time.Hour

// Time is a time of more than 0.
func Time[D ~int64](into *D) Value {
	return Ref("time", Value{what: "a time", read: func(n *Node) {
		s, ok := n.Scalar.(string)
		if !ok {
			n.wanted(`a time like "1.5s" or "200ms"`)
			return
		}
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			n.Problem("%q is not a duration; write it like 1.5s, 200ms or 2m", Clip(s))
		case d <= 0 || d > MaxTime:
			n.Problem("a duration must be more than 0 and at most 1h, not %s", Clip(s))
		default:
			*into = D(d)
		}
	}})
}

// List is a list that may not be empty.
func List[T any](into *[]T, what string, item func(*T) Value) Value {
	one := 1
	return Value{what, func(n *Node) {
		if n.Kind != kindList {
			n.wanted(what + ", a list")
		} else if len(n.items) == 0 {
			n.Problem("%s is empty", what)
		}
		for _, i := range n.items {
			var v T
			item(&v).Read(i)
			*into = append(*into, v)
		}
	}, func() *Schema {
		var v T
		return &Schema{Type: "array", Items: item(&v).Describe(), MinItems: &one}
	}}
}

// OneOrMore is a mapping, or a list of them.
func OneOrMore[T any](into *[]T, what string, item func(*T) Value) Value {
	many := List(into, what, item)
	return Value{"", func(n *Node) {
		if n.Kind == kindList {
			many.Read(n)
			return
		}
		var v T
		item(&v).Read(n)
		if n.Kind != KindNothing {
			*into = append(*into, v)
		}
	}, func() *Schema {
		var v T
		return &Schema{AnyOf: []*Schema{item(&v).Describe(), many.Describe()}}
	}}
}

// OrNothing is a list that may be empty, or not there.
func (v Value) OrNothing() Value {
	return v.reading(func(n *Node, read func(*Node)) {
		if n.Kind != KindNothing && (n.Kind != kindList || len(n.items) > 0) {
			read(n)
		}
	}).with(func(s *Schema) { s.Type, s.Types, s.MinItems = "", []string{"array", "null"}, nil })
}

// Either is a word, or a mapping where something is to be said with it.
func Either(word, mapping Value) Value {
	return Value{"", func(n *Node) {
		if n.Kind == KindMapping {
			mapping.Read(n)
		} else {
			word.Read(n)
		}
	}, func() *Schema { return &Schema{AnyOf: []*Schema{word.Describe(), mapping.Describe()}} }}
}

// Plain is the value as JSON would have it. A key that stands there twice is a problem.
func (n *Node) Plain() any {
	switch n.Kind {
	case KindMapping:
		n.noteTwice()
		m := map[string]any{}
		for _, p := range n.Pairs {
			m[p.Key.Word()] = p.Value.Plain()
		}
		return m
	case kindList:
		return lists.Map(n.items, (*Node).Plain)
	}
	if v, ok := n.Scalar.(uint64); ok && v <= math.MaxInt64 {
		return int64(v)
	}
	return n.Scalar
}
