package scenarios

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/leakbench/leakbench/internal/text"
	"github.com/leakbench/leakbench/internal/yamlfile"
)

//go:embed *.yaml
var files embed.FS

// names are the built-in scenarios in the order in which somebody new to them
// would run them.
var names = []string{
	"storm", "cron", "reload", "hang", "stuck", "crash", "shutdown", "deaf", "grow", "wrapper", "helpers",
	"cancel", "deadline", "probe", "per-request", "subagents", "race", "reload-connect", "forget", "nofile",
	"stderr", "stdout", "full-pipe", "spin", "container", "lock", "watchdog", "siblings", "zombies",
	"restart", "replace", "recycled", "pid-1", "subreaper",
	"vanish", "checks",
}

// Names lists the built-in scenarios.
func Names() []string { return slices.Clone(names) }

// Builtin returns the built-in scenario of that name, or an error that names
// the one that was probably meant.
func Builtin(name string) (*Scenario, error) {
	if !slices.Contains(names, name) {
		if hint := text.DidYouMean(name, names); hint != "" {
			return nil, fmt.Errorf("no scenario %q; %s", yamlfile.Clip(name), hint)
		}
		return nil, fmt.Errorf("no scenario %q; there are %s", yamlfile.Clip(name), strings.Join(names, ", "))
	}
	src, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, err
	}
	return Parse(name+".yaml", src)
}

// forCommands are the built-in scenarios that can be played to a verdict with a
// host that is a command: it is started, its servers are broken, and it is
// ended. All others ask a host for something, which takes a driver; but for
// subreaper, which is crash in a place that not every machine can make.
var forCommands = []string{"storm", "crash", "shutdown", "watchdog"}

// ForCommands lists the built-in scenarios for a host that can't be asked for
// anything.
func ForCommands() []string { return slices.Clone(forCommands) }
