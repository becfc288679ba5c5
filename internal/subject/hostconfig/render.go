package hostconfig

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

// Params are what a file is made of.
type Params struct {
	Servers []Server
	Merge   map[string]any // other keys of the document, deep; what stands here wins
	Entry   map[string]any // other keys of each server's entry, likewise
}

// Render is the file.
func (f Format) Render(p Params) ([]byte, error) {
	servers := map[string]any{}
	for _, s := range p.Servers {
		servers[s.Name] = merged(f.entry.of(s), p.Entry)
	}
	var document any = servers
	for i := len(f.Keys) - 1; i >= 0; i-- {
		document = map[string]any{f.Keys[i]: document}
	}
	return f.Language.encode(merged(document.(map[string]any), p.Merge))
}

// merged is a with b's keys; where both have a mapping, that of both.
func merged(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	for k, v := range b {
		old, both := out[k].(map[string]any)
		if more, ok := v.(map[string]any); ok && both {
			v = merged(old, more)
		}
		out[k] = v
	}
	return out
}

func (l Language) encode(v map[string]any) ([]byte, error) {
	switch l {
	case YAML:
		// Every text in double quotes: which need none differs between readers.
		return yaml.MarshalWithOptions(v, yaml.CustomMarshaler(func(s string) ([]byte, error) { return json.Marshal(s) }))
	case TOML:
		return toml.Marshal(v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return b.Bytes(), err
}

// Literal is a text, or a list of texts, as each of the languages reads it: JSON's are YAML's and TOML's, too.
func Literal(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // texts
	return strings.TrimSpace(b.String())
}
