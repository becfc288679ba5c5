package server

import (
	"slices"
	"strings"
)

// Check is one thing that is tried with a server.
type Check struct {
	Name  string   // "eof"
	Title string   // one line
	Laws  []string // without evidence on each of them a run of the check is inconclusive
}

// The checks by name, for who plays them.
const (
	eofCall  = "eof-call"
	eofStart = "eof-start"
	SIGTERM  = "sigterm"
	epipe    = "epipe"
	Shell    = "shell"
	Idle     = "idle"
)

// The second one needs no answer, and may take longest where there is none: it is played beside the first.
var all = []Check{
	{"eof", "stdin is closed while the server is idle", []string{"S1", "S2", "S5", "S6"}},
	{eofStart, "stdin is closed before initialize", []string{"S2", "S5"}},
	{eofCall, "stdin is closed while a request is unanswered", []string{"S1", "S2", "S5"}},
	{SIGTERM, "SIGTERM, with stdin open", []string{"S1", "S3", "S5", "S6"}},
	{epipe, "the read end of stdout is closed, with stdin open", []string{"S1", "S4", "S5"}},
	{Shell, "behind sh -c: the shell gets SIGTERM, then stdin is closed", []string{"S1", "S2", "S5"}},
	{Idle, "nothing is asked for a while", []string{"S1", "S5", "S6", "S7"}},
}

// Checks are all checks, in the order in which they are played.
func Checks() []Check { return slices.Clone(all) }

// CheckNames are the names of the checks.
func CheckNames() []string {
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	return names
}

// Greets says that the check begins with initialize.
func (c Check) Greets() bool { return c.Name != eofStart }

// prefix tells the runs of a check from those of a scenario.
const prefix = "server-"

// Scenario is what a run of the check is called where scenarios are named.
func (c Check) Scenario() string { return prefix + c.Name }

// CheckScenarios are the scenarios of all checks.
func CheckScenarios() []string {
	names := CheckNames()
	for i := range names {
		names[i] = prefix + names[i]
	}
	return names
}

// CheckNamed is the check of a name, as Name or Scenario has it.
func CheckNamed(name string) (Check, bool) {
	i := slices.IndexFunc(all, func(c Check) bool { return c.Name == strings.TrimPrefix(name, prefix) })
	if i < 0 {
		return Check{}, false
	}
	return all[i], true
}
