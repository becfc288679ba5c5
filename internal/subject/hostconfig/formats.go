// Package hostconfig holds the ways to name MCP servers to a host: the shapes of
// configuration files, written for the bench's servers and read from a user's.
package hostconfig

import (
	"maps"
	"path"
	"slices"

	"github.com/leakbench/leakbench/driver"
	"github.com/leakbench/leakbench/internal/lists"
)

// Server is an MCP server as a configuration names it.
type Server = driver.Server

// Language is what a file is written in.
type Language string

// The languages. JSON is read with comments and trailing commas, as editors allow them in theirs.
const (
	JSON Language = "json"
	YAML Language = "yaml"
	TOML Language = "toml"
)

// Format is the shape of a host's configuration file.
type Format struct {
	Name     string
	Language Language
	Usual    []string // where it usually is, ~ for the home folder; without it: below the working directory
	Keys     []string // the way to the mapping of servers
	entry    entry
}

// entry is the shape of a server's entry.
type entry struct {
	command string         // the key of the command; "": "command"
	whole   bool           // the whole command line stands there, and not in "args"
	more    map[string]any // the other keys; "name" among them is the server's
}

// of is a server's entry. Its args are never nil: a format may insist on a list.
func (e entry) of(s Server) map[string]any {
	out := map[string]any{}
	maps.Copy(out, e.more)
	if _, named := out["name"]; named {
		out["name"] = s.Name
	}
	if e.whole {
		out[e.key()] = append([]string{s.Command}, s.Args...)
	} else {
		out[e.key()], out["args"] = s.Command, append([]string{}, s.Args...)
	}
	return out
}

// argv is the command line that an entry holds, or nil.
func (e entry) argv(of map[string]any) []string {
	if e.whole {
		return words(of[e.key()])
	}
	if command, _ := of[e.key()].(string); command != "" {
		return append([]string{command}, words(of["args"])...)
	}
	return nil
}

func (e entry) key() string {
	if e.command == "" {
		return "command"
	}
	return e.command
}

// Formats are those that are known, in the order in which a file that could be of several is taken for the first.
var Formats = []Format{
	// Claude Code, FastMCP and most others.
	{Name: "mcp-json", Language: JSON, Usual: []string{".mcp.json", "mcp.json"}, Keys: []string{"mcpServers"}},
	{
		Name: "claude-desktop", Language: JSON, Keys: []string{"mcpServers"},
		Usual: []string{"~/.config/Claude/claude_desktop_config.json", "~/Library/Application Support/Claude/claude_desktop_config.json"},
	},
	{Name: "cursor", Language: JSON, Usual: []string{".cursor/mcp.json", "~/.cursor/mcp.json"}, Keys: []string{"mcpServers"}},
	{Name: "gemini", Language: JSON, Usual: []string{".gemini/settings.json", "~/.gemini/settings.json"}, Keys: []string{"mcpServers"}},
	{
		Name: "vscode", Language: JSON, Usual: []string{".vscode/mcp.json"}, Keys: []string{"servers"},
		entry: entry{more: map[string]any{"type": "stdio"}},
	},
	{Name: "codex", Language: TOML, Usual: []string{".codex/config.toml", "~/.codex/config.toml"}, Keys: []string{"mcp_servers"}},
	{
		Name: "hermes", Language: YAML, Usual: []string{"~/.hermes/config.yaml"}, Keys: []string{"mcp_servers"},
		entry: entry{more: map[string]any{"enabled": true}},
	},
	{
		Name: "goose", Language: YAML, Usual: []string{"~/.config/goose/config.yaml"}, Keys: []string{"extensions"},
		entry: entry{command: "cmd", more: map[string]any{"name": "", "enabled": true, "type": "stdio", "envs": map[string]any{}, "timeout": 60}},
	},
	{
		Name: "opencode", Language: JSON, Usual: []string{"opencode.json", "~/.config/opencode/opencode.json"}, Keys: []string{"mcp"},
		entry: entry{whole: true, more: map[string]any{"type": "local", "enabled": true}},
	},
	{ // the proxy
		Name: "litellm", Language: YAML, Usual: []string{"litellm.yaml", "litellm_config.yaml"}, Keys: []string{"mcp_servers"},
		entry: entry{more: map[string]any{"transport": "stdio"}},
	},
	{
		Name: "zed", Language: JSON, Usual: []string{".zed/settings.json", "~/.config/zed/settings.json"}, Keys: []string{"context_servers"},
		entry: entry{more: map[string]any{"source": "custom"}},
	},
}

// File is the file's usual name.
func (f Format) File() string { return path.Base(f.Usual[0]) }

// Names are their names.
func Names() []string { return lists.Map(Formats, func(f Format) string { return f.Name }) }

// Named is the format of that name.
func Named(name string) (Format, bool) {
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}
