package hostinit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/lists"
	"github.com/leakbench/leakbench/internal/record"
	"github.com/leakbench/leakbench/internal/subject/hostconfig"
	"github.com/leakbench/leakbench/internal/subject/hostfile"
	"github.com/leakbench/leakbench/internal/text"
)

// File is the host file, which can be read back.
func (a Answers) File(name string) ([]byte, error) {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# yaml-language-server: $schema=%s", hostfile.SchemaURL)
	line("# A host for leakbench; docs/use/host-file.md has every key.")
	line("name: %s", a.Name)
	line("about: %s", hostconfig.Literal(a.about()))
	words := lists.Map(a.Command, func(w string) string { return hostconfig.Literal(w) })
	line("command: [%s]", strings.Join(words, ", "))
	if a.Format != "" {
		a.config(line)
	}
	if a.Drive == "http" {
		line("drive:\n  http: {url: %s, servers: %s}", hostconfig.Literal(a.URL), a.Servers)
	} else {
		line("drive: %s", a.Drive)
	}
	if a.AtATime > 1 {
		line("launches: %d # processes of one server that it runs at a time, when all is well", a.AtATime)
	}
	line("\n# How long it may take, at the most, to end one server and to end itself. Only a run that is not clean waits that long.")
	line("settle: 15s\nstop: {within: 15s}")
	line("# How long it may take to come up.\nstart: 15s")
	src := []byte(b.String())
	if _, err := hostfile.Parse(name, src); err != nil {
		return nil, err
	}
	return src, nil
}

// Scenarios are those to play first with such a host.
func (a Answers) Scenarios() []string {
	switch {
	case a.Drive == "oneshot":
		return []string{"checks", "check-faults", "check-cut"}
	case a.Drive == "nothing":
		return []string{"storm", "shutdown"}
	case a.Servers == string(record.PerSession):
		return []string{"vanish", "shutdown"}
	case a.Servers == string(record.PerRequest):
		return []string{"per-request", "shutdown"}
	}
	return []string{"storm", "shutdown"}
}

func (a Answers) about() string {
	about := map[string]string{
		"driver": "speaks the driver protocol", "http": "serves MCP over HTTP", "oneshot": "does one thing and ends",
		"nothing": "runs until it is stopped",
	}[a.Drive]
	return a.Name + ", " + about
}

// config describes the file. Of the user's own only the names of its other keys are taken over: what they hold may be secret.
func (a Answers) config(line func(string, ...any)) {
	line("config:\n  format: %s", a.Format)
	if a.From != nil {
		line("  # The shape of %s.", text.Printable(a.From.Path))
		if keys := slices.Sorted(maps.Keys(a.From.Rest)); len(keys) > 0 {
			line("  # It says more (%s): write what the host needs of that here.", text.Printable(strings.Join(keys, ", ")))
			line("  # merge: {key: value}")
		}
	}
	if !mentions(a.Command, "{{config}}") {
		line("  # The command does not name the file: say here where the host looks for it. It must be below {{run}}, a folder")
		line("  # for this run alone; env can send the host there.")
		line("  # path: \"{{run}}/...\"")
		line("# env: {HOME: \"{{run}}\"}")
	}
}
