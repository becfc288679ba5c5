package yamlfile

import (
	"regexp"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
)

// marks are keys that tell the kind of a file: of ours, and of others that lie beside them.
var marks = []struct {
	kind string
	keys []string
}{
	{"scenario", []string{"steps", "servers"}},
	{"host file", []string{"command", "drive"}},
	{"list of known findings", []string{"known"}},
	{"leakbench.yaml", []string{"host", "reporters"}},
	{"configuration of MCP servers (leakbench init --from takes one)", []string{"mcpServers", "mcp_servers"}},
	{"Docker Compose file", []string{"services"}},
	{"GitHub workflow", []string{"jobs"}},
	{"JSON report of leakbench", []string{"outcome"}},
	{"GitHub Action", []string{"runs"}},
	{"Kubernetes manifest", []string{"apiVersion"}},
	{"Dependabot configuration", []string{"updates"}},
	{"OpenAPI description", []string{"openapi", "swagger"}},
	{"pre-commit configuration", []string{"repos"}},
	{"GoReleaser configuration", []string{"builds", "goreleaser"}},
	{"golangci-lint configuration", []string{"linters"}},
	{"package.json of Node", []string{"devDependencies", "dependencies", "scripts"}},
	{"GitLab pipeline", []string{"stages"}},
	{"saved run (leakbench judge reads one)", []string{"witness"}},
	{"JSON Schema", []string{"$schema"}},
}

// topKey is a key at the left edge of a text, which may be no YAML otherwise.
var topKey = regexp.MustCompile(`(?m)^["']?([A-Za-z_$][\w$-]*)["']?\s*:`)

func topKeys(src []byte) (keys []string) {
	for _, match := range topKey.FindAllSubmatch(src, -1) {
		keys = append(keys, string(match[1]))
	}
	return keys
}

// seems says of which other kind a file with these keys seems to be, or "". A file with a key of its own kind is one
// of it, and one that has none of any kind may be one that has just been begun.
func seems(keys []string, of KindOfFile) (kind, key string) {
	among := func(marks []string) int {
		return slices.IndexFunc(keys, func(k string) bool { return slices.Contains(marks, k) })
	}
	if of.Marks == nil || among(of.Marks) >= 0 {
		return "", ""
	}
	for _, m := range marks {
		if at := among(m.keys); at >= 0 {
			return m.kind, keys[at]
		}
	}
	return "", ""
}

// strange notes the one problem of a whole file that is of no known kind: most of its keys are none of these names, and
// none of them is a mark. One that has nothing but names has just been begun.
func (n *Node) strange(names []string) bool {
	if n.of == nil {
		return false
	}
	known := 0
	for _, key := range n.keys() {
		if slices.Contains(n.of.Marks, key) {
			return false
		}
		if slices.Contains(names, key) || text.Nearest(key, names) != "" {
			known++
		}
	}
	if n.of.Marks == nil || len(n.Pairs) <= 2*known {
		return false
	}
	n.Pairs[0].Key.Problem("this is not a %s: it has no %s; %s has the format", n.of.Noun, strings.Join(n.of.Marks, " and no "), n.of.Doc)
	return true
}

// ofAnother notes the one problem of a file of another kind: all others follow from it.
func (c *Collector) ofAnother(keys []string, of KindOfFile) bool {
	kind, key := seems(keys, of)
	if kind == "" {
		return false
	}
	line := slices.IndexFunc(c.lines, func(l string) bool { return strings.Contains(l, key) }) + 1
	c.Add(line, strings.Index(c.line(line), key)+1, "this seems to be a %s, not a %s, as it has %q; %s has the format",
		kind, of.Noun, key, of.Doc)
	return true
}
