package hostconfig

import (
	"slices"
)

// Server is an MCP server as a configuration names it.
type Server struct {
	Name    string
	Command string
	Args    []string
}

// argv is the whole command line.
func (s Server) argv() []string { return append([]string{s.Command}, s.Args...) }

// args are never nil: a format may insist on a list.
func (s Server) args() []string { return append([]string{}, s.Args...) }

// Language is what a file is written in.
type Language string

// The languages. JSON is read with comments and trailing commas, as editors
// allow them in theirs.
const (
	JSON Language = "json"
	YAML Language = "yaml"
	TOML Language = "toml"
)

// Format is the shape of a host's configuration file.
type Format struct {
	Name     string
	Of       string // the host, or the hosts, in words
	Language Language
	File     string   // the file's usual name
	Usual    []string // where it usually is, ~ for the home folder; without it: below the working directory
	Keys     []string // the way to the mapping of servers
	entry    func(Server) map[string]any
	argv     func(entry map[string]any) []string
}

// plain is an entry of most formats.
func plain(s Server) map[string]any {
	return map[string]any{"command": s.Command, "args": s.args()}
}

// with is plain with more keys.
func with(more map[string]any) func(Server) map[string]any {
	return func(s Server) map[string]any {
		e := plain(s)
		for k, v := range more {
			e[k] = v
		}
		return e
	}
}

func mcpServers(name, of, file string, usual ...string) Format {
	return Format{Name: name, Of: of, Language: JSON, File: file, Usual: usual, Keys: []string{"mcpServers"}, entry: plain, argv: plainArgv}
}

// formats are those that are known, in the order in which a file that could be
// of several is taken for the first.
var formats = []Format{
	mcpServers("mcp-json", "Claude Code, FastMCP and most others", ".mcp.json", ".mcp.json", "mcp.json"),
	mcpServers("claude-desktop", "Claude Desktop", "claude_desktop_config.json",
		"~/.config/Claude/claude_desktop_config.json", "~/Library/Application Support/Claude/claude_desktop_config.json"),
	mcpServers("cursor", "Cursor", "mcp.json", ".cursor/mcp.json", "~/.cursor/mcp.json"),
	mcpServers("gemini", "Gemini CLI", "settings.json", ".gemini/settings.json", "~/.gemini/settings.json"),
	{
		Name: "vscode", Of: "VS Code", Language: JSON, File: "mcp.json", Usual: []string{".vscode/mcp.json"}, Keys: []string{"servers"},
		entry: with(map[string]any{"type": "stdio"}), argv: plainArgv,
	},
	{
		Name: "codex", Of: "Codex CLI", Language: TOML, File: "config.toml", Usual: []string{".codex/config.toml", "~/.codex/config.toml"},
		Keys: []string{"mcp_servers"}, entry: plain, argv: plainArgv,
	},
	{
		Name: "hermes", Of: "Hermes agent", Language: YAML, File: "config.yaml", Usual: []string{"~/.hermes/config.yaml"},
		Keys: []string{"mcp_servers"}, entry: with(map[string]any{"enabled": true}), argv: plainArgv,
	},
	{
		Name: "goose", Of: "Goose", Language: YAML, File: "config.yaml", Usual: []string{"~/.config/goose/config.yaml"},
		Keys: []string{"extensions"}, entry: gooseEntry, argv: gooseArgv,
	},
	{
		Name: "opencode", Of: "opencode", Language: JSON, File: "opencode.json", Usual: []string{"opencode.json", "~/.config/opencode/opencode.json"},
		Keys: []string{"mcp"}, entry: opencodeEntry, argv: opencodeArgv,
	},
	{
		Name: "litellm", Of: "LiteLLM proxy", Language: YAML, File: "litellm.yaml", Usual: []string{"litellm.yaml", "litellm_config.yaml"},
		Keys: []string{"mcp_servers"}, entry: with(map[string]any{"transport": "stdio"}), argv: plainArgv,
	},
	{
		Name: "zed", Of: "Zed", Language: JSON, File: "settings.json", Usual: []string{".zed/settings.json", "~/.config/zed/settings.json"},
		Keys: []string{"context_servers"}, entry: with(map[string]any{"source": "custom"}), argv: plainArgv,
	},
}

func gooseEntry(s Server) map[string]any {
	return map[string]any{
		"enabled": true, "type": "stdio", "name": s.Name, "cmd": s.Command, "args": s.args(), "envs": map[string]any{}, "timeout": 60,
	}
}

// opencodeEntry has the whole command line in one list.
func opencodeEntry(s Server) map[string]any {
	return map[string]any{"type": "local", "command": s.argv(), "enabled": true}
}

// Formats are all formats.
func Formats() []Format { return slices.Clone(formats) }

// Names are their names.
func Names() []string {
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return names
}

// Named is the format of that name.
func Named(name string) (Format, bool) {
	i := slices.IndexFunc(formats, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return formats[i], true
}
