package hostconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
	"github.com/tidwall/jsonc"

	"github.com/leakbench/leakbench/internal/lists"
)

// maxFile is the size of the largest configuration that is read, in bytes.
const maxFile = 1 << 20

// maxValues bounds what a small file of aliases unfolds into.
const maxValues = maxFile

// Found is what a user's configuration says.
type Found struct {
	Format  Format
	Servers []Server       // those that are launched over stdio, by name
	Rest    map[string]any // the document without its servers
}

// Recognize reads a configuration. Which format it is, its keys say, and where several formats have the same ones, its path.
func Recognize(path string, src []byte) (Found, error) {
	if len(src) > maxFile {
		return Found{}, fmt.Errorf("%s is larger than %d KiB", path, maxFile>>10)
	}
	language := languageOf(path)
	document, err := language.decode(src)
	if err != nil {
		return Found{}, fmt.Errorf("%s is not %s that can be read: %w", path, strings.ToUpper(string(language)), err)
	}
	var fits []Format
	for _, f := range Formats {
		if servers, ok := dig(document, f.Keys); ok && f.Language == language && f.explains(servers) {
			fits = append(fits, f)
		}
	}
	if len(fits) == 0 {
		return Found{}, fmt.Errorf("%s has no MCP servers where any known format has them (%s)", path, strings.Join(allKeys(language), ", "))
	}
	best := slices.MaxFunc(fits, func(a, b Format) int { return a.usually(path) - b.usually(path) })
	servers, _ := dig(document, best.Keys)
	return Found{Format: best, Servers: best.servers(servers), Rest: without(document, best.Keys)}, nil
}

func languageOf(path string) Language {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".yaml", ".yml":
		return YAML
	case ".toml":
		return TOML
	}
	return JSON
}

func (l Language) decode(src []byte) (map[string]any, error) {
	document := map[string]any{}
	var err error
	switch l {
	case YAML:
		err = yaml.Unmarshal(src, &document)
		var problem yaml.Error // prints the text around it, secrets included
		switch {
		case errors.As(err, &problem) && problem.GetToken() != nil:
			err = fmt.Errorf("line %d: %s", problem.GetToken().Position.Line, problem.GetMessage())
		case err == nil && unfolded(document, maxValues) > maxValues:
			err = errors.New("its aliases unfold into too much")
		}
	case TOML:
		err = toml.Unmarshal(src, &document)
	case JSON:
		// Package hujson would name the line, but it overflows the stack on a file of brackets, and prints what it can't read, secrets included.
		err = json.Unmarshal(jsonc.ToJSON(src), &document)
	}
	if err == nil && document == nil {
		err = errors.New("it is empty")
	}
	return document, err
}

// unfolded counts values, with what an alias stands for each time anew, until there are too many.
func unfolded(v any, most int) int {
	count := 1
	switch v := v.(type) {
	case map[string]any:
		return unfolded(slices.Collect(maps.Values(v)), most)
	case []any:
		for _, inner := range v {
			if count <= most {
				count += unfolded(inner, most-count)
			}
		}
	}
	return count
}

func dig(document map[string]any, keys []string) (map[string]any, bool) {
	for _, key := range keys {
		inner, ok := document[key].(map[string]any)
		if !ok {
			return nil, false
		}
		document = inner
	}
	return document, true
}

// explains says that the entries can be of this format: those that can't be read as it are somebody else's.
func (f Format) explains(servers map[string]any) bool {
	for _, v := range servers {
		if e, ok := v.(map[string]any); ok && f.fits(e) {
			return true
		}
	}
	return len(servers) == 0
}

// fits says that an entry has what the format has beside the command line.
func (f Format) fits(e map[string]any) bool {
	if len(f.entry.argv(e)) == 0 {
		return false
	}
	switch f.Name { // two that have the same keys
	case "litellm":
		return e["transport"] == "stdio"
	case "hermes":
		return e["transport"] == nil
	}
	return true
}

// usually is how much of the path one of the usual places explains, in bytes.
func (f Format) usually(path string) (most int) {
	path = filepath.ToSlash(path)
	for _, usual := range f.Usual {
		usual = strings.TrimPrefix(usual, "~/")
		if path == usual || strings.HasSuffix(path, "/"+usual) {
			most = max(most, len(usual))
		}
	}
	return most
}

func (f Format) servers(entries map[string]any) []Server {
	var all []Server
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e, _ := entries[name].(map[string]any)
		if argv := f.entry.argv(e); len(argv) > 0 {
			all = append(all, Server{Name: name, Command: argv[0], Args: argv[1:]})
		}
	}
	return all
}

// without is the document less its servers.
func without(document map[string]any, keys []string) map[string]any {
	out := maps.Clone(document)
	inner, nested := out[keys[0]].(map[string]any)
	if len(keys) == 1 || !nested {
		delete(out, keys[0])
		return out
	}
	out[keys[0]] = without(inner, keys[1:])
	return out
}

func allKeys(language Language) []string {
	var all []string
	for _, f := range Formats {
		if key := strings.Join(f.Keys, "."); f.Language == language && !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	return all
}

// words are the texts of a list.
func words(v any) []string {
	list, _ := v.([]any)
	return lists.Map(list, func(item any) string { return fmt.Sprint(item) })
}
