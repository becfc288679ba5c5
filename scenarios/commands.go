package scenarios

import "slices"

// forCommands are the built-in scenarios that can be played to a verdict with a
// host that is a command: it is started, its servers are broken, and it is
// ended. All others ask a host for something, which takes a driver; but for
// subreaper, which is crash in a place that not every machine can make.
var forCommands = []string{"storm", "crash", "shutdown", "watchdog"}

// ForCommands lists the built-in scenarios for a host that can't be asked for
// anything.
func ForCommands() []string { return slices.Clone(forCommands) }
