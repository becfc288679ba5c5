package report

import "slices"

// CI is a system that runs jobs, with what a run writes there when no reporter is asked for.
type CI struct {
	Variable, Value string // how its jobs know it: the variable of the environment has this value
	Print           string // the reporter that goes to standard output, among the text; "": none
	Append          string // the reporter that is appended to a file of the job,
	To              string // whose name this variable has; "": none
}

var systems = []CI{
	{Variable: "GITHUB_ACTIONS", Value: "true", Print: "github", Append: "md", To: "GITHUB_STEP_SUMMARY"},
}

// CISystems are the systems on which a run writes something unasked.
func CISystems() []CI { return slices.Clone(systems) }
